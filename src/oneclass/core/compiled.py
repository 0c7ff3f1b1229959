"""Code that numba compiles, where it is installed: values of the Laplacian kernel at a third of SciPy's time.

A job uses it by its size alone: `expecting` says how many values the calls inside it make together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, partial
from importlib import import_module
from math import factorial, log
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["exp_city_block", "expecting", "load"]

P = ParamSpec("P")
R = TypeVar("R")
Matrix = NDArray[np.float64]
Fill = Callable[[Matrix, Matrix, float, Matrix], None]

#: Kernel values of a job that is worth compiled code. To import numba takes up to a second: as long as so many values
#: and the arithmetic that follows them. Small fits, and rows that come one by one, never wait for it.
MANY = 2**24

#: Columns of a block of values: as many as stay in the first cache beside the rows they are made of.
_COLUMNS = 512
#: Below this an exponent gives zero: its power of two, 2⁻¹⁰²³, has no bits but zeros.
_LEAST = -709.0
#: To add it rounds to a whole number, which the lowest bits of the sum hold.
_ROUNDING = 1.5 * 2.0**52
#: log 2 as a sum of which whole multiples of the first part are exact.
_LOG2_HIGH, _LOG2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
_PER_LOG2 = 1 / log(2)
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (1 / factorial(i) for i in range(3, 14))

_expected: ContextVar[bool] = ContextVar("expected", default=False)
_loading = Lock()
#: Whether this process was forked while another thread of its parent was loading.
_cut_off = False


def expecting(values: int, step: Callable[P, R]) -> Callable[P, R]:
    """The step of a job that makes so many kernel values; as a part of a job that makes many, it is one too."""
    return partial(_expected_to, step) if values >= MANY or _expected.get() else step


def _expected_to(step: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    before = _expected.set(True)
    try:
        return step(*args, **kwargs)
    finally:
        _expected.reset(before)


def exp_city_block(X: Matrix, Y: Matrix, scale: float) -> Matrix | None:
    """``exp(scale ‖x - y‖₁)`` of host rows in double precision; None if they are few, or there is no numba."""
    if X.shape[0] * Y.shape[0] < MANY and not _expected.get():
        return None
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:  # compiled code would read beyond the shorter rows
        raise ValueError(f"the rows must have as many columns as each other, got shapes {X.shape} and {Y.shape}")
    fill = load()
    if fill is None:
        return None
    out = np.empty((X.shape[0], Y.shape[0]))
    fill(np.require(X, requirements=["C", "A"]), np.require(Y.T, requirements=["C", "A"]), scale, out)
    return out


def load() -> Fill | None:
    """The compiled function, or None where numba is missing, does not suit the other packages, or is told not to.

    None, too, in a process that was forked while another thread was in here: the locks of Python's imports and of
    numba, which that thread held, stay locked in the child for ever.
    """
    if _cut_off:
        return None
    with _loading:  # of two threads that need it first, one compiles
        return _compiled()


def _after_fork() -> None:
    global _cut_off
    _cut_off = _cut_off or _loading.locked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@cache
def _compiled() -> Fill | None:
    try:
        numba: Any = import_module("numba")
    except Exception:  # a numba that does not suit this NumPy or Python raises errors of many kinds
        return None
    if numba.config.DISABLE_JIT:
        return None
    rows = numba.types.Array(numba.float64, 2, "C", readonly=True)  # takes those that may be written, too
    signature = numba.void(rows, rows, numba.float64, numba.float64[:, ::1])
    # Contraction is the only liberty: the others take infinity and NaN for granted not to be there.
    compile_it = partial(numba.njit, signature, nogil=True, error_model="numpy", fastmath={"contract"})
    fill: Fill
    try:
        fill = compile_it(cache=True)(_fill)
    except (RuntimeError, OSError):  # no folder to keep the code in
        fill = compile_it()(_fill)
    return fill


def _fill(X: Matrix, YT: Matrix, scale: float, out: Matrix) -> None:
    """Rows `X` and, transposed, `YT`: one pass adds four columns up; exponents never leave the cache.

    ``exp(e)`` is ``2^k exp(r)`` with a whole k and an r of at most log(2) / 2, where Taylor's polynomial leaves 10⁻¹⁷.
    """
    n, d = X.shape
    m = YT.shape[1]
    powers = np.empty(_COLUMNS)
    words = powers.view(np.int64)
    for first in range(0, m, _COLUMNS):
        width = min(_COLUMNS, m - first)
        last = first + width
        for i in range(n):
            o = out[i, first:last]
            for j in range(width):
                o[j] = 0.0
            for k in range(0, d - 3, 4):
                x0, x1, x2, x3 = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
                y0, y1 = YT[k, first:last], YT[k + 1, first:last]
                y2, y3 = YT[k + 2, first:last], YT[k + 3, first:last]
                for j in range(width):
                    o[j] += (abs(x0 - y0[j]) + abs(x1 - y1[j])) + (abs(x2 - y2[j]) + abs(x3 - y3[j]))
            for k in range(d - d % 4, d):
                x0, y0 = X[i, k], YT[k, first:last]
                for j in range(width):
                    o[j] += abs(x0 - y0[j])
            for j in range(width):
                e = o[j] * scale
                e = _LEAST if e < _LEAST else e  # in this order NaN stays what it is
                o[j] = e
                powers[j] = e * _PER_LOG2 + _ROUNDING
            for j in range(width):
                whole = powers[j] - _ROUNDING
                r = (o[j] - whole * _LOG2_HIGH) - whole * _LOG2_LOW
                r2 = r * r
                r4 = r2 * r2
                low = ((1.0 + r) + r2 * (0.5 + r * _C3)) + r4 * ((_C4 + r * _C5) + r2 * (_C6 + r * _C7))
                high = (_C8 + r * _C9) + r2 * (_C10 + r * _C11) + r4 * (_C12 + r * _C13)
                o[j] = low + r4 * r4 * high
                words[j] = (words[j] << 52) + (1023 << 52)
            for j in range(width):
                o[j] *= powers[j]

"""Laplacian kernel values by code compiled with numba, if it is installed, in a third of SciPy's time.

Only the number of kernel values decides whether compiled code is used. `expecting` announces the total number of values
that several calls compute together.
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

#: Fewest kernel values for compiled code. Importing numba takes up to a second, about as long as this many values and
#: the computations that follow. Small fits and single rows never import it.
MANY = 2**24

#: Columns of a block of values, which fits the first-level cache together with its rows.
_BLOCK_COLUMNS = 512
#: Smallest exponent: smaller ones give zero, since the power of two, 2⁻¹⁰²³, has only zero bits.
_LEAST = -709.0
#: Adding this number rounds to an integer, which is then in the lowest bits of the sum.
_ROUNDING_SHIFT = 1.5 * 2.0**52
#: log 2 as a sum of two parts; integer multiples of the first part are exact.
_LOG2_HIGH, _LOG2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
_PER_LOG2 = 1 / log(2)
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (1 / factorial(i) for i in range(3, 14))

_expected: ContextVar[bool] = ContextVar("expected", default=False)
_loading = Lock()
#: Whether this process was forked while another thread of its parent was importing numba.
_cut_off = False


def expecting(values: int, step: Callable[P, R]) -> Callable[P, R]:
    """Return `step` so that its calls use compiled code if `values`, or those of an enclosing step, are many."""
    return partial(_expected_to, step) if values >= MANY or _expected.get() else step


def _expected_to(step: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    before = _expected.set(True)
    try:
        return step(*args, **kwargs)
    finally:
        _expected.reset(before)


def exp_city_block(X: Matrix, Y: Matrix, scale: float) -> Matrix | None:
    """Return ``exp(scale ‖x - y‖₁)`` for host rows in float64; None if they are few or numba is not available."""
    if X.shape[0] * Y.shape[0] < MANY and not _expected.get():
        return None
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:  # compiled code does not check bounds
        raise ValueError(f"X and Y must have the same number of columns, got shapes {X.shape} and {Y.shape}")
    fill = load()
    if fill is None:
        return None
    out = np.empty((X.shape[0], Y.shape[0]))
    fill(np.require(X, requirements=["C", "A"]), np.require(Y.T, requirements=["C", "A"]), scale, out)
    return out


def load() -> Fill | None:
    """Return the compiled function; None if numba is missing, is disabled, or fails with the installed packages.

    Also None in a process that was forked while another thread ran this function. That thread held locks of numba and
    of Python's import system, and these stay locked in the child process.
    """
    if _cut_off:
        return None
    with _loading:  # only one thread compiles
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
    except Exception:  # a numba that does not support this NumPy or Python raises various errors
        return None
    if numba.config.DISABLE_JIT:
        return None
    rows = numba.types.Array(numba.float64, 2, "C", readonly=True)  # accepts writable arrays too
    signature = numba.void(rows, rows, numba.float64, numba.float64[:, ::1])
    # Allow contraction only: the other fast-math options assume that there is no infinity or NaN.
    compile_it = partial(numba.njit, signature, nogil=True, error_model="numpy", fastmath={"contract"})
    fill: Fill
    try:
        fill = compile_it(cache=True)(_fill)
    except (RuntimeError, OSError):  # there is no writable cache folder
        fill = compile_it()(_fill)
    return fill


def _fill(X: Matrix, YT: Matrix, scale: float, out: Matrix) -> None:
    """Write the kernel values of rows `X` and of the columns of `YT` to `out`, in blocks that fit the cache.

    One pass adds four columns of distances. ``exp(e)`` is computed as ``2^k exp(r)`` with an integer k and |r| at most
    log(2) / 2; the Taylor polynomial of ``exp(r)`` has an error of 10⁻¹⁷.
    """
    n, d = X.shape
    m = YT.shape[1]
    powers = np.empty(_BLOCK_COLUMNS)
    words = powers.view(np.int64)
    for first in range(0, m, _BLOCK_COLUMNS):
        width = min(_BLOCK_COLUMNS, m - first)
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
                e = _LEAST if e < _LEAST else e  # this comparison keeps NaN
                o[j] = e
                powers[j] = e * _PER_LOG2 + _ROUNDING_SHIFT
            for j in range(width):
                whole = powers[j] - _ROUNDING_SHIFT
                r = (o[j] - whole * _LOG2_HIGH) - whole * _LOG2_LOW
                r2 = r * r
                r4 = r2 * r2
                low = ((1.0 + r) + r2 * (0.5 + r * _C3)) + r4 * ((_C4 + r * _C5) + r2 * (_C6 + r * _C7))
                high = (_C8 + r * _C9) + r2 * (_C10 + r * _C11) + r4 * (_C12 + r * _C13)
                o[j] = low + r4 * r4 * high
                words[j] = (words[j] << 52) + (1023 << 52)
            for j in range(width):
                o[j] *= powers[j]

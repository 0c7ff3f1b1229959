"""Products of rows, and solves, beside which other threads run: SciPy's own calls of BLAS keep these waiting.

The functions are SciPy's, by the addresses that it publishes for compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CFUNCTYPE, PYFUNCTYPE, byref, c_char_p, c_double, c_float, c_int64, c_void_p, py_object, pythonapi
from functools import cache
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_squares", "solve_rows", "times_triangle"]

Real = NDArray[np.floating]

#: The letter of a type in the functions' names, and its numbers.
_KINDS: dict[str, tuple[str, type[c_float] | type[c_double]]] = {"float32": ("s", c_float), "float64": ("d", c_double)}
#: Arguments of a function after its letters, by the number of these.
_OTHERS = {2: 8, 4: 7}


def solve_rows(L: Real, rows: Real) -> None:
    """``L^-1 f`` for each of the `rows` f, in place; shorter ones take the first rows and columns of a lower `L`."""
    _apply("trsm", L, b"U", b"T", rows)


def times_triangle(rows: Real, T: Real, *, upper: bool) -> None:
    """``f' T`` for each of the `rows` f, in place, for a triangular `T`."""
    _apply("trmm", T, b"L" if upper else b"U", b"N", rows)


def add_squares(G: Real, rows: Real, scale: float) -> None:
    """``scale F'F`` more in `G` for the `rows` F, in place, on and above the diagonal."""
    if not (rows.flags.carray and G.flags.carray and G.dtype == rows.dtype and G.shape == (rows.shape[1],) * 2):
        raise ValueError("both must lie one row after the other, in one precision, and the squares fit the rows")
    if not rows.size:
        return
    letter, number = _KINDS[rows.dtype.name]
    k, n = (byref(c_int64(size)) for size in rows.shape)
    call = _function(letter + "syrk", letters=2)
    call(b"L", b"N", n, k, byref(number(scale)), rows.ctypes.data, n, byref(number(1.0)), G.ctypes.data, n)


def _apply(name: str, T: Real, half: bytes, turned: bytes, rows: Real) -> None:
    """BLAS has matrices by columns: to it `T` is its transpose, the other half of a square, and each row a column."""
    if not (rows.flags.carray and T.dtype == rows.dtype and T.ndim == 2 and min(T.shape) >= rows.shape[1]):
        raise ValueError("rows must lie one after the other, in the precision of the triangle and no longer than it")
    if not rows.size:
        return
    if not (T.strides[1] == T.itemsize <= T.shape[1] * T.itemsize <= T.strides[0] and T.flags.aligned):
        T = np.require(T, requirements=["C", "A"])
    letter, number = _KINDS[rows.dtype.name]
    # Eight bytes for whole numbers: who reads four of them finds the lower ones first.
    k, n, stride = (byref(c_int64(size)) for size in (*rows.shape, T.strides[0] // T.itemsize))
    call = _function(letter + name, letters=4)
    call(b"L", half, turned, b"N", n, k, byref(number(1.0)), T.ctypes.data, stride, rows.ctypes.data, n)


@cache
def _function(name: str, *, letters: int) -> Callable[..., None]:
    """A function of BLAS, called as ctypes calls what is not Python's: other threads may run meanwhile."""
    capsule = import_module("scipy.linalg.cython_blas").__pyx_capi__[name]
    signature = PYFUNCTYPE(c_char_p, py_object)(("PyCapsule_GetName", pythonapi))(capsule)
    address = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))(capsule, signature)
    return CFUNCTYPE(None, *[c_char_p] * letters, *[c_void_p] * _OTHERS[letters])(address)

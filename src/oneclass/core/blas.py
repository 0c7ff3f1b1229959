"""BLAS calls that release Python's global lock, so that other threads run meanwhile. SciPy's wrappers keep the lock.

The functions are those of SciPy's BLAS, at the addresses that SciPy publishes for compiled code.
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

#: For each dtype, the letter in BLAS function names and the ctypes type.
_KINDS: dict[str, tuple[str, type[c_float] | type[c_double]]] = {"float32": ("s", c_float), "float64": ("d", c_double)}
#: Number of pointer arguments of a function, by its number of letter arguments.
_POINTERS = {2: 8, 4: 7}


def solve_rows(L: Real, rows: Real) -> None:
    """Replace each row f by ``L^-1 f``, in place; for rows shorter than `L`, use its leading block."""
    _apply("trsm", L, b"U", b"T", rows)


def times_triangle(rows: Real, T: Real, *, upper: bool) -> None:
    """Replace each row f by ``f' T``, in place, for a triangular `T`."""
    _apply("trmm", T, b"L" if upper else b"U", b"N", rows)


def add_squares(G: Real, rows: Real, scale: float) -> None:
    """Add ``scale F'F`` for the `rows` F to the upper triangle of `G`, in place."""
    if not (rows.flags.carray and G.flags.carray and G.dtype == rows.dtype and G.shape == (rows.shape[1],) * 2):
        raise ValueError("G and rows must be C-contiguous and of one dtype, and G must be as wide as rows, and square")
    if not rows.size:
        return
    letter, number = _KINDS[rows.dtype.name]
    k, n = (byref(c_int64(size)) for size in rows.shape)
    call = _function(letter + "syrk", letters=2)
    call(b"L", b"N", n, k, byref(number(scale)), rows.ctypes.data, n, byref(number(1.0)), G.ctypes.data, n)


def _apply(name: str, T: Real, half: bytes, turned: bytes, rows: Real) -> None:
    """Call a triangular BLAS function. BLAS stores matrices by columns: it sees the transposes of `T` and `rows`."""
    if not (rows.flags.carray and T.dtype == rows.dtype and T.ndim == 2 and min(T.shape) >= rows.shape[1]):
        raise ValueError("rows must be C-contiguous, of the dtype of the triangle, and at most as wide as it")
    if not rows.size:
        return
    if not (T.strides[1] == T.itemsize <= T.shape[1] * T.itemsize <= T.strides[0] and T.flags.aligned):
        T = np.require(T, requirements=["C", "A"])
    letter, number = _KINDS[rows.dtype.name]
    # Pass integers as eight bytes: a BLAS with 32-bit integers reads the lower four bytes, which come first.
    k, n, stride = (byref(c_int64(size)) for size in (*rows.shape, T.strides[0] // T.itemsize))
    call = _function(letter + name, letters=4)
    call(b"L", half, turned, b"N", n, k, byref(number(1.0)), T.ctypes.data, stride, rows.ctypes.data, n)


@cache
def _function(name: str, *, letters: int) -> Callable[..., None]:
    """Return a BLAS function as a ctypes function, which releases the global lock while it runs."""
    capsule = import_module("scipy.linalg.cython_blas").__pyx_capi__[name]
    signature = PYFUNCTYPE(c_char_p, py_object)(("PyCapsule_GetName", pythonapi))(capsule)
    address = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))(capsule, signature)
    return CFUNCTYPE(None, *[c_char_p] * letters, *[c_void_p] * _POINTERS[letters])(address)

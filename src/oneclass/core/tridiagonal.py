"""A symmetric host matrix in tridiagonal form: a third of an eigendecomposition, and shifted systems in linear time."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from .arrays import Array

__all__ = ["Tridiagonal"]


class Tridiagonal:
    """``A = Q T Q'`` with orthogonal Q, kept as reflections, and T with one diagonal and the one beside it.

    Reads the lower triangle of `A`. Works in `memory`, (n + 1) x n, where it is given.
    """

    def __init__(self, A: Array, *, memory: Array | None = None) -> None:
        n = len(A)
        # LAPACK leaves reflection i in column i and applies reflections that are in column i + 1: one column to spare.
        memory = np.empty((n + 1, n), dtype=A.dtype) if memory is None else memory
        memory[0] = 0
        reduced = memory[1:].T
        reduced[...] = A
        sytrd, lwork = get_lapack_funcs(("sytrd", "sytrd_lwork"), (A,))
        _, self.diagonal, self.beside, scales, _ = sytrd(reduced, 1, int(lwork(n, 1)[0]), overwrite_a=True)
        self._reflections = memory[:-1].T
        self._scales = np.zeros(n, dtype=A.dtype)
        self._scales[1:] = scales

    def rotate(self, B: Array, *, back: bool = False) -> Array:
        """``Q'B``, or ``Q B`` to go back; overwrites a C-ordered `B`."""
        (ormqr,) = get_lapack_funcs(("ormqr",), (self._reflections,))
        work = 64 * (B.shape[1] + 65)  # LAPACK takes at most 64 reflections at a time
        # From the right on the transpose, which LAPACK takes without a copy.
        return ormqr("R", "T" if back else "N", self._reflections, self._scales, B.T, work, overwrite_c=True)[0].T

    def times(self, B: Array) -> Array:
        """``T B``."""
        product = self.diagonal[:, None] * B
        product[:-1] += self.beside[:, None] * B[1:]
        product[1:] += self.beside[:, None] * B[:-1]
        return product

    def solve(self, B: Array, *, scale: float, shift: float) -> Array:
        """``(scale T + shift I)^-1 B`` of a positive definite system."""
        (ptsv,) = get_lapack_funcs(("ptsv",), (self.diagonal, B))
        solution, info = ptsv(scale * self.diagonal + shift, scale * self.beside, B)[2:]
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} is not positive")
        return solution

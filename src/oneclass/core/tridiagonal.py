"""Tridiagonal form of a symmetric host matrix, in a third of the time of an eigendecomposition.

It solves a shifted system in linear time for each right-hand side.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from .arrays import Array

__all__ = ["Tridiagonal"]


class Tridiagonal:
    """The decomposition ``A = Q T Q'``, with an orthogonal Q stored as reflections and a tridiagonal T.

    Only the lower triangle of `A` is read. `memory`, (n + 1) x n, is used as the workspace if it is given.
    """

    def __init__(self, A: Array, *, memory: Array | None = None) -> None:
        n = len(A)
        # LAPACK stores reflection i in column i, but applies reflections from column i + 1: one more column is needed.
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
        """Return ``Q'B`` or, with `back`, ``Q B``; overwrites a C-ordered `B`."""
        (ormqr,) = get_lapack_funcs(("ormqr",), (self._reflections,))
        work = 64 * (B.shape[1] + 65)  # LAPACK applies at most 64 reflections at a time
        # Applied from the right to the transpose, which LAPACK accepts without a copy.
        return ormqr("R", "T" if back else "N", self._reflections, self._scales, B.T, work, overwrite_c=True)[0].T

    def times(self, B: Array) -> Array:
        """Return ``T B``."""
        product = self.diagonal[:, None] * B
        product[:-1] += self.beside[:, None] * B[1:]
        product[1:] += self.beside[:, None] * B[:-1]
        return product

    def solve(self, B: Array, *, scale: float, shift: float) -> Array:
        """Return ``(scale T + shift I)^-1 B`` for a positive definite matrix."""
        (ptsv,) = get_lapack_funcs(("ptsv",), (self.diagonal, B))
        solution, info = ptsv(scale * self.diagonal + shift, scale * self.beside, B)[2:]
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} is not positive")
        return solution

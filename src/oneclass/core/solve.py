r"""The one linear system of the family: factor once, then weights, residuals and leave-one-out in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .arrays import (
    Array,
    blocks,
    cho_solve,
    cholesky,
    device,
    diagonal_of_inverse,
    namespace,
    solve_lower,
)
from .embedding import Shrink
from .kernels import Kernel

__all__ = ["DualSolution", "SingularSystemError", "solve_dual", "system"]


class SingularSystemError(np.linalg.LinAlgError):
    """The kernel system has no stable solution."""


@dataclass(frozen=True)
class DualSolution:
    """Weights and residuals of the training rows; `spare` is 1 - leverage, or None when not asked for."""

    weights: Array
    residuals: Array
    spare: Array | None

    def held_out_residuals(self) -> Array:
        """Residual of each row under the model fitted with one unit of its weight removed."""
        if self.spare is None:
            raise ValueError("solve_dual was called without leave_one_out=True")
        return self.residuals / self.spare[:, None]


def system(kernel: Kernel, Z: Array, shrink: Shrink, *, ridge: float) -> Array:
    """Lower triangle of ``K + ridge S``, in blocks of rows; the strict upper triangle is unspecified."""
    n = Z.shape[0]
    G = namespace(Z).zeros((n, n), dtype=Z.dtype, device=device(Z))
    for a, b in blocks(n, n, Z):
        G[a:b, :b] = kernel(Z[a:b, :], Z[:b, :]) + ridge * shrink.block(a, b)
    return G


def factor(build: Callable[[], Array]) -> Array:
    """Cholesky factor of the matrix that `build` makes, lifted by a hair of jitter if rounding made it indefinite."""
    for lift in (0.0, 10.0, 1e3):
        G = build()
        xp = namespace(G)
        diagonal = xp.linalg.diagonal(G)
        if not bool(xp.all(xp.isfinite(diagonal))):
            break
        if lift:
            jitter = lift * xp.finfo(G.dtype).eps * xp.sum(xp.abs(diagonal))
            for a, b in blocks(G.shape[0], 1024, G):
                G[a:b, a:b] += jitter * xp.eye(b - a, dtype=G.dtype, device=device(G))
        try:
            return cholesky(G)
        except np.linalg.LinAlgError:
            continue
    raise SingularSystemError(
        "the kernel system K + (lam/C) S is not positive definite. Likely causes: a kernel that is not positive "
        "semi-definite or returns NaN, C / lam so large that nothing is left of the ridge, or values near overflow "
        "(scale=True helps)"
    )


def solve_dual(
    build: Callable[[], Array], T: Array, w: Array, shrink: Shrink, *, ridge: float, leave_one_out: bool
) -> DualSolution:
    r"""Weights :math:`A = (K + MK/C + \lambda I/C)^{-1} T` (paper, model_betaK), with ``ridge = lam / C``.

    Multiplying by :math:`S = (W + M/C)^{-1}` gives the same ``A`` from the symmetric positive definite system
    :math:`(K + (\lambda/C) S) A = S W T`, which `build` evaluates. Residuals and leverages follow without K:
    :math:`T - KA = T - SWT + (\lambda/C) S A` and :math:`1 - h_i = 1 - S_{ii} + (\lambda/C) [S G^{-1} S]_{ii}`.
    """
    xp = namespace(T)
    L = factor(build)
    SWT = shrink @ (w[:, None] * T)
    A = cho_solve(L, SWT)
    residuals = (T - SWT) + ridge * (shrink @ A)
    if not leave_one_out:
        return DualSolution(A, residuals, None)
    # A row of weight below one leaves with all of its weight, never with more than it has.
    unit = xp.clip(w, max=1.0)
    spare = 1 - unit * shrink.diagonal() + unit * ridge * _sandwich_diagonal(shrink, L)
    return DualSolution(A, residuals, xp.clip(spare, min=xp.finfo(spare.dtype).eps))


def _sandwich_diagonal(shrink: Shrink, L: Array) -> Array:
    """Diagonal of ``S G^-1 S`` with ``G = L L'``; consumes `L`."""
    xp = namespace(L)
    if shrink.full is not None:
        half = solve_lower(L, shrink.full)
        return xp.sum(half * half, axis=0)
    VZ = shrink.V @ shrink.Z
    P = cho_solve(L, shrink.V) if VZ.shape[1] else VZ
    inner = shrink.V.T @ P
    low_rank = xp.sum((2 * shrink.d[:, None] * P + VZ @ inner) * VZ, axis=1)
    return shrink.d**2 * diagonal_of_inverse(L) + low_rank

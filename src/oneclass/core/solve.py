r"""The one linear system of the family: factor once, then weights, residuals and leave-one-out in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated

import numpy as np

from .arrays import Array, add_to_diagonal, blocks, clipped, device, namespace, triangle
from .cholesky import (
    cho_solve,
    cholesky,
    diagonal_of_inverse,
    explained,
    factor,
    inverse_of_factored,
    solve_lower,
)
from .compiled import expecting
from .embedding import Embedding, Structured, WithinVariance
from .groups import Groups
from .kernels import Kernel, Settled
from .leaving import Embedded, leave, leave_one_by_one, taken
from .stored import Floats, Positive

__all__ = [
    "DualModel",
    "TrainingRows",
    "residual_operator",
    "solve_dual",
    "system",
]


@dataclass(frozen=True)
class TrainingRows:
    """Targets, residuals and weights of the training rows; `spare` is 1 - leverage, or None when not asked for."""

    T: Array
    residuals: Array
    spare: Array | None
    w: Array
    outside: Array | float = 0.0  # C times the variance that no weight of the model can reach
    left: tuple[Array, Array] | None = None  # residuals and leverages of rows that left, where more than errors leave

    def held_out_residuals(self) -> Array:
        """Residual of each row under the model fitted with one unit of its weight removed, or without its group."""
        return self.residuals / self._spare()[:, None] if self.left is None else self.left[0]

    def at(self, places: Array) -> TrainingRows:
        """The rows at these places, as no one left yet."""
        xp = namespace(self.T)
        T, residuals, w, spare = (xp.take(of, places, axis=0) for of in (self.T, self.residuals, self.w, self._spare()))
        outside = self.outside if isinstance(self.outside, float) else xp.take(self.outside, places)
        return TrainingRows(T, residuals, spare, w, outside)

    def leverages(self) -> Array:
        """Pull of one unit of each row's weight on its own output."""
        return (1 - self._spare()) / self._unit()

    def uncertainty(self) -> Array:
        """C times the variance v of each row's output: its leverage and what lies outside the model."""
        return self.leverages() + self.outside

    def held_out_uncertainty(self) -> Array:
        """The same under the model fitted with one unit of the row's weight removed, or without its group."""
        return (self.leverages() / self._spare() if self.left is None else self.left[1]) + self.outside

    def signal(self, *, C: float) -> float:
        """Maximum-likelihood variance of the targets, tau², in the Gaussian-process view."""
        xp = namespace(self.T)
        total = float(xp.sum(self.w @ (self.T * self.residuals)))
        return float(C * total / (float(xp.sum(self.w)) * self.T.shape[1]))

    def _unit(self) -> Array:
        # A row of weight below one leaves with all of its weight, never with more than it has.
        return namespace(self.w).clip(self.w, max=1.0)

    def _spare(self) -> Array:
        if self.spare is None:
            raise ValueError("the rows were solved without leave_one_out=True")
        return self.spare


@dataclass(frozen=True)
class DualModel:
    """Outputs and uncertainty of any row from its kernel values with the training rows."""

    kernel: Annotated[Kernel, Settled()]
    rows: Annotated[Array, Floats("n _c?")]
    weights: Annotated[Array, Floats("n t")]
    ridge: Positive
    #: Cholesky factor of the system, which only uncertainty needs; or else what it is made of:
    L: Annotated[Array, Floats("n n")] | None = None
    shrink: Structured | None = None  # S

    def __getstate__(self) -> dict[str, object]:
        # Without the n x n factor, which is worked out again: the model is as large as its rows.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def factored(self) -> Array | None:
        """Cholesky factor of the system ``K + ridge S``."""
        shrink = self.shrink
        return self.L if shrink is None else factor(lambda: system(self.kernel, self.rows, shrink, ridge=self.ridge))

    @property
    def is_prepared(self) -> bool:
        """Whether what uncertainty takes is at hand."""
        return "factored" in vars(self)

    def prepare(self) -> None:
        """Work out what uncertainty takes before several threads ask for it: each of them would."""
        _ = self.factored

    @property
    def width(self) -> int:
        """Values that one row takes on its way to an output."""
        return int(self.rows.shape[0])

    def features(self, Z: Array) -> Array:
        """``k(z)`` for every training row."""
        return self.kernel(Z, self.rows)

    def outputs(self, features: Array) -> Array:
        """``o(z) = k(z)' A`` (model_outK_test)."""
        return features @ self.weights

    def uncertainty(self, Z: Array, features: Array) -> Array:
        """``C v(z) = (C / lam) (k(z, z) - k(z)' G^-1 k(z))``."""
        unexplained = self.kernel.diagonal(Z) - explained(self.factored, features)
        return clipped(unexplained, 0.0, math.inf) / self.ridge


def system(kernel: Kernel, Z: Array, shrink: Structured, *, ridge: float) -> Array:
    """Lower triangle of ``K + ridge S``, in blocks of rows; the strict upper triangle is unspecified."""
    n = Z.shape[0]
    G = namespace(Z).empty((n, n), dtype=Z.dtype, device=device(Z))
    values = expecting(n * n // 2, kernel)
    for a, b in triangle(n, Z):
        G[a:b, :b] = values(Z[a:b, :], Z[:b, :])
        shrink.add_block(G[a:b, :b], a, b, ridge)
    return G


def solve_dual(
    kernel: Kernel,
    Z: Array,
    T: Array,
    w: Array,
    shrink: Structured,
    *,
    ridge: float,
    leave_one_out: bool,
    keep_factor: bool = False,
    embedding: Embedding | None = None,
    C: float = 1.0,
    groups: Groups | None = None,
) -> tuple[DualModel, TrainingRows]:
    r"""Weights :math:`A = (K + MK/C + \lambda I/C)^{-1} T` (paper, model_betaK), with ``ridge = lam / C``.

    Multiplying by :math:`S = (W + M/C)^{-1}` gives the same ``A`` from the symmetric positive definite system
    :math:`G A = S W T`, :math:`G = K + (\lambda/C) S`. Residuals and leverages follow without K:
    :math:`T - KA = T - SWT + (\lambda/C) S A` and :math:`1 - h_i = 1 - S_{ii} + (\lambda/C) [S G^{-1} S]_{ii}`.

    Rows that are left out leave the errors and, where it is given, the `embedding` at this `C` too: each by itself, or
    with all of its group.
    """
    xp = namespace(T)
    L = factor(lambda: system(kernel, Z, shrink, ridge=ridge))
    SWT = shrink @ (w[:, None] * T)
    # All that is solved for at once: each time takes a pass over the whole factor.
    t = T.shape[1]
    solved = cho_solve(L, xp.concat([SWT, shrink.V], axis=1))
    A, P = solved[:, :t], solved[:, t:]
    residuals = (T - SWT) + ridge * (shrink @ A)
    # An S without structure is as large as the factor, and takes longer.
    kept = () if not keep_factor else (None, shrink) if shrink.full is None else (L,)
    model = DualModel(kernel, Z, A, ridge, *kept)
    if keep_factor:
        vars(model)["factored"] = L  # at hand: not to be worked out again
    spare = left = None
    if leave_one_out:
        unit = clipped(w, 0.0, 1.0)
        embedded = None
        if isinstance(embedding, WithinVariance):
            V = embedding.columns(w)
            QV = embedding.shrunk(V, shrink.V - ridge * (shrink @ P), shrink, C=C)
            known = (w @ embedding.membership, embedding.membership, QV, V.T @ QV, V.T @ (T - residuals))
            embedded = Embedded(embedding.scatter, C, *known)
        if groups is not None:
            left = _leave_groups(L, shrink, embedded, groups, T, residuals, w, ridge=ridge)
        inner = _sandwich_diagonal(shrink, L, P, overwrite=not keep_factor)
        spare = 1 - unit * shrink.diagonal() + unit * ridge * inner
        spare = clipped(spare, float(xp.finfo(spare.dtype).smallest_normal), math.inf)
        if embedded is not None and groups is None:
            left = leave_one_by_one(embedded, T, residuals, spare, unit)
    return model, TrainingRows(T, residuals, spare, w, left=left)


def _leave_groups(
    L: Array,
    shrink: Structured,
    embedded: Embedded | None,
    groups: Groups,
    T: Array,
    residuals: Array,
    w: Array,
    *,
    ridge: float,
) -> tuple[Array, Array]:
    """Residuals and leverages of rows under machines without their group, by blocks of ``S - ridge S G^-1 S``."""
    xp = namespace(T)
    n = T.shape[0]
    order, held, known = [], [], []
    for whole in groups.by_size:
        size = whole.shape[1]
        for a, b in blocks(whole.shape[0], n * size, T, for_products=True):
            places = xp.asarray(whole[a:b], device=device(T))
            flat = xp.reshape(places, (-1,))
            chosen = xp.astype(xp.arange(n, device=device(T))[:, None] == flat[None, :], T.dtype)
            half = xp.reshape(solve_lower(L, shrink @ chosen), (n, b - a, size))
            half = xp.permute_dims(half, (1, 2, 0))
            inside, less = shrink.inside(places), ridge * (half @ xp.matrix_transpose(half))
            left = xp.reshape(xp.take(w, flat), (b - a, size))
            # In this order: where a row's weight is all of S, nothing of it is rounded away.
            E = xp.eye(size, dtype=T.dtype, device=device(T)) - inside * left[:, None, :] + less * left[:, None, :]
            found = leave(embedded, places, left, E, inside - less, taken(T, places), taken(residuals, places))
            order.append(flat)
            held.append(xp.reshape(found[0], (-1, T.shape[1])))
            known.append(xp.reshape(found[1], (-1,)))
    back = xp.argsort(xp.concat(order))
    return xp.take(xp.concat(held), back, axis=0), xp.take(xp.concat(known), back)


def residual_operator(K: Array, shrink: Structured, *, ridge: float) -> Array:
    """``I - S + ridge S G^-1 S``, which makes residuals of targets, for a whole host matrix `K` and rows of weight one.

    The strict upper triangle is unspecified.
    """
    S, V, d = shrink.full, shrink.V, shrink.d
    L = cholesky(shrink.added_to(K, scale=ridge))
    if S is not None:
        half = solve_lower(L, S)
        E = ridge * (half.T @ half) - S
        add_to_diagonal(E, 1.0)
        return E
    # With S = D + V Z V' and P = G^-1 V the low-rank part is X V' + V X'.
    P = cho_solve(L, V)
    X = (ridge * (d[:, None] * P + V @ (shrink.Z @ (V.T @ P) / 2)) - V / 2) @ shrink.Z
    E = inverse_of_factored(L)
    E *= (ridge * d)[:, None]
    E *= d
    E += np.concatenate([X, V], axis=1) @ np.concatenate([V, X], axis=1).T
    add_to_diagonal(E, 1 - d)
    return E


def _sandwich_diagonal(shrink: Structured, L: Array, P: Array, *, overwrite: bool) -> Array:
    """Diagonal of ``S G^-1 S`` with ``G = L L'`` and ``P = G^-1 V``; may `overwrite` `L`."""
    xp = namespace(L)
    if shrink.full is not None:
        halves = (solve_lower(L, shrink.full[:, a:b]) for a, b in blocks(L.shape[0], L.shape[0], L))
        return xp.concat([xp.sum(half * half, axis=0) for half in halves])
    VZ = shrink.V @ shrink.Z
    low_rank = xp.sum((2 * shrink.d[:, None] * P + VZ @ (shrink.V.T @ P)) * VZ, axis=1)
    return shrink.d**2 * diagonal_of_inverse(L, overwrite=overwrite) + low_rank

r"""The linear system of all kernel machines here: one factorisation gives weights, residuals and leave-one-out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated

import numpy as np

from .arrays import Array, add_to_diagonal, blocks, clipped, device, namespace, triangle
from .caching import preset
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
from .kernels import Kernel, Settled, diagonal
from .leave_out import Embedded, leave, leave_one_by_one, taken
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
    """Targets, residuals and weights of the training rows and, if requested, their leverages."""

    T: Array
    residuals: Array
    w: Array
    leverage: Array | None = None
    spare: Array | None = None  # 1 - leverage of the removed weight, stored because the difference loses digits
    outside: Array | float = 0.0  # C times the variance outside the model's features
    left: tuple[Array, Array] | None = None  # held-out residuals and leverages, if `spare` is not enough for them

    def held_out_residuals(self) -> Array:
        """Return the residual of each row for the model without one unit of its weight, or without its group."""
        return self.residuals / _asked(self.spare)[:, None] if self.left is None else self.left[0]

    def at(self, places: Array) -> TrainingRows:
        """Return the rows at these indices, without held-out values."""
        xp = namespace(self.T)
        known = self.T, self.residuals, self.w, self.leverages(), _asked(self.spare)
        T, residuals, w, leverage, spare = (xp.take(of, places, axis=0) for of in known)
        outside = self.outside if isinstance(self.outside, float) else xp.take(self.outside, places)
        return TrainingRows(T, residuals, w, leverage, spare, outside)

    def leverages(self) -> Array:
        """Return the derivative of each row's output by its own target, for one unit of its weight."""
        return _asked(self.leverage)

    def uncertainty(self) -> Array:
        """Return C times the variance v of each row's output: its leverage plus the variance outside the features."""
        return self.leverages() + self.outside

    def held_out_uncertainty(self) -> Array:
        """Return the same for the model without one unit of the row's weight, or without its group."""
        return self.left_leverages() + self.outside

    def left_leverages(self) -> Array:
        """Return the held-out leverage of each row."""
        return self.leverages() / _asked(self.spare) if self.left is None else self.left[1]

    def signal(self, *, C: float) -> float:
        """Return tau², the maximum-likelihood variance of the targets in the Gaussian-process view."""
        xp = namespace(self.T)
        total = float(xp.sum(self.w @ (self.T * self.residuals)))
        return float(C * total / (float(xp.sum(self.w)) * self.T.shape[1]))


def _asked(values: Array | None) -> Array:
    if values is None:
        raise ValueError("the rows were solved without leave_one_out=True")
    return values


@dataclass(frozen=True)
class DualModel:
    """Outputs and uncertainty of any row from its kernel values with the training rows."""

    kernel: Annotated[Kernel, Settled()]
    rows: Annotated[Array, Floats("n _c?")]
    weights: Annotated[Array, Floats("n t")]
    ridge: Positive
    #: Cholesky factor of the system, only for the uncertainty; None if `shrink` is given.
    L: Annotated[Array, Floats("n n")] | None = None
    shrink: Structured | None = None  # S, from which the factor is computed when it is needed

    def __getstate__(self) -> dict[str, object]:
        # Without the n x n factor, which is computed again after loading: a saved model is as large as its rows.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def factored(self) -> Array | None:
        """Cholesky factor of the system ``K + ridge S``."""
        shrink = self.shrink
        return self.L if shrink is None else factor(lambda: system(self.kernel, self.rows, shrink, ridge=self.ridge))

    @property
    def is_prepared(self) -> bool:
        """Whether the factor that the uncertainty needs is already computed."""
        return "factored" in vars(self)

    def prepare(self) -> None:
        """Compute the factor once, before several threads need it and each of them computes it."""
        _ = self.factored

    @property
    def width(self) -> int:
        """Number of intermediate values for each scored row."""
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
    """Return ``K + ridge S``, computed in blocks of rows; the strict upper triangle is unspecified."""
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
    r"""Return the model with :math:`A = (K + MK/C + \lambda I/C)^{-1} T` (paper, model_betaK), ``ridge = lam / C``.

    Multiplying by :math:`S = (W + M/C)^{-1}` gives the same ``A`` from the symmetric positive definite system
    :math:`G A = S W T`, :math:`G = K + (\lambda/C) S`. Residuals follow without K:
    :math:`T - KA = T - SWT + (\lambda/C) S A`. Leverages are the diagonal of `_Covariance`.

    With `leave_one_out`, each row is held out by itself or, if `groups` are given, with its group. If an `embedding` is
    given, held-out rows are removed from its matrix M too, at this `C`. Without one, M stays as it is.
    """
    xp = namespace(T)
    L = factor(lambda: system(kernel, Z, shrink, ridge=ridge))
    SWT = shrink @ (w[:, None] * T)
    # Solve for all right-hand sides at once: each solve reads the whole factor.
    t = T.shape[1]
    solved = cho_solve(L, xp.concat([SWT, shrink.V], axis=1))
    A, P = solved[:, :t], solved[:, t:]
    residuals = (T - SWT) + ridge * (shrink @ A)
    # A full S is as large as the factor, and computing the factor from it takes longer: keep the factor then.
    kept = () if not keep_factor else (None, shrink) if shrink.full is None else (L,)
    model = DualModel(kernel, Z, A, ridge, *kept)
    if keep_factor:
        preset(model, factored=L)
    if not leave_one_out:
        return model, TrainingRows(T, residuals, w)
    Q = _Covariance(kernel, Z, shrink, L, P, ridge)
    embedded = left = None
    if isinstance(embedding, WithinVariance):
        V = embedding.columns(w)
        QV = Q.of_columns(V, embedding, C=C)
        known = (w @ embedding.membership, embedding.membership, QV, V.T @ QV, V.T @ (T - residuals))
        embedded = Embedded(embedding.scatter, C, *known)
    if groups is not None:
        left = _leave_groups(Q, embedded, groups, T, residuals, w)
    unit = clipped(w, 0.0, 1.0)
    leverage, spare = Q.diagonal(unit, precise=keep_factor or embedded is not None, overwrite=not keep_factor)
    if embedded is not None and groups is None:
        left = leave_one_by_one(embedded, T, residuals, leverage, spare, unit)
    return model, TrainingRows(T, residuals, w, leverage, spare, left=left)


@dataclass(frozen=True)
class _Covariance:
    r"""Entries of ``Q = (W + M/C + ridge K^-1)^-1``, C times the covariance of the training rows' outputs.

    :math:`Q = S - ridge\, S G^{-1} S` is accurate where S is small compared with the prior, ``K / ridge``. For a small
    C the prior is smaller than S and this difference loses digits; then
    :math:`Q = (K - K G^{-1} K) / ridge = S G^{-1} K` is used.
    """

    kernel: Kernel
    Z: Array
    shrink: Structured
    L: Array  # the Cholesky factor of G
    P: Array  # G^-1 V, V the columns of the structured S
    ridge: float

    @cached_property
    def prior(self) -> Array:
        """Diagonal of ``K / ridge``."""
        return diagonal(self.kernel, self.Z) / self.ridge

    @cached_property
    def by_kernel(self) -> Array:
        """Whether the prior of each row is smaller than its entry of S."""
        return self.prior < self.shrink.diagonal()

    def of_columns(self, V: Array, embedding: WithinVariance, *, C: float) -> Array:
        """Return ``Q V`` for the columns V of an embedding."""
        xp, shrink = namespace(V), self.shrink
        found = embedding.shrunk(V, shrink.V - self.ridge * (shrink @ self.P), shrink, C=C)
        if not bool(xp.any(self.by_kernel)):
            return found
        KV = xp.concat([self._values(a, b) @ V for a, b in self._blocks()])
        return xp.where(self.by_kernel[:, None], shrink @ cho_solve(self.L, KV), found)

    def of_groups(self, places: Array, left: Array) -> tuple[Array, Array]:
        """Return the blocks of Q for groups of rows (groups x size), and ``I - Q U`` for the removed weights U."""
        xp, L = namespace(left), self.L
        groups, size = places.shape
        flat = xp.reshape(places, (-1,))

        def halves(of: Array) -> Array:
            """``L^-1`` times columns of the groups' rows, groups x size x n."""
            return xp.permute_dims(xp.reshape(solve_lower(L, of), (-1, groups, size)), (1, 2, 0))

        chosen = xp.astype(xp.arange(L.shape[0], device=device(left))[:, None] == flat[None, :], left.dtype)
        half = halves(self.shrink @ chosen)
        S, less = self.shrink.inside(places), self.ridge * (half @ xp.matrix_transpose(half))
        eye = xp.eye(size, dtype=left.dtype, device=device(left))
        # The order of these sums matters: where S is the inverse of the row's weight, 1 - S U must be exactly 0.
        E = eye - S * left[:, None, :] + less * left[:, None, :]
        if not bool(xp.any(xp.take(self.by_kernel, flat))):
            return S - less, E
        prior, own = (xp.reshape(xp.take(of, flat), (groups, size)) for of in (self.prior, self.shrink.diagonal()))
        by_kernel = prior[:, :, None] * prior[:, None, :] < own[:, :, None] * own[:, None, :]
        values = self.kernel(xp.take(self.Z, flat, axis=0), self.Z)
        Q = xp.where(by_kernel, half @ xp.matrix_transpose(halves(values.T)), S - less)
        return Q, xp.where(by_kernel, eye - Q * left[:, None, :], E)

    def diagonal(self, unit: Array, *, precise: bool, overwrite: bool) -> tuple[Array, Array]:
        """Return the diagonal q of Q, and ``1 - unit q``. A small q is accurate if `precise`. May `overwrite` L."""
        xp, S, L = namespace(unit), self.shrink.diagonal(), self.L
        explained_by = None
        if precise and bool(xp.any(self.by_kernel)):
            explained_by = xp.concat([explained(L, self._values(a, b)) for a, b in self._blocks()]) / self.ridge
        less = self.ridge * _sandwich_diagonal(self.shrink, L, self.P, overwrite=overwrite)
        q, spare = S - less, 1 - unit * S + unit * less
        if explained_by is not None:
            q = xp.where(self.by_kernel, clipped(self.prior - explained_by, 0.0, math.inf), q)
            spare = xp.where(self.by_kernel, 1 - unit * q, spare)
        return q, clipped(spare, float(xp.finfo(spare.dtype).smallest_normal), math.inf)

    def _values(self, a: int, b: int) -> Array:
        return self.kernel(self.Z[a:b, :], self.Z)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        n = self.Z.shape[0]
        return blocks(n, n, self.Z, for_products=True)


def _leave_groups(
    Q: _Covariance, embedded: Embedded | None, groups: Groups, T: Array, residuals: Array, w: Array
) -> tuple[Array, Array]:
    """Return residuals and leverages of each row for the machine fitted without its group."""
    xp = namespace(T)
    n = T.shape[0]
    order, held, known = [], [], []
    for whole in groups.by_size:
        size = whole.shape[1]
        for a, b in blocks(whole.shape[0], n * size, T, for_products=True):
            places = xp.asarray(whole[a:b], device=device(T))
            flat = xp.reshape(places, (-1,))
            left = xp.reshape(xp.take(w, flat), (b - a, size))
            inside, E = Q.of_groups(places, left)
            found = leave(embedded, places, left, E, inside, taken(T, places), taken(residuals, places))
            order.append(flat)
            held.append(xp.reshape(found[0], (-1, T.shape[1])))
            known.append(xp.reshape(found[1], (-1,)))
    back = xp.argsort(xp.concat(order))
    return xp.take(xp.concat(held), back, axis=0), xp.take(xp.concat(known), back)


def residual_operator(K: Array, shrink: Structured, *, ridge: float) -> Array:
    """Return ``I - S + ridge S G^-1 S``, the matrix that maps targets to residuals.

    `K` is a full host matrix, and all rows have weight one. The strict upper triangle is unspecified.
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
    """Return the diagonal of ``S G^-1 S`` with ``G = L L'`` and ``P = G^-1 V``; may `overwrite` `L`."""
    xp = namespace(L)
    if shrink.full is not None:
        halves = (solve_lower(L, shrink.full[:, a:b]) for a, b in blocks(L.shape[0], L.shape[0], L))
        return xp.concat([xp.sum(half * half, axis=0) for half in halves])
    VZ = shrink.V @ shrink.Z
    low_rank = xp.sum((2 * shrink.d[:, None] * P + VZ @ (shrink.V.T @ P)) * VZ, axis=1)
    return shrink.d**2 * diagonal_of_inverse(L, overwrite=overwrite) + low_rank

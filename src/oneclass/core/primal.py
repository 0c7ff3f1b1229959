"""The linear system with explicit features: normal equations built from the moments of the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Annotated

import numpy as np

from .arrays import Array, clipped, namespace
from .caching import cached, preset
from .cholesky import (
    SingularSystemError,
    cho_solve,
    cholesky,
    explained,
    factor,
    inverse,
    product_squares,
    trace_of_solved,
)
from .compiled import expecting
from .embedding import Scatter
from .features import FeatureMap, NystromMap
from .gathering import moments_of_rows
from .leave_out import Embedded
from .moments import Moments
from .stored import Count, Extended, Floats, Positive, must

__all__ = ["Columns", "Equations", "PrimalModel", "solve_primal"]

#: Largest rounding error, relative to the smallest variance at the checked landmarks, with which `known` is used; and
#: number of landmarks to check.
_STEADY, _CHECKED_LANDMARKS = 2e-10, 32
#: Smallest penalty, as a power of the unit of rounding: 1.8e-12, and 6e-6 in single precision. With a tenth of it,
#: held-out losses of 60 rows with as many landmarks were off by powers of ten.
_LEAST_RIDGE = 0.75


@dataclass(frozen=True)
class Columns:
    """The terms of `Embedded` that do not depend on the rows, for the columns V of the scatter."""

    scatter: Scatter
    C: Positive
    sizes: Annotated[Array, Floats("k")]
    PV: Annotated[Array, Floats("m _b")]  # P^-1 F'V
    VQV: Annotated[Array, Floats("_b _b")]
    VF: Annotated[Array, Floats("_b t")]

    def __check__(self) -> dict[str, int]:
        return {"_b": self.sizes.shape[0] if self.scatter.own_mean else 2}

    def seen_by(self, across: Array, members: Array) -> Embedded:
        """Return the terms for rows of these clusters, with `across` their features times PV."""
        return Embedded(self.scatter, self.C, self.sizes, members, across, self.VQV, self.VF)


@dataclass(frozen=True)
class Equations:
    """Scaled rows that the normal equations are computed from; few rows need less memory than the equations."""

    Z: Annotated[Array, Floats("_n d")]
    w: Annotated[Array, Floats("_n")] | None
    centres: Annotated[Array, Floats("k d")] | None
    slices: tuple[Count, ...]  # starts of the slices whose moments were added
    whole: bool  # whether features were computed for whole slices

    def __check__(self) -> None:
        bounds = (*self.slices, self.Z.shape[0])
        must(bounds[0] == 0 and all(a < b for a, b in pairwise(bounds)), "slices must ascend from 0, within the rows")

    def factored(self, map: FeatureMap, columns: Columns | None, *, ridge: float) -> Array:
        """Return the Cholesky factor of the normal equations, bit-identical to that of the fit."""
        return expecting(self.Z.shape[0] * map.width, self._factored)(map, columns, ridge)

    def _factored(self, map: FeatureMap, columns: Columns | None, ridge: float) -> Array:
        bounds = zip(self.slices, (*self.slices[1:], self.Z.shape[0]), strict=True)
        moments = reduce(add, [self._moments(map, slice(a, b)) for a, b in bounds])
        scatter, C = (None, 1.0) if columns is None else (columns.scatter, columns.C)
        L = _normal_factor(map, moments, moments.second_moments()[0], scatter, C=C, ridge=ridge)
        return namespace(L).astype(L, self.Z.dtype)

    def _moments(self, map: FeatureMap, rows: slice) -> Moments:
        Z, w = self.Z[rows, :], None if self.w is None else self.w[rows]
        return moments_of_rows(map, Z, map(Z) if self.whole else None, lambda some: some[:, :0], w, self.centres)


@dataclass(frozen=True)
class PrimalModel:
    """Outputs and uncertainty of any row from its explicit features."""

    map: FeatureMap
    weights: Annotated[Array, Floats("m t")]
    ridge: Positive
    #: Cholesky factor of the normal equations; None if `equations` is given.
    L: Annotated[Array, Floats("m m")] | None
    effective: Extended  # effective number of parameters: the sum of all rows' leverages
    columns: Columns | None = None
    equations: Equations | None = None

    @cached_property
    def factored(self) -> Array:
        """Cholesky factor of the normal equations."""
        made_of = self.equations
        return self.L if made_of is None else made_of.factored(self.map, self.columns, ridge=self.ridge)

    def made_of(self, equations: Equations) -> PrimalModel:
        """Return the same model, saved with the rows of its normal equations instead of their factor."""
        model = replace(self, L=None, equations=equations)
        return preset(model, **cached(self) | {"factored": self.factored})

    @property
    def width(self) -> int:
        """Number of intermediate values for each scored row."""
        return int(self.weights.shape[0])

    def features(self, Z: Array) -> Array:
        """Return the explicit features of each row."""
        return self.map(Z)

    def outputs(self, features: Array) -> Array:
        """Return ``o(z) = f(z)' B``."""
        return features @ self.weights

    def read_off(self, features: Array) -> tuple[Array, Array]:
        """Return the outputs and the products of the features with PV, from one matrix product."""
        t, PV = self.weights.shape[1], self.weights[:, :0] if self.columns is None else self.columns.PV
        found = features @ namespace(PV).concat([self.weights, PV], axis=1)
        return found[:, :t], found[:, t:]

    def leverages(self, features: Array) -> Array:
        """Return the leverages ``f(z)' P^-1 f(z)``: the derivative of a row's output by its own target."""
        return explained(self.factored, features)

    def outside(self, Z: Array, features: Array) -> Array:
        """Return C times the prior variance that the features do not explain."""
        return self.map.outside(Z, features) / self.ridge

    def judged(self, Z: Array, features: Array, *, beyond: bool) -> tuple[Array, Array | float]:
        """Return the leverages of rows and, with `beyond`, the variance outside the features (otherwise 0)."""
        return self.leverages(features), self.outside(Z, features) if beyond else 0.0

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without cached values

    @cached_property
    def known(self) -> Array | None:
        """Cholesky factor of ``penalty^-1 - ridge P^-1``; None if the difference would lose digits.

        With it, ``C v(z)`` needs one product. As the sum of leverage and outside variance it needs two.
        """
        map = self.map
        if not isinstance(map, NystromMap) or map.factored is None:
            return None
        left = self.ridge * self.leverages(map(map.landmarks[:: max(1, map.width // _CHECKED_LANDMARKS), :]))
        if map.rounding > _STEADY * min(1.0, float(namespace(left).min(left))):
            return None
        try:
            return cholesky(inverse(map.factored) - self.ridge * inverse(self.factored))
        except np.linalg.LinAlgError:  # no training row depends on some landmark
            return None

    @property
    def is_prepared(self) -> bool:
        """Whether the factors that the uncertainty needs are already computed."""
        return "known" in vars(self) and "factored" in vars(self)

    def prepare(self) -> None:
        """Compute the factors once, before several threads need them and each of them computes them."""
        _ = self.factored, self.known

    def uncertainty(self, Z: Array, features: Array) -> Array:
        """Return ``C v(z)``."""
        if self.known is None:
            return self.leverages(features) + self.outside(Z, features)
        prior = self.map.kernel.diagonal(Z)  # type: ignore[union-attr]
        return clipped(prior - product_squares(self.known, features), 0.0, math.inf) / self.ridge


def solve_primal(
    map: FeatureMap,
    moments: Moments,
    scatter: Scatter | None,
    *,
    C: float,
    ridge: float,
    dtype: object,
    count: bool = True,
) -> tuple[PrimalModel, float]:
    r"""Return the model with :math:`B = (F'WF + F'MF/C + \lambda\Omega/C)^{-1} F'WT`, and the signal variance tau².

    The system is solved in float64; the model has the `dtype` of the rows. With `count`, the effective number of
    parameters is computed too, which takes longer than the weights.
    """
    xp = namespace(moments.f)
    least = float(xp.finfo(dtype).eps) ** _LEAST_RIDGE
    if ridge < least:
        raise SingularSystemError(
            f"lam / C must be at least {least:.2g} for an approximation of rows in this precision, got {ridge:.2g}: "
            "rounding leaves nothing of a smaller penalty"
        )
    FF, FT, tt = moments.second_moments()
    L = _normal_factor(map, moments, FF, scatter, C=C, ridge=ridge)
    B = cho_solve(L, FT)
    effective = trace_of_solved(L, FF) if count else float("nan")
    n = float(xp.sum(moments.weight))
    signal = C * (tt - float(xp.sum(B * FT))) / (n * FT.shape[1])
    columns = None
    if scatter is not None:
        V = scatter.columns(moments.weight, (moments.weight[:, None] * moments.f).T)
        PV = cho_solve(L, V)
        columns = Columns(scatter, C, *(xp.astype(A, dtype) for A in (moments.weight, PV, V.T @ PV, V.T @ B)))
    B, L = (xp.astype(A, dtype, copy=False) for A in (B, L))
    return PrimalModel(map, B, ridge, L, effective, columns), signal


def _normal_factor(
    map: FeatureMap, moments: Moments, FF: Array, scatter: Scatter | None, *, C: float, ridge: float
) -> Array:
    """Return the Cholesky factor of the normal equations from moments and their ``F'WF``."""
    xp = namespace(FF)
    penalty = xp.astype(map.penalty, xp.float64, copy=False)
    variance = None if scatter is None else moments.variance(scatter.shares, own_mean=scatter.own_mean)

    def build() -> Array:
        P = FF + ridge * penalty
        return P if variance is None else P + variance / C

    return factor(build)

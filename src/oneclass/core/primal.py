"""The same system through explicit features: normal equations that the moments of the rows make."""

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
from .cholesky import cho_solve, cholesky, explained, factor, inverse, product_squares, trace_of_solved
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


@dataclass(frozen=True)
class Columns:
    """What features say of the scatter's columns V: all of `Embedded` but the rows at hand."""

    scatter: Scatter
    C: Positive
    sizes: Annotated[Array, Floats("k")]
    PV: Annotated[Array, Floats("m _b")]  # P^-1 F'V
    VQV: Annotated[Array, Floats("_b _b")]
    VF: Annotated[Array, Floats("_b t")]

    def __check__(self) -> dict[str, int]:
        return {"_b": self.sizes.shape[0] if self.scatter.own_mean else 2}

    def seen_by(self, across: Array, members: Array) -> Embedded:
        """The scatter, as rows leave it that are in these clusters, given their features' products with PV."""
        return Embedded(self.scatter, self.C, self.sizes, members, across, self.VQV, self.VF)


@dataclass(frozen=True)
class Equations:
    """Scaled rows that normal equations are made of; few of them take far less room than these do."""

    Z: Annotated[Array, Floats("_n d")]
    w: Annotated[Array, Floats("_n")] | None
    centres: Annotated[Array, Floats("k d")] | None
    slices: tuple[Count, ...]  # where those begin whose moments were added up
    whole: bool  # whether features were worked out for whole slices

    def __check__(self) -> None:
        bounds = (*self.slices, self.Z.shape[0])
        must(bounds[0] == 0 and all(a < b for a, b in pairwise(bounds)), "slices must ascend from 0, within the rows")

    def factored(self, map: FeatureMap, columns: Columns | None, *, ridge: float) -> Array:
        """Their Cholesky factor, by the steps of the fit: the same to the last bit."""
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
    #: Cholesky factor of the normal equations; or else what these are made of:
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
        """The same model, which is saved as what its normal equations are made of."""
        model = replace(self, L=None, equations=equations)
        return preset(model, **cached(self) | {"factored": self.factored})

    @property
    def width(self) -> int:
        """Values that one row takes on its way to an output."""
        return int(self.weights.shape[0])

    def features(self, Z: Array) -> Array:
        """Explicit features of each row."""
        return self.map(Z)

    def outputs(self, features: Array) -> Array:
        """``o(z) = f(z)' B``."""
        return features @ self.weights

    def read_off(self, features: Array) -> tuple[Array, Array]:
        """Outputs, and what features have of the scatter's columns, if there are any: by one pass over the features."""
        t, PV = self.weights.shape[1], self.weights[:, :0] if self.columns is None else self.columns.PV
        found = features @ namespace(PV).concat([self.weights, PV], axis=1)
        return found[:, :t], found[:, t:]

    def leverages(self, features: Array) -> Array:
        """``f(z)' P^-1 f(z)``, the pull that a row has, or would have, on its own output."""
        return explained(self.factored, features)

    def outside(self, Z: Array, features: Array) -> Array:
        """C times the prior variance of what the features do not reach."""
        return self.map.outside(Z, features) / self.ridge

    def judged(self, Z: Array, features: Array, *, beyond: bool) -> tuple[Array, Array | float]:
        """Leverages of rows and, if what lies `beyond` the features is wanted, that: 0 if not."""
        return self.leverages(features), self.outside(Z, features) if beyond else 0.0

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without what follows from them

    @cached_property
    def known(self) -> Array | None:
        """Cholesky factor of ``penalty^-1 - ridge P^-1``, where neither loses digits.

        With it ``C v(z)``, the leverage of a row and what lies outside, takes one product where these take two.
        """
        map = self.map
        if not isinstance(map, NystromMap) or map.factored is None:
            return None
        left = self.ridge * self.leverages(map(map.landmarks[:: max(1, map.width // _CHECKED_LANDMARKS), :]))
        if map.rounding > _STEADY * min(1.0, float(namespace(left).min(left))):
            return None
        try:
            return cholesky(inverse(map.factored) - self.ridge * inverse(self.factored))
        except np.linalg.LinAlgError:  # no row says anything of some landmark
            return None

    @property
    def is_prepared(self) -> bool:
        """Whether what uncertainty takes is at hand."""
        return "known" in vars(self) and "factored" in vars(self)

    def prepare(self) -> None:
        """Work out what uncertainty takes before several threads ask for it: each of them would."""
        _ = self.factored, self.known

    def uncertainty(self, Z: Array, features: Array) -> Array:
        """``C v(z)``."""
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
    r"""Weights :math:`B = (F'WF + F'MF/C + \lambda\Omega/C)^{-1} F'WT`, and the signal variance tau².

    Solved in float64 from the moments, then handed over in the rows' own `dtype`. To `count` the effective number of
    parameters costs more than the weights do.
    """
    xp = namespace(moments.f)
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
    return PrimalModel(map, xp.astype(B, dtype), ridge, xp.astype(L, dtype), effective, columns), signal


def _normal_factor(
    map: FeatureMap, moments: Moments, FF: Array, scatter: Scatter | None, *, C: float, ridge: float
) -> Array:
    """Cholesky factor of the normal equations of moments, of which ``F'WF`` is at hand."""
    xp = namespace(FF)
    penalty = xp.astype(map.penalty, xp.float64)
    variance = None if scatter is None else moments.variance(scatter.shares, own_mean=scatter.own_mean)

    def build() -> Array:
        P = FF + ridge * penalty
        return P if variance is None else P + variance / C

    return factor(build)

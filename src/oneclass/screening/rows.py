"""Predictions of every column of a table from the other columns, by regressions that were fitted without the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, device, namespace, ones, to_numpy
from ..core.bandwidth import bandwidth
from ..core.conditional import Conditional, ProductKernel, conditional, predict_columns
from ..core.groups import Groups
from ..core.kernels import Laplacian
from ..core.row_sample import row_keys

__all__ = ["Regressions", "fit_regressions", "predict_held_out"]

Numbers = NDArray[np.float64]
Blocks: TypeAlias = Sequence[tuple[int, ...]]

#: Inverse noise variance of the predictions from the other columns, and of the reconstruction from all columns. Of 1,
#: 4, 16 and 64 for the first and 4, 16, 64 for the second, these ranked planted errors best (docs/dirty_measured.md).
_C, _RECONSTRUCTION_C = 4.0, 16.0
#: Most rows for exact regressions, most rows that regressions by landmarks are fitted to, and number of landmarks.
_EXACT, _FITTED, _LANDMARKS = 800, 5_000, 300
#: Number of rows that are predicted at once, to limit memory.
_AT_ONCE = 50_000


@dataclass(frozen=True)
class Regressions:
    """Regressions of the columns on their other columns, or of all columns on all columns, fitted to some rows."""

    kernel: ProductKernel
    known: Array  # the rows or the landmarks
    parts: tuple[Conditional, ...]

    def predict(self, Z: Array) -> Numbers:
        """Return the predictions of the columns of rows, in the order of the columns."""
        return np.asarray(to_numpy(predict_columns(self.kernel, self.known, self.parts, Z)))

    def held_out(self) -> Numbers:
        """Return the leave-one-out residuals of the rows that the regressions were fitted to."""
        order = np.argsort([j for part in self.parts for j in part.told])
        return np.concatenate([np.asarray(to_numpy(part.residuals)) for part in self.parts], axis=1)[:, order]


@dataclass(frozen=True)
class _Fit:
    """Some rows of a table, and the choices of a regression on them."""

    rows: Array
    kernel: ProductKernel
    landmarks: Array | None
    groups: Groups | None

    @classmethod
    def of(cls, Z: Array, chosen: NDArray[np.intp], groups: Groups | None) -> _Fit:
        xp = namespace(Z)
        rows = xp.take(Z, xp.asarray(chosen, device=device(Z)), axis=0)
        kernel = Laplacian(bandwidth("mean", Laplacian(), rows, ones(rows)))
        landmarks = rows[:_LANDMARKS, :] if len(chosen) > _EXACT else None
        return cls(rows, kernel, landmarks, None if groups is None else _renumbered(groups, chosen))

    def solved(self, sets: Blocks, C: float, *, targets: Blocks | None = None) -> Regressions:
        """Return the regression for each set of columns."""
        given = (self.kernel, self.rows, sets)
        held_out = partial(conditional, groups=self.groups, landmarks=self.landmarks, variances=False)
        known = self.rows if self.landmarks is None else self.landmarks
        return Regressions(self.kernel, known, tuple(held_out(*given, C=C, targets=targets)))


def predict_held_out(Z: Array, blocks: Blocks, *, groups: Groups | None = None) -> tuple[Numbers, Numbers]:
    """Return the residuals of all columns of the scaled rows `Z`, and the squared errors of their reconstruction.

    The residuals are those of predictions from the other columns, and the reconstruction is the prediction of all
    columns from all columns. The regressions were fitted without the row and its group. They are fitted to all rows, or
    to a sample of many. `blocks` are the columns that each regression leaves out of the kernel and predicts; every
    column is in one block.
    """
    xp, (n, d) = namespace(Z), Z.shape
    chosen = _sample(Z, np.ones(n, dtype=bool), groups)
    fit = _Fit.of(Z, chosen, groups)
    each, whole = fit.solved(blocks, _C), fit.solved([()], _RECONSTRUCTION_C, targets=[tuple(range(d))])
    residuals, errors = np.empty((n, d)), np.empty(n)
    residuals[chosen], errors[chosen] = each.held_out(), _squared_lengths(whole.held_out())
    rest = np.setdiff1d(np.arange(n), chosen)
    for start in range(0, len(rest), _AT_ONCE):
        some = rest[start : start + _AT_ONCE]
        rows = xp.take(Z, xp.asarray(some, device=device(Z)), axis=0)
        values = np.asarray(to_numpy(rows))
        residuals[some] = values - each.predict(rows)
        errors[some] = _squared_lengths(values - whole.predict(rows))
    return residuals, errors


def fit_regressions(Z: Array, blocks: Blocks, allowed: NDArray[np.bool_], *, groups: Groups | None) -> Regressions:
    """Return the regressions of the columns on their other columns, fitted to allowed rows."""
    return _Fit.of(Z, _sample(Z, allowed, groups), groups).solved(blocks, _C)


def _squared_lengths(rows: Numbers) -> Numbers:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _sample(Z: Array, allowed: NDArray[np.bool_], groups: Groups | None) -> NDArray[np.intp]:
    """Return the numbers of the allowed rows, or those of a sample of them, which does not depend on their order.

    A sample holds whole groups.
    """
    chosen = np.flatnonzero(allowed)
    if len(chosen) <= _EXACT:
        return chosen
    keys = np.asarray(to_numpy(row_keys(Z, 0)))[chosen]
    if groups is None:
        return chosen[np.argsort(keys, kind="stable")][:_FITTED]
    number = groups.of_rows[chosen]
    least = np.full(groups.count, np.iinfo(np.int64).max)
    np.minimum.at(least, number, keys)
    order = np.lexsort((keys, number, least[number]))
    last = number[order[min(_FITTED, len(order)) - 1]]
    complete = np.flatnonzero(number[order] == last)[-1] + 1
    return chosen[order[:complete]]


def _renumbered(groups: Groups, chosen: NDArray[np.intp]) -> Groups | None:
    """Return the groups of the chosen rows; None if each row is a group."""
    found = Groups(np.unique(groups.of_rows[chosen], return_inverse=True)[1].reshape(-1))
    return None if found.count in (1, len(chosen)) else found

"""Fit of the known outliers: the kernel ridge on codes beside a fitted machine, and the losses of both together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..base.checks import ChoiceError
from ..base.kernels import is_precomputed
from ..base.known_outliers import outliers_to_learn
from ..base.reading import Header
from ..base.training_set import TrainingSet, read_known_rows, with_known_rows
from ..core.arrays import Array, blocks, device, namespace, ones, to_numpy
from ..core.calibration import HeldOut, Judgement
from ..core.groups import Groups
from ..core.known import COST_SHARE, Codes, KnownOutliers, fit_codes, sample_of
from ..core.plan import Plan
from ..core.solve import DualModel
from ..core.threshold import Decision
from ..core.typing import Name, Rows
from ..engines.threads import on_one_thread
from .exact import Fit

if TYPE_CHECKING:
    from .kernel_machine import KernelMachine

__all__ = ["outliers_beside_chunks", "with_known", "with_known_beside_chunks", "with_outliers_to_learn"]


def with_outliers_to_learn(machine: KernelMachine, training: TrainingSet, decision: Decision) -> TrainingSet:
    """The training set with the known outliers that the machine learns, or without any."""
    training = outliers_to_learn(machine, training)
    if training.outliers is not None:
        _check_can_learn(machine, decision, pairwise=training.pairwise)
    return training


def _check_can_learn(machine: KernelMachine, decision: Decision, *, pairwise: bool) -> None:
    name = type(machine).__name__
    ignoring = "; with known_outliers='ignore', rows that are labelled as outliers are left out"
    if pairwise:
        raise ChoiceError(f"{name}: known outliers need a kernel of rows, got kernel='precomputed'{ignoring}")
    if not decision.held_out:
        raise ChoiceError(f"{name}: known outliers need threshold='held_out', got {decision.rule!r}{ignoring}")


def outliers_beside_chunks(
    machine: KernelMachine, outliers: Rows, header: Header, decision: Decision, groups: Name | None
) -> Array:
    """The rows of known outliers in memory, for a fit of chunks or of a Dask collection."""
    name = type(machine).__name__
    if groups is not None:
        raise ValueError(
            f"{name}: outliers must be None for chunks or a Dask collection with groups; fit a sample of whole groups "
            f"in memory, got groups={groups!r}"
        )
    _check_can_learn(machine, decision, pairwise=is_precomputed(machine))
    return read_known_rows(name, header, outliers)


def with_known_beside_chunks(
    machine: KernelMachine, fit: Fit, header: Header, rows: Array
) -> tuple[Fit, KnownOutliers]:
    """The fit of chunks with known outliers, which are learned beside the rows of its sample."""
    if fit.sample is None:
        raise TypeError("known outliers beside chunks need a fit by a sample")
    training = with_known_rows(type(machine).__name__, TrainingSet(*fit.sample, header), rows)
    fit, known = with_known(fit, outliers_to_learn(machine, training))
    return replace(fit, judgement=replace(fit.judgement, held_out=None)), known


def with_known(fit: Fit, training: TrainingSet) -> tuple[Fit, KnownOutliers]:
    """The fit with the known outliers of its training set.

    Thresholds and p-values come from the losses of normal rows that both parts were fitted without.
    """
    held_out = fit.judgement.held_out
    if held_out is None:
        raise TypeError("known outliers need the held-out loss of every row")
    with on_one_thread(training.X.shape[0], training.X):
        known, scores = _fitted(fit, held_out, training)
    together = replace(held_out, losses=known.combined(held_out.losses, scores))
    calibration = together.calibration()
    return replace(fit, judgement=Judgement(calibration, calibration, together)), known


def _fitted(fit: Fit, held_out: HeldOut, training: TrainingSet) -> tuple[KnownOutliers, Array]:
    """The known outliers, and the held-out known scores of the normal rows that are no answers."""
    model, plan, X, w = fit.machine.model, fit.machine.plan, training.X, training.w
    xp, rows = namespace(X), plan.scaler(training.outliers)
    given = ones(rows) if training.outlier_weights is None else training.outlier_weights
    exact = isinstance(model, DualModel)
    some = None if exact else sample_of(X)
    Z = plan.scaler(X if some is None else xp.take(X, some, axis=0))
    w = w if some is None else xp.take(w, some)
    groups, columns, theirs = _groups_of(training, some, rows.shape[0])
    both, solved = fit_codes(plan.kernel, Z, w, rows, given, C=COST_SHARE * plan.C, groups=groups)
    scores = solved.held_out[: Z.shape[0]]
    if some is not None:
        scores = _all_scores(plan, X, both, solved, columns, scores, some)
    if training.answered is not None:
        scores = xp.take(scores, xp.asarray(np.flatnonzero(~training.answered), device=device(X)))
    judged = held_out.losses, scores, held_out.weights
    return KnownOutliers.of(rows, given, solved, *judged, normal=None if exact else Z, groups=theirs), scores


def _all_scores(
    plan: Plan, X: Array, both: Array, solved: Codes, columns: NDArray[np.intp] | None, inside: Array, some: Array
) -> Array:
    """Held-out known scores of all rows: `inside` are those of the rows `some`, which the ridge was fitted to."""
    xp, n, scores = namespace(X), X.shape[0], []
    for a, b in blocks(n, both.shape[0], X, for_products=True):
        K = plan.kernel(plan.scaler(X[a:b, :]), both)
        found = K @ solved.alpha
        if solved.changes is not None and columns is not None:
            changes = xp.concat([solved.changes, xp.zeros_like(solved.changes[:, :1])], axis=1)
            found = found - xp.sum(K * xp.take(changes, xp.asarray(columns[a:b], device=device(X)), axis=1).T, axis=1)
        scores.append(found)
    place = np.full(n, -1)
    place[to_numpy(some)] = np.arange(int(some.shape[0]))
    at = xp.asarray(np.maximum(place, 0), device=device(X))
    return xp.where(xp.asarray(place >= 0, device=device(X)), xp.take(inside, at), xp.concat(scores))


def _groups_of(
    training: TrainingSet, some: Array | None, k: int
) -> tuple[Groups | None, NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """The groups of the rows of the ridge, each normal row's group among them, and the known outliers' groups.

    Known outliers without a group of normal rows are groups of their own. A group that has no row in the ridge has the
    number after the last one.
    """
    if training.groups is None:
        return None, None, None
    numbers = training.groups.of_rows
    theirs = numbers.max() + 1 + np.arange(k)
    if training.outlier_groups is not None:
        theirs = np.where(training.outlier_groups >= 0, training.outlier_groups, theirs)
    inside = numbers if some is None else numbers[to_numpy(some)]
    known, of_rows = np.unique(np.concatenate([inside, theirs]), return_inverse=True)
    place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    groups = Groups(of_rows.reshape(-1), training.groups.by_row)
    return groups, np.where(known[place] == numbers, place, len(known)), theirs

"""Answered rows: the training set of a fitted machine, with further normal rows and known outliers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..base.kernels import is_precomputed
from ..base.reading import Header
from ..base.training_set import TrainingSet
from ..core.arrays import Array, device, namespace, ones, to_numpy
from ..core.calibration import HeldOut, Judgement
from ..core.groups import Groups
from ..core.primal import PrimalModel
from .exact import Fit
from .parameters import is_matrix

if TYPE_CHECKING:
    from .kernel_machine import KernelMachine

__all__ = ["answered_set", "without_answers"]


def answered_set(machine: KernelMachine, rows: Array, outliers: NDArray[np.bool_]) -> TrainingSet:
    """The training set of a fitted machine and, beside it, rows that were answered: normal rows and `outliers`."""
    name = type(machine).__name__
    if outliers.any() and machine.known_outliers == "ignore":
        raise ValueError(f"{name}: y must not hold outliers in machines that ignore known outliers")
    training = _training_of(machine)
    xp = namespace(training.X)
    rows = xp.astype(rows, training.X.dtype)
    odd, normal = (
        xp.take(rows, xp.asarray(np.flatnonzero(some), device=device(rows)), axis=0) for some in (outliers, ~outliers)
    )
    return _with_normal(training, normal).with_further_outliers(odd)


def _training_of(machine: KernelMachine) -> TrainingSet:
    """The rows that the machine was fitted to, without answers or with those of earlier calls."""
    name, held_out, model = type(machine).__name__, machine.held_out_, machine.machine_.model
    scaled = model.equations.Z if isinstance(model, PrimalModel) and model.equations is not None else None
    scaled = scaled if isinstance(model, PrimalModel) else model.rows
    if held_out is None or scaled is None or is_precomputed(machine) or is_matrix(machine.variance):
        raise ValueError(
            f"{name}: learn_from needs a fit that keeps its training rows and their held-out losses: exact or of at "
            "most some thousand rows in memory, with threshold='held_out'; fit all rows again, with the outliers among "
            "them as outliers="
        )
    scaler, calibration, known = machine.scaler_, machine.calibration_, vars(machine).get("known_")
    answered: NDArray[np.bool_] | None = vars(machine).get("answered_")
    w = ones(scaled)
    if held_out.w is not None:
        w = held_out.w if answered is None else _put(held_out.w, w, answered)
    groups = held_out.groups
    if groups is not None and answered is not None:
        groups = _grown(groups, answered)
    lost = 0.0 if calibration is None else calibration.removed
    training = TrainingSet(
        scaler.inverse(scaled),
        w,
        Header.of(machine),
        groups,
        grouped=True,  # so that dependent rows are not warned about once more
        weighted=held_out.w is not None,
        kept=held_out.learnt,
        removed=0.0 if calibration is None else lost / (calibration.total - lost),
        answered=np.zeros(int(scaled.shape[0]), dtype=bool) if answered is None else answered,
    )
    if known is None:
        return training
    numbers = known.groups
    if groups is not None and numbers is not None:
        numbers = np.where(numbers < groups.count, numbers, -1)
    return replace(training, outliers=scaler.inverse(known.rows), outlier_weights=known.w, outlier_groups=numbers)


def _put(values: Array, others: Array, answered: NDArray[np.bool_]) -> Array:
    """`others`, with `values` for the rows that are no answers."""
    xp = namespace(others)
    place = np.maximum(np.cumsum(~answered) - 1, 0)
    found = xp.take(values, xp.asarray(place, device=device(others)))
    return xp.where(xp.asarray(answered, device=device(others)), others, found)


def _grown(groups: Groups, answered: NDArray[np.bool_]) -> Groups:
    """The groups of all rows, from those of the rows that are no answers; each answer is a group of its own."""
    numbers = np.empty(len(answered), dtype=np.intp)
    numbers[~answered] = groups.of_rows
    numbers[answered] = groups.count + np.arange(int(answered.sum()))
    return replace(groups, of_rows=numbers)


def _with_normal(training: TrainingSet, rows: Array) -> TrainingSet:
    """The training set with further normal rows, which are answers."""
    n, answered = int(rows.shape[0]), training.answered
    if not n or answered is None:
        return training
    xp, groups = namespace(rows), training.groups
    if groups is not None:
        numbers = np.concatenate([groups.of_rows, groups.count + np.arange(n)])
        groups = replace(groups, of_rows=numbers)
    return replace(
        training,
        X=xp.concat([training.X, rows]),
        w=xp.concat([training.w, ones(rows)]),
        groups=groups,
        answered=np.concatenate([answered, np.ones(n, dtype=bool)]),
    )


def without_answers(fit: Fit, answered: NDArray[np.bool_] | None) -> Fit:
    """The fit whose threshold and p-values come from the rows that are no answers.

    Answered rows were chosen because they are alarms. If they counted, the threshold would rise with every answer.
    """
    held_out = fit.judgement.held_out
    if answered is None or held_out is None:
        return fit
    xp = namespace(held_out.losses)
    rest = xp.asarray(np.flatnonzero(~answered), device=device(held_out.losses))
    groups = held_out.groups
    counted = HeldOut(
        xp.take(held_out.losses, rest),
        None if held_out.w is None else xp.take(held_out.w, rest),
        None if groups is None else replace(groups, of_rows=groups.of_rows[to_numpy(rest)]),
    )
    calibration = counted.calibration()
    return replace(fit, judgement=Judgement(calibration, calibration, counted))

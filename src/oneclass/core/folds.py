"""Held-out losses by folds of whole groups, for rows that arrive in chunks and groups spread over several chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, blocks, device, namespace
from .block import Block
from .groups import GroupCounts
from .leave_landmarks_out import Landmarks
from .machine import Machine, fit_moments
from .moments import Moments
from .plan import Plan, Survey
from .row_sample import SHARED

__all__ = ["FoldMachine", "fold_machines", "fold_moments", "held_out_by_folds"]


@dataclass(frozen=True)
class FoldMachine:
    """The machine fitted without the groups of one fold, and the landmarks that are rows of these groups."""

    machine: Machine
    landmarks: Landmarks | None

    def losses(self, X: Array, keys: NDArray[np.int64]) -> Array:
        """Return the loss of each row; `keys` are the groups. Landmarks of the row's own group are removed."""
        xp = namespace(X)
        parts = [self._losses(X[a:b, :], keys[a:b]) for a, b in blocks(X.shape[0], self.machine.model.width, X)]
        return xp.concat([xp.zeros(0, dtype=X.dtype, device=device(X)), *parts])

    def _losses(self, X: Array, keys: NDArray[np.int64]) -> Array:
        machine = self.machine
        Z = machine.plan.scaler(X)
        residuals, variance = machine.judge(Z)
        lost = self.landmarks and self.landmarks.withdrawn(keys, machine.model.features(Z)[:, None, :])
        if lost:
            residuals = residuals + lost.known[:, 0, :]
            if variance is not None:
                variance = variance + (lost.beyond[:, 0] - lost.explained[:, 0, 0]) / machine.plan.C
        return machine.loss(residuals, variance)


def fold_moments(plan: Plan, groups: GroupCounts, fold: int, block: Block) -> Moments:
    """Return the moments of the rows of a block whose groups are in one fold; all rows have weight one."""
    return plan.moments(_rows(block.X, groups.fold_of(block.group_keys) == fold), None)


def fold_machines(
    machine: Machine, survey: Survey, groups: GroupCounts, parts: list[Moments]
) -> tuple[FoldMachine, ...]:
    """Return the machine without each fold, from the machine of all rows and the moments of the folds."""
    plan = machine.plan
    sampled = survey.sample.groups
    owners = np.zeros(0, dtype=np.int64) if sampled is None else sampled[plan.nearest(survey.sample.rows)]
    owned = np.where(owners == SHARED, -1, groups.fold_of(owners))
    twins = []
    for k in range(len(parts)):
        twin = replace(fit_moments(plan, reduce(add, parts[:k] + parts[k + 1 :])), signal=machine.signal)
        twins.append(FoldMachine(twin, Landmarks.of(twin.model, owners, np.flatnonzero(owned == k))))
    return tuple(twins)


def held_out_by_folds(twins: tuple[FoldMachine, ...], groups: GroupCounts, block: Block) -> tuple[Array, Array]:
    """Return held-out losses and weights of the rows of a block, by the machines fitted without their fold.

    Rows of groups that `groups` does not keep are left out.
    """
    X, keys, xp = block.X, block.group_keys, namespace(block.X)
    w, fold = groups.weights(keys), groups.fold_of(keys)
    judged = [(w > 0) & (fold == k) for k in range(len(twins))]
    losses = [twin.losses(_rows(X, mine), keys[mine]) for twin, mine in zip(twins, judged, strict=True)]
    weights = np.concatenate([w[mine] for mine in judged])
    return xp.concat(losses), xp.asarray(weights, dtype=X.dtype, device=device(X))


def _rows(X: Array, chosen: NDArray[np.bool_]) -> Array:
    xp = namespace(X)
    return xp.take(X, xp.asarray(np.flatnonzero(chosen), device=device(X)), axis=0)

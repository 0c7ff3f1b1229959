"""Folds by subtraction: an approximated machine at every C, score, threshold and delta from one pass over the targets.

The moments of each fold's held-out targets are gathered once. A fold's training moments are those of all targets less
its own, so fitting it is one solve of the size of the features. Scaling, bandwidth, clusters and landmarks are chosen
once, on all targets, and thresholds are those of a sample of the fold's training targets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ..core.arrays import Array, namespace, ones, to_numpy
from ..core.solve import PrimalModel
from ..engines import Chunks
from ..estimators._approximate import Solved, choose_approximation, chunk_approximation, plan_through, solve_moments
from ..estimators._input import read_rows
from ..estimators._kernel_machine import KernelMachine

if TYPE_CHECKING:
    from ._evaluate import Fold

__all__ = ["MomentPath", "approximates", "partition_targets"]

Float = NDArray[np.float64]

#: Training targets of a fold that its threshold is put on.
_THRESHOLD_ROWS = 4096


def approximates(estimator: Any, X: Any) -> bool:
    """Whether the estimator would fit rows `X` with explicit features."""
    return isinstance(estimator, KernelMachine) and choose_approximation(estimator, X) is not None


def partition_targets(folds: Sequence[Fold]) -> bool:
    """Whether every fold trains on all targets but those that it holds out, the same ones in each."""
    sizes = {len(fold.train) + int(np.sum(fold.y == 1)) for fold in folds}
    held_out = sum(int(np.sum(fold.y == 1)) for fold in folds)
    return len(sizes) == 1 and held_out == next(iter(sizes))


class MomentPath:
    """A machine on the folds of a partition of the targets."""

    def __init__(self, machine: KernelMachine, folds: Sequence[Fold]) -> None:
        self.machine, self.folds = machine, folds
        seen: list[int] = []
        held_out = (_safe_indexing(fold.rows, np.flatnonzero(fold.y == 1)) for fold in folds)
        self._targets = [machine._checked_chunk(seen, part) for part in held_out]
        engine = Chunks(self._targets, lambda X: X)
        self.plan, _ = plan_through(machine, engine, chunk_approximation(machine))
        self._parts = [self.plan.moments(X, None) for X in self._targets]
        self._total = reduce(add, self._parts)

    def decisions(self, points: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int, Float, float]]:
        """Fold, point, decision values of the fold's rows and effective number of parameters, for every pair."""
        for k, fold in enumerate(self.folds):
            moments = self._total - self._parts[k]
            rows = self.machine._on_device(read_rows(self.machine, fold.rows, reset=False))
            known = self._threshold_rows(k)
            solved: dict[float, Solved] = {}
            for i, point in enumerate(points):
                self.machine.__dict__.update(point)
                self.machine._check_decision()
                C = self.machine.C_ = float(point["C"])
                if C not in solved:
                    solved[C] = solve_moments(self.machine, self.plan, moments)
                solved[C].put_into(self.machine)
                losses = self._known_losses(solved[C].model, known)
                threshold = self.machine._threshold(losses, ones(losses))
                yield k, i, to_numpy(threshold - self.machine._losses(rows)), solved[C].model.effective

    def _known_losses(self, model: PrimalModel, known: Array) -> Array:
        if self.machine.threshold in self.machine._held_out_rules:
            return self.machine._held_out_loss(
                self.plan.training_rows(model, known, None, uncertainty=self.machine._wants_variance)
            )
        return self.machine._losses(known)

    def _threshold_rows(self, k: int) -> Array:
        """An even spread of the targets that fold `k` trains on."""
        xp = namespace(self._targets[0])
        others = xp.concat([part for j, part in enumerate(self._targets) if j != k])
        return others[:: max(1, others.shape[0] // _THRESHOLD_ROWS), :]

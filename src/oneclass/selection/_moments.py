"""An approximated machine at every C, score, threshold and delta from one gathering of its training rows' moments."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, to_numpy
from ..engines import InMemory
from ..estimators._approximate import Solved, choose_approximation, decide, plan_through, solve_moments
from ..estimators._input import check_number, read_rows
from ..estimators._kernel_machine import KernelMachine

__all__ = ["MomentPath"]

Float = NDArray[np.float64]


class MomentPath:
    """A machine on training rows `X`, to judge other `rows`: step by step what `fit` does, each step once.

    Scaling, bandwidth, clusters and landmarks are chosen and moments gathered here; a solution serves its C, losses of
    the training rows their C and score.
    """

    def __init__(self, machine: KernelMachine, X: Any, rows: Any) -> None:
        self.machine, self._given, self._rows = machine, X, rows
        train = machine._on_device(read_rows(machine, X, reset=True, min_rows=2))
        approximation = choose_approximation(machine, train)
        if approximation is None:
            raise ValueError(f"{machine._name}: an exact fit has no moments")
        self._approximation, self._engine = approximation, InMemory(train, None)
        self._plan, self._survey = plan_through(machine, self._engine, approximation)
        self._rule = machine.C_
        self._moments = self._engine.total(self._plan.moments, "moments")
        self._solved: dict[Any, Solved] = {}
        self._losses: dict[tuple[Any, Any], tuple[dict[tuple[bool, bool], tuple[Array, Array]], Float]] = {}

    def again(self, params: dict[str, Any]) -> MomentPath:
        """The same rows with other values of parameters of the variance: other clusters, and so other moments."""
        self.machine.__dict__.update(params)
        return MomentPath(self.machine, self._given, self._rows)

    def decisions(self, params: dict[str, Any]) -> tuple[Float, float]:
        """Decision values of the rows, for values of the free parameters; those of a fit, so none is off."""
        machine, C = self.machine, params["C"]
        machine.__dict__.update(params)
        machine._check_decision()
        machine.C_ = self._rule if isinstance(C, str) else check_number(machine, "C", 0, inf)
        if C not in self._solved:
            self._solved[C] = solve_moments(machine, self._plan, self._moments)
        solved = self._solved[C]
        solved.put_into(machine)
        key = C, params.get("score")
        if key not in self._losses:
            self._losses[key] = {}, to_numpy(machine.score_samples(self._rows))
        known, scores = self._losses[key]
        decide(machine, self._engine, self._plan, self._survey, solved.model, self._approximation, known)
        return scores - machine.offset_, 0.0

    def complexity(self, C: Any) -> float:
        """Effective number of parameters: the sum of the training rows' leverages."""
        return self._solved[C].model.effective

"""Known outliers of a stream: rows that were labelled as anomalies, which raise the losses of rows like them.

The loss of a row is multiplied by ``exp(boost)``. The boost is what known outliers add to the loss in the kernel
machines (`core.known`), in units of the logarithm of the loss: 0 for rows unlike the known outliers. The boosts of the
rows that are kept are stored, so that their losses without known outliers can be restored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..core.arrays import ones
from ..core.known import COST_SHARE, MOST_ROWS, KnownOutliers, fit_codes
from ..core.stored import Floats, Whole
from .plan import held_out, renew
from .window import Mask, Memory, Numbers, Vector

if TYPE_CHECKING:
    from .state import Settings, State

__all__ = ["Anomalies", "boost_of", "learned", "raised", "renewed", "with_answers"]

#: Largest boost, so that factors stay in the range of floating-point numbers.
_MOST = 100.0


@dataclass(frozen=True)
class Anomalies:
    """Rows that were labelled as anomalies, with their numbers in the stream."""

    X: Annotated[Vector, Floats("_a? d")]
    number: Annotated[Numbers, Whole("_a?")]


def with_answers(state: State, numbers: Numbers, normal: Mask) -> State:
    """Return the state with the anomalies among these labelled rows, and without those now labelled as normal."""
    found = [rows[np.isin(rows.number, numbers[~normal])] for rows in (state.memory, state.pending)]
    X, number = np.concatenate([rows.X for rows in found]), np.concatenate([rows.number for rows in found])
    if (before := state.anomalies) is not None:
        kept = ~np.isin(before.number, numbers)
        X, number = np.concatenate([before.X[kept], X]), np.concatenate([before.number[kept], number])
    return state.but(anomalies=Anomalies(X[-MOST_ROWS:], number[-MOST_ROWS:]) if len(number) else None)


def learned(settings: Settings, state: State) -> State:
    """Return the state that has learned its anomalies as known outliers, beside the latest learned rows."""
    state = _without(state)
    kept = np.flatnonzero(state.memory.trust > 0)[-MOST_ROWS:]
    if state.anomalies is None or len(kept) < 2:
        return state
    plan, Z, w = state.plan, state.memory.Z[kept], state.weights(settings.forgetting)[kept]
    losses = held_out(settings, state, kept)
    if losses.min() < 0:  # logarithms, which cannot be multiplied
        return state
    rows = plan.scaler(state.anomalies.X)
    given = ones(rows)
    codes = fit_codes(plan.kernel, Z, w, rows, given, C=COST_SHARE * plan.C)[1]
    scores = codes.held_out[: len(kept)]
    known = KnownOutliers.of(rows, given, codes, losses, scores, w, normal=Z, groups=None)
    state = replace(state, known=known)
    boost, rest = np.empty(len(state.memory)), np.ones(len(state.memory), dtype=bool)
    rest[kept] = False
    boost[kept], boost[rest] = boost_of(known, scores), state.boost(state.memory.Z[rest])
    pending = state.boost(plan.scaler(state.pending.X))
    return replace(state, memory=_boosted(state.memory, boost), pending=_boosted(state.pending, pending))


def renewed(settings: Settings, state: State, *, drift: bool = True) -> State:
    """Return the state with a new plan, as `renew` does, under which the known outliers are learned again."""
    return learned(settings, renew(settings, _without(state), drift=drift))


def _without(state: State) -> State:
    """Return the state without known outliers."""
    if state.known is None:
        return state
    memory, pending = (_boosted(rows, np.zeros(len(rows))) for rows in (state.memory, state.pending))
    return replace(state, known=None, memory=memory, pending=pending)


def _boosted(rows: Memory, boost: Vector) -> Memory:
    """Return rows with other boosts of their losses."""
    return replace(rows, boost=boost, loss=raised(rows.loss, boost - rows.boost))


def boost_of(known: KnownOutliers, scores: Vector) -> Vector:
    """Return the boost of rows with these known scores."""
    return np.asarray(np.minimum(known.loss.spread * known.counted(scores), _MOST))


def raised(losses: Vector, boost: Vector) -> Vector:
    """Return losses that are multiplied by the exponential of a boost."""
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(losses * np.exp(boost), np.finfo(float).max))

"""Candidates of a pipeline, as candidates of its last step on rows that the steps before have prepared."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ..base.protocol import Estimator
from ._evaluate import Fold
from ._points import Params, identity

__all__ = ["Branch", "branches", "last_step"]


@dataclass(frozen=True)
class Branch:
    """Candidates that share the steps before the last one."""

    before: Pipeline | None
    estimator: Estimator
    members: dict[int, Params]  # numbers of candidates, and what they set of the last step

    def prepared(self, fold: Fold) -> Fold:
        """The fold as the last step is to see it: the steps before learn from the rows to train on."""
        if self.before is None:
            return fold
        before = clone(self.before)
        return fold._replace(train=before.fit_transform(fold.train), rows=before.transform(fold.rows))


def branches(estimator: Estimator, candidates: Sequence[Params]) -> list[Branch]:
    """The candidates by what they set of the steps before the last one; all in one if there are no steps."""
    if not isinstance(estimator, Pipeline):
        return [Branch(None, estimator, dict(enumerate(candidates)))]
    prefix = f"{estimator.steps[-1][0]}__"
    found: dict[Hashable, Branch] = {}
    for i, params in enumerate(candidates):
        others = {name: value for name, value in params.items() if not name.startswith(prefix)}
        key = frozenset((name, identity(value)) for name, value in others.items())
        if key not in found:
            pipe = clone(estimator).set_params(**clone(others, safe=False))
            found[key] = Branch(pipe[:-1] if len(pipe) > 1 else None, pipe[-1], {})
        found[key].members[i] = {name.removeprefix(prefix): params[name] for name in params if name not in others}
    return list(found.values())


def last_step(estimator: Estimator) -> tuple[str, Estimator]:
    """What the parameters of a pipeline's last step begin with, and the step; nothing, and the estimator, of others."""
    if not isinstance(estimator, Pipeline):
        return "", estimator
    name, step = estimator.steps[-1]
    return f"{name}__", step

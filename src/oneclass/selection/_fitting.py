"""Fit one candidate of a grid; groups of rows are passed on to estimators that take them."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from ..base.protocol import Estimator
from ..core.typing import Labels, Name, Rows

__all__ = ["Params", "fit_candidate", "group_arguments"]

#: The parameters that a candidate sets, by name.
Params = dict[str, Any]


def fit_candidate(
    estimator: Estimator, params: Params, rows: Rows, groups: Labels | None, segments: Labels | Name | None = None
) -> Any:
    """A clone of the estimator with these parameters, fitted to the rows."""
    model = clone(estimator).set_params(**clone(params, safe=False))
    return model.fit(rows, **group_arguments(model, groups), **group_arguments(model, segments, "segments"))


def group_arguments(estimator: Estimator, groups: Labels | Name | None, role: str = "groups") -> dict[str, Any]:
    """Keyword arguments that pass groups, or segments, to the `fit` of an estimator; none if it takes none.

    With scikit-learn's metadata routing, the estimator's request decides. Without it, they go to the parameter `role`
    of `fit`, or of the `fit` of the last step of a pipeline.
    """
    if groups is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        takes = role in get_routing_for_object(estimator).consumes("fit", [role])
        return {role: groups} if takes else {}
    if has_fit_parameter(estimator, role):
        return {role: groups}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{inner}": value for inner, value in group_arguments(last, groups, role).items()}
    return {}

"""Fit one candidate of a grid; groups of rows are passed on to estimators that take them."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from ..base.protocol import Estimator
from ..core.typing import Labels, Rows

__all__ = ["Params", "fit_candidate", "group_arguments"]

#: The parameters that a candidate sets, by name.
Params = dict[str, Any]


def fit_candidate(estimator: Estimator, params: Params, rows: Rows, groups: Labels | None) -> Any:
    """A clone of the estimator with these parameters, fitted to the rows."""
    model = clone(estimator).set_params(**clone(params, safe=False))
    return model.fit(rows, **group_arguments(model, groups))


def group_arguments(estimator: Estimator, groups: Labels | None) -> dict[str, Any]:
    """Keyword arguments that pass groups to the `fit` of an estimator; none if it takes no groups.

    With scikit-learn's metadata routing, the estimator's request decides. Without it, groups go to the parameter
    `groups` of `fit`, or of the `fit` of the last step of a pipeline.
    """
    if groups is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        takes = "groups" in get_routing_for_object(estimator).consumes("fit", ["groups"])
        return {"groups": groups} if takes else {}
    if has_fit_parameter(estimator, "groups"):
        return {"groups": groups}
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{inner}": value for inner, value in group_arguments(last, groups).items()}
    return {}

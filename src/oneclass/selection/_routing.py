"""How groups of rows reach whatever the search fits."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from ..base.protocol import Estimator
from ..core.typing import Labels

__all__ = ["group_arguments"]


def group_arguments(estimator: Estimator, groups: Labels | None) -> dict[str, Any]:
    """The arguments by which an estimator's `fit` takes groups: by scikit-learn's metadata routing, if that is on.

    Else by its own parameter, or that of the last step of a pipeline. An estimator that knows no groups gets none.
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

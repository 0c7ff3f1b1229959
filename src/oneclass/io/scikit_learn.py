"""Classes of scikit-learn that files may hold, and what their fits find.

Parameters of these classes, and what they learn, are plain values and arrays. scikit-learn's classes have no
annotations, so each has a class here from which `checking` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..core.stored import MAYBE, Floats, Names, Size, must

__all__ = ["STAND_INS", "check_steps"]

Column = Annotated[Array, Floats("d")]


@dataclass
class _Fitted:
    """Attributes of every scaler."""

    n_features_in_: Annotated[int, Size("d")]
    feature_names_in_: Annotated[NDArray[np.object_], Names("d"), MAYBE]
    n_samples_seen_: Annotated[float | Annotated[Array, Floats("d")], MAYBE]
    _sklearn_output_config: Annotated[dict[str, str], MAYBE]


@dataclass
class _MaxAbsScaler(_Fitted):
    max_abs_: Column
    scale_: Annotated[Array, Floats("d", above=0)]


@dataclass
class _MinMaxScaler(_Fitted):
    data_min_: Column
    data_max_: Column
    data_range_: Column
    min_: Column
    scale_: Column

    def __check__(self: Any) -> None:
        low, high = self.feature_range
        must(-np.inf < low < high < np.inf, "feature_range must be two numbers, the first below the second")


@dataclass
class _RobustScaler(_Fitted):
    center_: Column | None
    scale_: Column | None

    def __check__(self: Any) -> None:
        must(self.center_ is not None or not self.with_centering, "center_ must be known")
        must(self.scale_ is not None or not self.with_scaling, "scale_ must be known")


@dataclass
class _StandardScaler(_Fitted):
    mean_: Column | None
    var_: Column | None
    scale_: Column | None

    def __check__(self: Any) -> None:
        must(self.mean_ is not None or not self.with_mean, "mean_ must be known")
        must(self.scale_ is not None or not self.with_std, "scale_ must be known")


class _Pipeline:
    """A fit of a pipeline is that of its steps."""

    def __check__(self: Any) -> None:
        check_steps(self.steps)


def check_steps(steps: Any) -> None:
    """Refuse steps of a pipeline that it could not go through."""
    named = isinstance(steps, list) and all(isinstance(step, tuple) and len(step) == 2 for step in steps)
    must(named and len(steps) > 0, "steps must be a list of names and estimators")
    for name, step in steps[:-1]:
        must(step in (None, "passthrough") or hasattr(step, "transform"), f"step {name!r:.60} must transform rows")
    must(hasattr(steps[-1][1], "fit"), "the last step must be an estimator")
    must(all(isinstance(name, str) for name, _ in steps), "steps must have words as names")


#: Annotated classes by the names that the original classes have in files.
STAND_INS: dict[str, type] = {
    "sklearn.pipeline.Pipeline": _Pipeline,
    "sklearn.preprocessing.MaxAbsScaler": _MaxAbsScaler,
    "sklearn.preprocessing.MinMaxScaler": _MinMaxScaler,
    "sklearn.preprocessing.RobustScaler": _RobustScaler,
    "sklearn.preprocessing.StandardScaler": _StandardScaler,
}

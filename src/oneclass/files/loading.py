"""Reading models from files: nothing in them is run, and nothing is made that is not on the list of classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .. import baselines, machines, selection
from ..base.pipeline import OneClassPipeline
from ..base.saving import Saved
from ..baselines.models import MODELS
from ..core.approximation import Fourier, HiddenLayer, Nystrom
from ..core.calibration import Calibration, HeldOut
from ..core.column_summary import ColumnSummary
from ..core.embedding import Scatter, Structured, UserLaplacian
from ..core.features import FourierMap, LayerMap, NystromMap
from ..core.groups import Groups
from ..core.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed
from ..core.machine import Machine
from ..core.outliers import OutlierGenerator
from ..core.plan import Plan
from ..core.primal import Columns, Equations, PrimalModel
from ..core.recipe import Recipe, Variance
from ..core.scaling import Scaler
from ..core.solve import DualModel
from ..core.threshold import Decision, Ranks
from ..io.codec import decode, name_of
from ..io.container import read, refusal
from ..machines.kernel_machine import KernelMachine
from ..stream import Stream
from ..stream.values import VALUES as STREAM_VALUES
from ..tabular import Column, ColumnPlan, TableDetector
from ..tabular.codes import CategoryCode, DateCode, NumberCode

__all__ = ["CLASSES", "load"]

_VALUES: tuple[type, ...] = (
    Calibration,
    CategoryCode,
    Column,
    ColumnPlan,
    Columns,
    DateCode,
    Decision,
    DualModel,
    Equations,
    Fourier,
    FourierMap,
    Groups,
    HeldOut,
    HiddenLayer,
    Laplacian,
    LayerMap,
    Linear,
    Machine,
    Nystrom,
    NumberCode,
    NystromMap,
    OutlierGenerator,
    Plan,
    Polynomial,
    Precomputed,
    PrimalModel,
    RBF,
    Ranks,
    Recipe,
    Scaler,
    Scatter,
    ColumnSummary,
    Structured,
    UserLaplacian,
    Variance,
    *MODELS,
    *STREAM_VALUES,
)
_ESTIMATORS: tuple[type, ...] = (
    *(getattr(machines, name) for name in machines.__all__),
    *(getattr(baselines, name) for name in baselines.__all__),
    OneClassPipeline,
    Stream,
    selection.OneClassSearchCV,
    selection.OneClassKFold,
    selection.OneClassGroupKFold,
    selection.RepeatedOneClassKFold,
    TableDetector,
    *(Pipeline, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler),
)

#: Classes by their names in files. A class that moves or is renamed keeps its old names here.
CLASSES: dict[str, type] = {name_of(kind): kind for kind in (*_VALUES, *_ESTIMATORS)}
CLASSES |= {
    old: CLASSES[new]
    for old, new in {
        "baselines._neighbours.Neighbours": "baselines._neighbors.Neighbors",
        "baselines.multivariate_parzen.Parzen": "baselines.parzen.Parzen",
        "baselines.multivariate_parzen._Mixture": "baselines.parzen._Mixture",
        "baselines.parzen.NaiveParzen": "baselines.naive_parzen.NaiveParzen",
        "baselines.parzen._Densities": "baselines.naive_parzen._Densities",
        "baselines.parzen._Density": "baselines.naive_parzen._Density",
        "contract.pipeline.OneClassPipeline": "base.pipeline.OneClassPipeline",
        "core.seen.Seen": "core.column_summary.ColumnSummary",
        "core.solve.Columns": "core.primal.Columns",
        "core.solve.PrimalModel": "core.primal.PrimalModel",
        "stream.fitting.Fitting": "stream.plan_check.Fitting",
        "stream.patience.Patience": "stream.policy.Patience",
    }.items()
}


#: Names of version 0.1, for parameters, fields and fitted attributes.
_RENAMED = {
    "centring": "centering",
    "labels_": "cluster_labels_",
    "kept_columns_": "_kept_columns_",
    "seen_": "column_summary_",
}
#: Names that only some classes changed.
_RENAMED_OF: dict[type, dict[str, str]] = {
    Stream: {"machine": "estimator", "detector_": "change_detector_"},
    TableDetector: {"detector": "estimator", "detector_": "estimator_"},
}
#: Parameters and fitted attributes of version 0.1 that are no more.
_DROPPED: dict[type, tuple[str, ...]] = {
    selection.OneClassSearchCV: ("complexity", "criterion_", "n_outliers", "random_state")
}
#: Values of version 0.1, by the name of the parameter or field.
_REPLACED = {
    "criterion": {"auto": "labels"},
    "scale": {"tamed": "robust"},
    "scaling": {"tamed": "robust"},
    "threshold": {"loo": "held_out"},
    "rule": {"loo": "held_out"},
}


def _upgraded(kind: type, parts: dict[str, Any]) -> dict[str, Any]:
    """Parameters, fields and fitted attributes of version 0.1 as those of this version."""
    names = _RENAMED | _RENAMED_OF.get(kind, {})
    parts = {names.get(name, name): value for name, value in parts.items() if name not in _DROPPED.get(kind, ())}
    for name, values in _REPLACED.items():
        if isinstance(parts.get(name), str):
            parts[name] = values.get(parts[name], parts[name])
    if issubclass(kind, machines.VAAKELM | machines.VOCKELM) and "variance_weight" in parts:
        # The weights of error, variance and norm: only their ratios matter.
        weight = parts.pop("variance_weight") or 1.0
        parts |= {name: parts[name] / weight for name in ("C", "lam") if not isinstance(parts[name], str)}
    if kind is baselines.SVDD and "support_" in parts:
        # Numbers among the rows that the user gave, which the model did not have.
        parts["model_"] = replace(parts["model_"], support=parts.pop("support_"))
    if issubclass(kind, KernelMachine):
        parts.pop("stream_", None)  # of `partial_fit`, which machines had
    if issubclass(kind, machines.AAKELM | machines.OCKELM) and "lam" in parts:
        lam = parts.pop("lam")
        parts |= {} if isinstance(parts["C"], str) else {"C": parts["C"] / lam}
    return parts


def load(path: str | Path, *, mmap: bool = False, device: str | None = None) -> Any:
    """A fitted estimator from a file that its `save` has written.

    Files that are truncated, altered, of another kind or from a newer version are refused with `ModelFileError`, and so
    are those that hold what their classes would not. No file, whoever wrote it, makes this run code or take more memory
    than the file is long, but for its header, which takes up to 250 MB.

    Parameters
    ----------
    path : str or Path
        The file.
    mmap : bool, default=False
        Whether to leave NumPy arrays on the disk, where processes share them, until they are needed. The file must
        then stay as it is while the estimator is in use.
    device : str, optional
        Where arrays of PyTorch go, if not where they were when the estimator was saved: ``"cpu"``, ``"cuda:1"``, or
        ``"host"`` for arrays of NumPy, which need no PyTorch.

    Returns
    -------
    estimator
        The estimator; its answers are those of the one that was saved, bit by bit, on the same machine and versions of
        NumPy and its BLAS.

    Examples
    --------
    >>> import numpy as np, oneclass, tempfile
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     oneclass.VAAKELM().fit(X).save(f"{folder}/model.oneclass")
    ...     model = oneclass.load(f"{folder}/model.oneclass")
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """
    header, arrays = read(path, mapped=mmap)
    try:
        estimator = decode(header, arrays, CLASSES, device=device, upgrade=_upgraded)
        if not isinstance(estimator, Saved):
            raise ValueError(f"it holds a {type(estimator).__name__}, which is no estimator")
        check_is_fitted(estimator)
    except (AttributeError, TypeError, ValueError) as error:
        raise refusal(path, f"cannot be read: {error}") from None
    return estimator

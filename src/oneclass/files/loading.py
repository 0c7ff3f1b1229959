"""Loading of model files. No code from a file is run, and only the classes listed here are created."""

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
from ..baselines.calibrated import Calibrated
from ..baselines.models import MODELS
from ..core.approximation import Fourier, HiddenLayer, Nystrom
from ..core.calibration import Calibration, HeldOut
from ..core.column_summary import ColumnSummary
from ..core.embedding import Scatter, Structured, UserLaplacian
from ..core.features import FourierMap, LayerMap, NystromMap
from ..core.groups import Groups
from ..core.hold_out import CrossRanks
from ..core.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed
from ..core.known import KnownOutliers, Standard
from ..core.loss import Measures
from ..core.machine import Machine
from ..core.moments import Moments
from ..core.outliers import OutlierGenerator
from ..core.plan import Plan
from ..core.primal import Columns, Equations, PrimalModel
from ..core.recipe import Recipe, Variance
from ..core.scaling import Scaler
from ..core.segments import Segments
from ..core.solve import DualModel
from ..core.threshold import Decision, Ranks
from ..core.training_keys import TrainingKeys
from ..io.codec import decode, name_of
from ..io.container import read, refusal
from ..machines.kernel_machine import KernelMachine
from ..stream import Event, Martingale, Moved, Patience, Stream
from ..stream.events import Bets
from ..stream.known import Anomalies
from ..stream.plan import Fitting
from ..stream.reference import Reference
from ..stream.state import Settings, State, Trial
from ..stream.window import Forgetting, Memory
from ..tabular import Column, ColumnPlan, TableDetector
from ..tabular.codes import CategoryCode, DateCode, NumberCode, OrdinalCode
from ..tabular.notation import Days, Durations, Figures, TimesOfDay

__all__ = ["CLASSES", "load"]

_VALUES: tuple[type, ...] = (
    Anomalies,
    Bets,
    Calibration,
    CategoryCode,
    Column,
    ColumnPlan,
    Columns,
    CrossRanks,
    DateCode,
    Days,
    Decision,
    DualModel,
    Durations,
    Equations,
    Event,
    Figures,
    Fitting,
    Forgetting,
    Fourier,
    FourierMap,
    Groups,
    HeldOut,
    HiddenLayer,
    KnownOutliers,
    Laplacian,
    LayerMap,
    Linear,
    Machine,
    Martingale,
    Memory,
    Moments,
    Moved,
    Nystrom,
    NumberCode,
    NystromMap,
    OrdinalCode,
    OutlierGenerator,
    Patience,
    Plan,
    Polynomial,
    Precomputed,
    PrimalModel,
    RBF,
    Ranks,
    Recipe,
    Reference,
    Scaler,
    Scatter,
    Segments,
    Settings,
    Standard,
    State,
    Measures,
    ColumnSummary,
    TrainingKeys,
    Structured,
    TimesOfDay,
    Trial,
    UserLaplacian,
    Variance,
    *MODELS,
)
_ESTIMATORS: tuple[type, ...] = (
    *(getattr(machines, name) for name in machines.__all__),
    *(getattr(baselines, name) for name in baselines.__all__),
    Calibrated,
    OneClassPipeline,
    Stream,
    selection.OneClassSearchCV,
    selection.OneClassKFold,
    selection.OneClassGroupKFold,
    selection.RepeatedOneClassKFold,
    TableDetector,
    *(Pipeline, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler),
)

#: Classes by their names in files. Old names of classes that were moved or renamed stay here.
CLASSES: dict[str, type] = {name_of(kind): kind for kind in (*_VALUES, *_ESTIMATORS)}
CLASSES |= {
    old: CLASSES[new]
    for old, new in {
        "baselines._neighbours.Neighbours": "baselines._neighbors.Neighbors",
        "baselines.knn._Neighbourhood": "baselines.knn._Neighborhood",
        "baselines.multivariate_parzen.Parzen": "baselines.parzen.Parzen",
        "baselines.multivariate_parzen._Mixture": "baselines.parzen._Mixture",
        "baselines.parzen.NaiveParzen": "baselines.naive_parzen.NaiveParzen",
        "baselines.parzen._Densities": "baselines.naive_parzen._Densities",
        "baselines.parzen._Density": "baselines.naive_parzen._Density",
        "contract.pipeline.OneClassPipeline": "base.pipeline.OneClassPipeline",
        "core.seen.Seen": "core.column_summary.ColumnSummary",
        "core.solve.Columns": "core.primal.Columns",
        "core.solve.PrimalModel": "core.primal.PrimalModel",
        "stream.fitting.Fitting": "stream.plan.Fitting",
        "stream.forgetting.Forgetting": "stream.window.Forgetting",
        "stream.martingale.Bets": "stream.events.Bets",
        "stream.martingale.Martingale": "stream.events.Martingale",
        "stream.memory.Memory": "stream.window.Memory",
        "stream.patience.Patience": "stream.policy.Patience",
        "stream.plan_check.Fitting": "stream.plan.Fitting",
        "stream.stream.Stream": "stream.estimator.Stream",
    }.items()
}


#: New names of parameters, fields and fitted attributes, by their names in version 0.1.
_RENAMED = {
    "centring": "centering",
    "labels_": "cluster_labels_",
    "kept_columns_": "_kept_columns_",
    "seen_": "column_summary_",
    "tamed": "asinh",
}
#: As above, for renamings in single classes.
_RENAMED_OF: dict[type, dict[str, str]] = {
    Stream: {"machine": "estimator", "detector_": "change_detector_"},
    TableDetector: {"detector": "estimator", "detector_": "estimator_"},
}
#: Parameters, fields and fitted attributes of version 0.1, or of later files, that were removed.
_DROPPED: dict[type, tuple[str, ...]] = {
    selection.OneClassSearchCV: ("complexity", "criterion_", "n_outliers", "random_state"),
    State: ("alone", "since"),
    Trial: ("odds",),
}
#: New values, by the name of the parameter or field and the value in version 0.1.
_REPLACED = {
    "criterion": {"auto": "labels"},
    "scale": {"tamed": "robust"},
    "scaling": {"tamed": "robust"},
    "threshold": {"loo": "held_out"},
    "rule": {"loo": "held_out"},
}


def _upgraded(kind: type, parts: dict[str, Any]) -> dict[str, Any]:
    """Convert parameters, fields and fitted attributes of version 0.1 to this version."""
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
        parts.pop("stream_", None)  # state of `partial_fit`, which kernel machines had in version 0.1
    if issubclass(kind, machines.AAKELM | machines.OCKELM) and "lam" in parts:
        lam = parts.pop("lam")
        parts |= {} if isinstance(parts["C"], str) else {"C": parts["C"] / lam}
    return parts


def load(path: str | Path, *, mmap: bool = False, device: str | None = None) -> Any:
    """Load a fitted estimator from a file that its method `save` wrote.

    Files that are truncated, altered, in another format or from a newer version raise `ModelFileError`, and so do files
    whose content does not fit the classes that it names. No code from the file is run, so a file from an unknown source
    is safe to load. Loading takes no more memory than the size of the file, plus up to 250 MB for its header.

    Parameters
    ----------
    path : str or Path
        The file.
    mmap : bool, default=False
        Whether to memory-map NumPy arrays, which several processes can share. The file must then not change while the
        estimator is in use.
    device : str, optional
        Device for PyTorch arrays; by default the device that they were on when the estimator was saved. Examples are
        ``"cpu"`` and ``"cuda:1"``. With ``"host"``, they become NumPy arrays, which need no PyTorch.

    Returns
    -------
    estimator
        The estimator. With the same hardware and the same versions of NumPy and its BLAS, its results equal those of
        the saved estimator bit by bit.

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
            raise ValueError(f"it holds a {type(estimator).__name__}, which is not an estimator")
        check_is_fitted(estimator)
    except (AttributeError, TypeError, ValueError) as error:
        raise refusal(path, f"cannot be read: {error}") from None
    return estimator

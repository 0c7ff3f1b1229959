"""`to_onnx`: export of a fitted classifier as an ONNX graph that computes scores, p-values and labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ...base.classifier import OneClassClassifier
from ...base.protocol import Detector
from ...core.arrays import library_of, to_numpy
from ...core.calibration import Calibration
from ...core.scaling import Scaler
from ...selection import OneClassSearchCV
from ...tabular import ColumnPlan, TableDetector
from . import table_graph as tables
from .kernels import scaled
from .losses import loss
from .tensor import Graph, Tensor, where

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["to_onnx"]

#: Versions of the ONNX operators, of the ONNX-ML operators and of the file format, which runtimes of 2023 support.
_OPSET, _ML, _IR = 18, 3, 8

#: Upper bound on the branches of each step in the search among the held-out losses.
_BRANCHES = 64


def to_onnx(model: Detector, *, dtype: str | None = None) -> ModelProto:
    """Export a fitted classifier as an ONNX graph that computes scores, p-values and labels without this library.

    The graph has the input ``rows`` and the outputs ``score``, ``p_value`` (where the fit has held-out losses) and
    ``label``. All of them but the label, a 64-bit integer, are of the same type; inside, the graph computes in double
    precision. A row that holds NaN or infinity, which the library refuses, is an outlier with the lowest score.

    Parameters
    ----------
    model : classifier, pipeline, search or TableDetector
        A fitted kernel machine, exact or approximated; PCADetector, KMeansDetector, KCentersDetector, KNNDetector,
        NaiveParzen, AutoencoderDetector, OCSVM or SVDD; or one of them inside searches, a TableDetector, or pipelines
        whose other steps are MaxAbsScaler, MinMaxScaler, RobustScaler and StandardScaler. The graph of a table has an
        input for each column that its plan uses, of shape (n, 1): numbers, with NaN for a missing value (flags are 0
        and 1), or words, with the empty string for a missing value. Dates are refused, and so are column names that
        inputs cannot have: empty ones, two that are the same as text, those of the outputs, and those that begin with
        a slash.
    dtype : {"float32", "float64"}, optional
        Type of rows, scores and p-values. By default it is the type of the classifier's own scores: that of the
        training rows for a kernel machine, float64 for the other classifiers and for a table.

    Returns
    -------
    onnx.ModelProto
        The graph: ``onnx.save(graph, path)`` writes it, ``graph.SerializeToString()`` is what onnxruntime reads.

    Examples
    --------
    >>> import numpy as np, onnxruntime, oneclass
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> graph = oneclass.to_onnx(oneclass.VAAKELM().fit(X))
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> session.run(["label"], {"rows": np.array([[0.0, 0.0], [6.0, 6.0]])})[0].tolist()
    [1, -1]
    """
    onnx = _onnx()
    *before, classifier = _steps(model)
    name = type(classifier).__name__
    if not isinstance(classifier, OneClassClassifier):
        raise TypeError(f"to_onnx: model must be a classifier of oneclass, got {name}")
    check_is_fitted(classifier)
    if getattr(classifier, "segments_", None) is not None:
        raise NotImplementedError(
            f"{name}: thresholds by segments cannot be written as an ONNX graph; fit without them"
        )
    if vars(classifier).get("cross_") is not None:
        raise NotImplementedError(
            f"{name}: a fit with hold_out='plus', of several models, cannot be written as an ONNX graph"
        )
    plan = before.pop(0) if before and isinstance(before[0], ColumnPlan) else None
    scaler: Scaler = classifier.scaler_
    known = next(str(to_numpy(x).dtype) for x in vars(scaler).values() if library_of(x)) if dtype is None else dtype
    if known not in ("float32", "float64"):
        raise ValueError(f"to_onnx: dtype must be 'float32' or 'float64', got {dtype!r}")
    graph = Graph(onnx.helper)
    kind = np.dtype(known)
    width = classifier.n_features_in_ if plan is None else 1
    taken = {"rows": kind} if plan is None else tables.inputs(plan, kind)
    rows = Tensor(graph, "rows").cast(np.float64) if plan is None else tables.encoded(plan, graph)
    for step in before:
        rows = _transformed(step, rows)
    try:
        losses = loss(classifier, scaled(scaler, rows, kind))
    except NotImplementedError as error:
        raise NotImplementedError(f"{name}: {error} cannot be written as an ONNX graph") from None
    outputs = _outputs(classifier, rows, losses, kind.type)
    if both := [column for column in taken if column in outputs]:
        raise ValueError(f"to_onnx: a column must not be called {both[0]!r}, as an output of the graph is")
    return _model(onnx, model, classifier, graph, taken, outputs, width, kind)


def _steps(model: Any) -> Iterator[Any]:
    """Column plans and transformers from the outermost wrapper to the classifier, and last the classifier."""
    if isinstance(model, OneClassSearchCV):
        check_is_fitted(model, "best_estimator_")
        yield from _steps(model.best_estimator_)
    elif isinstance(model, TableDetector):
        check_is_fitted(model)
        yield model.plan_
        yield from _steps(model.estimator_)
    elif isinstance(model, Pipeline):
        check_is_fitted(model)
        yield from (step for _, step in model.steps[:-1] if step not in (None, "passthrough"))
        yield from _steps(model.steps[-1][1])
    else:
        yield model


def _transformed(step: Any, rows: Tensor) -> Tensor:
    """Rows after a fitted step of a pipeline."""
    if isinstance(step, MinMaxScaler) and not step.clip:
        return rows * step.scale_ + step.min_
    if not isinstance(step, MaxAbsScaler | RobustScaler | StandardScaler):
        what = "a TableDetector behind other steps" if isinstance(step, ColumnPlan) else f"the step {step}"
        raise NotImplementedError(
            f"to_onnx: {what} cannot be written as an ONNX graph; the steps before a classifier may be MaxAbsScaler, "
            "MinMaxScaler without clip, RobustScaler and StandardScaler"
        )
    centre = getattr(step, "center_", getattr(step, "mean_", None))
    if centre is not None and getattr(step, "with_mean", True):
        rows = rows - centre
    return rows if step.scale_ is None else rows / step.scale_


def _outputs(classifier: OneClassClassifier, rows: Tensor, losses: Tensor, kind: type) -> dict[str, Tensor]:
    """Scores, p-values and labels by name; a row that holds NaN or infinity has the largest loss and is an outlier."""
    known = (abs(rows) < np.inf).cast(np.int64).reduced("ReduceMin", 1) > 0  # NaN is not less than infinity
    losses = where(known, losses, np.inf)
    losses = where(abs(losses) < np.inf, losses, np.finfo(np.float64).max)
    bound = float(np.finfo(kind).max)
    found = {"score": (-losses).do("Clip", -bound, bound).cast(kind)}
    if classifier.calibration_ is not None:
        found["p_value"] = _p_value(classifier.calibration_, losses).cast(kind)
    return found | {"label": where(known, where(-losses >= classifier.offset_, 1, -1), -1)}


def _p_value(calibration: Calibration, losses: Tensor) -> Tensor:
    """P-values by a search among the held-out losses, with at most `_BRANCHES` branches in each step."""
    limits = np.asarray(to_numpy(calibration.limits), dtype=np.float64)
    n = len(limits)
    steps, branches = next((k, b) for k in count(1) if (b := int(np.ceil((n + 1) ** (1 / k)))) <= _BRANCHES)
    padded = np.concatenate([limits, np.full(branches**steps - n, np.inf)])
    place = None
    for k in range(steps):
        borders = padded.reshape(branches**k, branches, -1)[:, :-1, -1]
        here = borders if place is None else losses.graph.apply("Gather", borders, place)
        beyond = (losses.expanded(1) > here).cast(np.int64).sum()
        place = beyond if place is None else place * branches + beyond
    # The counts have the type of the held-out losses, as in `Calibration`.
    below = np.concatenate([[0], to_numpy(calibration.reached)]).astype(to_numpy(calibration.reached).dtype)
    first = 1 + calibration.removed
    return losses.graph.apply("Gather", (first + (below[-1] - below)) / (first + below[-1]), place)


def _model(
    onnx: ModuleType,
    model: Detector,
    classifier: OneClassClassifier,
    graph: Graph,
    taken: dict[str, np.dtype[np.generic]],
    outputs: dict[str, Tensor],
    width: int,
    kind: np.dtype[np.generic],
) -> ModelProto:
    helper = onnx.helper
    for name, tensor in outputs.items():
        graph.nodes.append(helper.make_node("Identity", [tensor.name], [name]))
    own, whole = helper.np_dtype_to_tensor_dtype(kind), helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))
    made = helper.make_graph(
        graph.nodes,
        type(classifier).__name__,
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kind), ["n", width])
            for name, kind in taken.items()
        ],
        [helper.make_tensor_value_info(name, whole if name == "label" else own, ["n"]) for name in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in graph.constants],
        doc_string="score: larger is more normal; p_value: of 'this row is normal'; label: +1 normal, -1 outlier",
    )
    proto = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML)],
        ir_version=_IR,
        producer_name="oneclass",
    )
    known = {"classifier": type(classifier).__name__, "delta": classifier.delta, "offset": classifier.offset_}
    names = getattr(model, "feature_names_in_", getattr(classifier, "feature_names_in_", None))
    if names is not None:
        known["feature_names"] = list(names)
    helper.set_model_props(proto, {name: json.dumps(value) for name, value in known.items()})
    return proto


def _onnx() -> ModuleType:
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'oneclass[onnx]'") from error
    return onnx

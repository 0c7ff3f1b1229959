"""Losses of the classifiers as ONNX graphs, for scaled rows."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ...baselines import (
    OCSVM,
    SVDD,
    AutoencoderDetector,
    KCentersDetector,
    KMeansDetector,
    KNNDetector,
    NaiveParzen,
    Parzen,
    PCADetector,
)
from ...core.arrays import Array
from ...core.known import KnownOutliers
from ...core.machine import Machine
from ...core.primal import PrimalModel
from ...core.solve import DualModel
from ...machines import AAELM, AAKELM, OCELM, OCKELM, VAAKELM, VOCKELM
from ...machines.exact import prepare
from ...machines.kernel_machine import KernelMachine
from .kernels import diagonal, features, outside, product_squares, similarity, solved_squares
from .tensor import Tensor, maximum, where

__all__ = ["loss"]


@singledispatch
def loss(classifier: object, Z: Tensor) -> Tensor:
    """Loss of each row."""
    raise NotImplementedError("this classifier")


# The kernel machines.


@loss.register(OCKELM)
@loss.register(VOCKELM)
@loss.register(AAKELM)
@loss.register(VAAKELM)
@loss.register(OCELM)
@loss.register(AAELM)
def _(classifier: KernelMachine, Z: Tensor) -> Tensor:
    machine = classifier.machine_
    prepare(machine, machine.model.weights)
    F = _features(machine.model, Z)
    own, known = _of_machine(machine, Z, F), vars(classifier).get("known_")
    return own if known is None else _with_known(known, machine, Z, F, own)


def _with_known(known: KnownOutliers, machine: Machine, Z: Tensor, F: Tensor, own: Tensor) -> Tensor:
    """The loss with known outliers, from that of the machine."""
    kernel = machine.plan.kernel
    if known.normal is not None:
        F = similarity(kernel, Z, known.normal)
    k = known.rows.shape[0]
    score = _weighed(F, known.alpha[:-k]) + _weighed(similarity(kernel, Z, known.rows), known.alpha[-k:])
    score = (score - known.score.centre) / known.score.spread
    own = own if known.loss.floor is None else (own + known.loss.floor).do("Log")
    return (own - known.loss.centre) / known.loss.spread + maximum(score, 0.0) * known.share


def _of_machine(machine: Machine, Z: Tensor, F: Tensor) -> Tensor:
    """The loss of a machine without known outliers."""
    recipe = machine.plan.recipe
    residuals = (Z if recipe.constant is None else recipe.constant) - F @ machine.model.weights
    if recipe.loss == "absolute":
        return abs(residuals).sum()
    if not recipe.needs_variance:
        return residuals.sum_squares()
    variance = _uncertainty(machine.model, Z, F) / machine.plan.C
    if recipe.loss == "uncertainty":
        return variance
    if (measures := machine.plan.measures) is not None:
        error = (residuals / measures.squares**0.5).sum_squares() / measures.error
        uncertain = (variance / measures.variance) ** measures.power
        return maximum(error, uncertain)
    return residuals.sum_squares() + variance * (machine.model.weights.shape[1] * machine.signal)


def _features(model: DualModel | PrimalModel, Z: Tensor) -> Tensor:
    return similarity(model.kernel, Z, model.rows) if isinstance(model, DualModel) else features(model.map, Z)


def _uncertainty(model: DualModel | PrimalModel, Z: Tensor, F: Tensor) -> Tensor:
    if isinstance(model, DualModel):
        explained, kernel, rows = solved_squares(F, model.factored), model.kernel, model.rows
    elif model.known is None:
        return solved_squares(F, model.factored) + outside(model.map, Z, F) / model.ridge
    else:
        explained, map = product_squares(F, model.known), model.map
        kernel, rows = map.kernel, map.landmarks  # type: ignore[union-attr]
    return maximum(diagonal(kernel, Z, rows.shape[1]) - explained, 0.0) / model.ridge


# Support vectors.


@loss.register
def _(classifier: OCSVM, Z: Tensor) -> Tensor:
    model = classifier.model_
    return model.rho - _weighed(similarity(model.kernel, Z, model.support_vectors), model.dual_coef)


@loss.register
def _(classifier: SVDD, Z: Tensor) -> Tensor:
    model = classifier.model_
    similar = _weighed(similarity(model.kernel, Z, model.support_vectors), 2 * model.dual_coef)
    return diagonal(model.kernel, Z, model.support_vectors.shape[1]) - similar + model.center


def _weighed(similar: Tensor, coefficients: Array) -> Tensor:
    """Weighted sums over the support vectors. The weights are a matrix, because a vector fails for zero rows."""
    return (similar @ coefficients[:, None]).sum(axis=1)


# Distances. Differences that rounding can cause count as 0.


def _rounding(classifier: KMeansDetector | KCentersDetector | KNNDetector | PCADetector, Z: Tensor) -> Tensor:
    rounding = classifier.model_.rounding
    return (abs(Z) + rounding.extent) * rounding.unit


def _beyond(gaps: Tensor, rounding: Tensor) -> Tensor:
    return where(abs(gaps) > rounding, gaps, 0.0)


def _squared_distances(Z: Tensor, rows: Array) -> Tensor:
    return (Z.expanded(1) - rows[None]).sum_squares(2)


def _to_nearest_center(classifier: KMeansDetector | KCentersDetector, Z: Tensor, roundings: float) -> Tensor:
    centers = classifier.model_.cluster_centers
    nearest = _squared_distances(Z, centers).do("ArgMin", axis=1, keepdims=0)
    gaps = Z - Z.graph.apply("Gather", centers, nearest)
    return _beyond(gaps, _rounding(classifier, Z) * roundings).sum_squares()


@loss.register
def _(classifier: KMeansDetector, Z: Tensor) -> Tensor:
    return _to_nearest_center(classifier, Z, float(classifier.model_.n_rows))


@loss.register
def _(classifier: KCentersDetector, Z: Tensor) -> Tensor:
    return _to_nearest_center(classifier, Z, 1.0)


@loss.register
def _(classifier: KNNDetector, Z: Tensor) -> Tensor:
    model = classifier.model_
    graph = Z.graph
    D = _squared_distances(Z, model.rows)
    nearest = graph.results(2, "TopK", D, [model.n_neighbors], axis=1, largest=0, sorted=1)[1]
    if model.method == "kappa":
        nearest = nearest.do("Slice", [-1], [np.iinfo(np.int64).max], [1])
    gaps = Z.expanded(1) - graph.apply("Gather", model.rows, nearest)
    gaps = _beyond(gaps, _rounding(classifier, Z).expanded(1))
    if model.method == "delta":
        return gaps.reduced("ReduceMean", 1).sum_squares()
    return gaps.sum_squares(2).reduced("ReduceMean", 1)


@loss.register
def _(classifier: PCADetector, Z: Tensor) -> Tensor:
    model = classifier.model_
    components, directions = model.components, np.abs(model.components)
    centred = Z - model.mean
    coordinates = centred @ components.T
    own = _rounding(classifier, Z)
    rounding = own + own @ (directions.T @ directions) + _size(centred, components.shape[1]) * model.rounding.unit
    if len(components):
        spreads = _size(coordinates / model.spreads, len(components))
        rounding = rounding + spreads * model.rounding_off_the_plane(model.farthest)
    return _beyond(centred - coordinates @ components, rounding).sum_squares()


def _size(rows: Tensor, columns: int) -> Tensor:
    """An upper bound on the Euclidean norm of each row, as a column."""
    return abs(rows).reduced("ReduceMax", 1, keep=True) * np.sqrt(columns)


# Densities and networks.


@loss.register
def _(classifier: NaiveParzen, Z: Tensor) -> Tensor:
    model = classifier.model_
    densities = model.densities
    longest = max(len(density.points) for density in densities)
    points, logs = np.zeros((len(densities), longest)), np.full((len(densities), longest), -np.inf)
    for density, place, log in zip(densities, points, logs, strict=True):
        place[: len(density.points)], log[: len(density.points)] = density.points, np.log(density.counts)
    squares = np.array([-0.5 / density.width**2 for density in densities])[:, None]
    gaps = Z.expanded(2) - points
    exponents = maximum(gaps * gaps * squares + logs, -np.finfo(float).max)
    peaks = exponents.reduced("ReduceMax", 2, keep=True)
    sums = (exponents - peaks).do("Exp").sum(2)
    norms = [np.log(density.counts.sum() * density.width * np.sqrt(2 * np.pi)) for density in densities]
    return -(peaks.do("Squeeze", [2]) + sums.do("Log") - np.array(norms)).sum()


@loss.register
def _(classifier: Parzen, Z: Tensor) -> Tensor:
    model = classifier.model_
    U = Z if model.whitening is None else Z @ model.whitening
    exponents = maximum(_squared_distances(U, model.rows) * (-0.5 / model.width**2), -np.finfo(float).max)
    peaks = exponents.reduced("ReduceMax", 1, keep=True)
    sums = (exponents - peaks).do("Exp").sum()
    return -(peaks.do("Squeeze", [1]) + sums.do("Log")) + model.log_norm


@loss.register
def _(classifier: AutoencoderDetector, Z: Tensor) -> Tensor:
    model = classifier.model_
    operator = {"tanh": "Tanh", "relu": "Relu", "logistic": "Sigmoid", "identity": "Identity"}[model.activation]
    hidden = Z
    for coefs, intercepts in zip(model.coefs[:-1], model.intercepts[:-1], strict=True):
        hidden = (hidden @ coefs + intercepts).do(operator)
    return (Z - (hidden @ model.coefs[-1] + model.intercepts[-1])).sum_squares()

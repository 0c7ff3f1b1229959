"""Classifiers by the names that the command line gives them."""

from __future__ import annotations

from importlib import import_module
from inspect import isclass, signature
from typing import TYPE_CHECKING, Any

import click

import oneclass as library

if TYPE_CHECKING:
    from ..base.classifier import OneClassClassifier

__all__ = ["GRIDS", "METHODS", "classifier", "detector", "method_option", "methods_option"]

#: Names of the classes; a class is imported when it is used, not to show help or to complete a command line.
METHODS = {
    name.removesuffix("Detector").lower(): name
    for name in (
        *("AAELM", "AAKELM", "OCELM", "OCKELM", "VAAKELM", "VOCKELM"),
        *("OCRF", "OCSVM", "SVDD", "AutoencoderDetector", "KCentersDetector", "KMeansDetector", "KNNDetector"),
        *("MSTDetector", "NaiveParzen", "PCADetector", "Parzen"),
    )
}


class _Method(click.Choice[str]):
    """The name of a method, or ``module:Class`` of another library."""

    def __init__(self, *, foreign: bool) -> None:
        super().__init__(sorted(METHODS))
        self._foreign = foreign

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if ":" not in value:
            return super().convert(value, param, ctx)
        if not self._foreign:
            self.fail(
                f"{value} cannot be stored in a model file without pickle; compare takes it, and in Python "
                "oneclass.Calibrated, whose models skops.io.dump or joblib.dump store",
                param,
                ctx,
            )
        return value


method_option = click.option(
    "--method",
    type=_Method(foreign=False),
    default="vaakelm",
    show_default=True,
    metavar="NAME",
    help=f"Classifier: one of {', '.join(sorted(METHODS))}.",
)

methods_option = click.option(
    "--method",
    "methods",
    type=_Method(foreign=True),
    multiple=True,
    metavar="NAME",
    help="Method to compare, by default all; or module:Class of another library. Can be repeated.",
)

#: Values of C, around the default of the kernel machines.
_COSTS = [4.0**k for k in range(-3, 5)]
#: Values that `tune` tries by default.
GRIDS: dict[str, dict[str, list[Any]]] = {
    **{method: {"C": _COSTS, "kernel": ["laplacian", "rbf"]} for method in ("aakelm", "ockelm", "vaakelm", "vockelm")},
    **{method: {"C": _COSTS, "n_hidden": [50, 200]} for method in ("aaelm", "ocelm")},
    **{method: {"nu": [0.01, 0.05, 0.1, 0.2], "kernel": ["laplacian", "rbf"]} for method in ("ocsvm", "svdd")},
    "autoencoder": {"hidden_layer_sizes": [2, 5, 10]},
    "kcenters": {"n_centers": [2, 5, 10, 20, 50]},
    "kmeans": {"n_clusters": [1, 2, 5, 10, 20]},
    "knn": {"n_neighbors": [1, 3, 5, 10, 20]},
    "mst": {"n_paths": [0, 5, 20]},
    "ocrf": {"min_samples_leaf": [1, 5, 20]},
    "pca": {"n_components": [0.5, 0.7, 0.8, 0.9, 0.95, 0.99]},
}


def classifier(method: str, delta: float, **options: object) -> OneClassClassifier:
    """A classifier with the options that are not None."""
    if method not in METHODS:  # click checks it before, other callers do not
        raise ValueError(f"method must be one of {', '.join(sorted(METHODS))}, got {method!r}")
    kind = getattr(library, METHODS[method])
    known = kind().get_params()
    given = {name: value for name, value in options.items() if value is not None}
    if wrong := [name for name in given if name not in known]:
        raise ValueError(f"--method {method} has no {wrong[0]}")
    made: OneClassClassifier = kind(delta=delta, **given)
    return made


def detector(method: str, delta: float) -> OneClassClassifier:
    """A classifier or, for ``module:Class``, the detector of that class in `Calibrated`; the module is imported."""
    if ":" not in method:
        return classifier(method, delta)
    module, _, name = method.partition(":")
    try:
        kind: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"--method {method} cannot be imported: {error}") from None
    if not (bool(isclass(kind)) and hasattr(kind, "fit")):
        raise ValueError(f"--method {method} must be a detector, a class with fit")
    try:
        # A local outlier factor scores new rows only if it is told so.
        made = kind(novelty=True) if "novelty" in signature(kind).parameters else kind()
    except TypeError as error:
        raise ValueError(f"--method {method} must need no parameters: {error}") from None
    return library.Calibrated(made, delta=delta)

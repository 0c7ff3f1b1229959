"""Classifiers by the names that the command line gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import oneclass as library

if TYPE_CHECKING:
    from ..base.classifier import OneClassClassifier

__all__ = ["GRIDS", "METHODS", "classifier", "method_option"]

#: Names of the classes; a class is imported when it is used, not to show help or to complete a command line.
METHODS = {
    name.removesuffix("Detector").lower(): name
    for name in (
        *("AAELM", "AAKELM", "OCELM", "OCKELM", "VAAKELM", "VOCKELM"),
        *("OCRF", "OCSVM", "SVDD", "AutoencoderDetector", "KCentersDetector", "KMeansDetector", "KNNDetector"),
        *("MSTDetector", "NaiveParzen", "PCADetector", "Parzen"),
    )
}

method_option = click.option(
    "--method",
    type=click.Choice(sorted(METHODS)),
    default="vaakelm",
    show_default=True,
    metavar="NAME",
    help=f"Classifier: one of {', '.join(sorted(METHODS))}.",
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

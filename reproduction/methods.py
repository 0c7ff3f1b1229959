"""The paper's fourteen classifiers: their settings, the grid of the paper's protocol, and the number of splits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from oneclass import AAKELM, OCKELM, RBF, VAAKELM, VOCKELM, baselines

from .libsvm import LIBSVM
from .selection import CS, KS

__all__ = ["EMBEDDINGS", "EVERY", "KERNEL_MACHINES", "METHODS", "SOFTWARE", "VARIANTS", "Method", "embedded"]


@dataclass(frozen=True)
class Method:
    """A classifier with a short name.

    Parameters
    ----------
    name : str
        Short name, as in rows and tables.
    make : callable
        The class.
    grid : mapping of str to tuple
        Parameters that the paper's protocol searches besides delta.
    fixed : mapping of str to object
        Other parameters of the paper's method, with its threshold.
    refit_for_delta : bool
        Whether delta changes the model and not only its threshold.
    medium_splits : int
        Number of random splits of each digit task in the full run. Small datasets have twenty for every method.
    variant : mapping of str to object
        Parameters that make it a variant of another method; the library's defaults do not replace them.

    Examples
    --------
    >>> METHODS["KMeans"].make(delta=0.1).delta
    0.1
    """

    name: str
    make: Callable[..., Any]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=lambda: {"threshold": "train"})
    refit_for_delta: bool = False
    medium_splits: int = 10
    variant: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Squared:
    """Kernel of dd_tools, ``exp(-d²/sigma²)``, which has no factor 2.

    Examples
    --------
    >>> import numpy as np
    >>> Squared(sigma=1.0)(np.array([[0.0]]), np.array([[1.0]])).round(3)
    array([[0.368]])
    """

    sigma: float | str = "mean"

    def __call__(self, X: Any, Y: Any) -> Any:
        return RBF(float(self.sigma) / math.sqrt(2))(X, Y)

    def diagonal(self, X: Any) -> Any:
        return RBF().diagonal(X)

    def distances(self, X: Any, Y: Any) -> Any:
        return RBF().distances(X, Y)

    def with_sigma(self, sigma: float | str) -> Squared:
        return replace(self, sigma=sigma)


#: The four kernel machines.
KERNEL_MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM")

_COSTS = {"C": CS}
_CLUSTERED = {"n_clusters": KS}
_PRINTED = {"kernel": "rbf", "sigma": "mean", "scale": "zscore"}
_KERNEL = {**_PRINTED, "threshold": "train", "approximation": None}
_REBUILDING = {**_KERNEL, "loss": "reconstruction"}
#: The variance inside clusters as printed (model_SV), about the mean of all rows.
_EMBEDDED = {"variance": "subclass", "centering": "global", "lam": 1.0}

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("OCRF", baselines.OCRF, fixed={"threshold": "half"}, medium_splits=5),
        Method("NaiveParzen", baselines.NaiveParzen),
        Method("KMeans", baselines.KMeansDetector, _CLUSTERED),
        Method("KNN", baselines.KNNDetector),
        Method("Autoencoder", baselines.AutoencoderDetector, medium_splits=5),
        Method("PCA", baselines.PCADetector),
        Method("MST", baselines.MSTDetector),
        Method("KCenters", baselines.KCentersDetector),
        Method("OCSVM", baselines.OCSVM, fixed={**_PRINTED, "threshold": "boundary"}, refit_for_delta=True),
        Method(
            "SVDD",
            baselines.SVDD,
            fixed={"kernel": Squared(), "scale": "zscore", "threshold": "boundary"},
            refit_for_delta=True,
        ),
        Method("OCKELM", OCKELM, _COSTS, _KERNEL),
        Method("VOCKELM", VOCKELM, _COSTS | _CLUSTERED, _KERNEL | _EMBEDDED | {"threshold": "mean"}),
        Method("AAKELM", AAKELM, _COSTS, _REBUILDING),
        Method("VAAKELM", VAAKELM, _COSTS | _CLUSTERED, _REBUILDING | _EMBEDDED),
    )
}

#: The variances that VOCKELM and VAAKELM can embed.
EMBEDDINGS: dict[str, dict[str, Any]] = {
    "none": {"variance": "none"},
    "class": {"variance": "class"},
    "own": {"variance": "subclass", "centering": "own"},
    "global": {"variance": "subclass", "centering": "global"},
}


def _variant(machine: str, embedding: str) -> Method:
    method, chosen = METHODS[machine], EMBEDDINGS[embedding]
    grid = method.grid if chosen["variance"] == "subclass" else _COSTS
    return replace(method, name=f"{machine}/{embedding}", grid=grid, fixed={**method.fixed, **chosen}, variant=chosen)


#: Both machines with each variance.
VARIANTS = {f"{machine}/{e}": _variant(machine, e) for machine in ("VOCKELM", "VAAKELM") for e in EMBEDDINGS}


def embedded(recipe: str, machine: str, embedding: str) -> str:
    """Name of a machine with a variance in the rows of a recipe.

    Parameters
    ----------
    recipe, machine, embedding : str
        A recipe, VOCKELM or VAAKELM, and one of `EMBEDDINGS`.

    Returns
    -------
    str

    Examples
    --------
    >>> embedded("paper", "VAAKELM", "global"), embedded("honest", "VAAKELM", "global")
    ('VAAKELM', 'VAAKELM/global')
    >>> embedded("paper", "VAAKELM", "none")
    'AAKELM'
    """
    itself = "own" if recipe == "honest" else "global"  # the library's default, and the printed one
    if embedding == itself:
        return machine
    return "AAKELM" if (machine, embedding) == ("VAAKELM", "none") else f"{machine}/{embedding}"


#: Every method that a task can name.
EVERY = {**METHODS, **VARIANTS}


def _unscaled(name: str) -> Method:
    return replace(METHODS[name], fixed={**METHODS[name].fixed, "scale": False})


#: Methods on unscaled rows, as in the software that the paper cites. The width of the kernels is the root mean squared
#: distance, in LIBSVM with a factor 2 and in dd_tools without.
SOFTWARE: dict[str, Method] = {
    **{name: _unscaled(name) for name in ("NaiveParzen", "KMeans", "KNN", "PCA", "MST", "KCenters")},
    "OCSVM": Method("OCSVM", LIBSVM, fixed={}, refit_for_delta=True),
    "SVDD": Method(
        "SVDD",
        baselines.SVDD,
        fixed={"sigma": "rms", "tol": 1e-9, "scale": False, "threshold": "boundary"},
        refit_for_delta=True,
    ),
}

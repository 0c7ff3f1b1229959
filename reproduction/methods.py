"""The paper's fourteen classifiers: how each is made, what the paper's protocol searches, how costly it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, baselines

from .selection import CS, KS

__all__ = ["KERNEL_MACHINES", "METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """A classifier under a short name.

    Parameters
    ----------
    name : str
        Short name, as in rows and tables.
    make : callable
        The class.
    grid : mapping of str to tuple
        What the paper's protocol searches besides delta.
    fixed : mapping of str to object
        Settings that make it the paper's method, its threshold among them.
    refit_for_delta : bool
        Whether delta shapes the model itself and not its threshold alone.
    splits : int
        How many random splits the full benchmark gives it, of twenty.
    medium_splits : int
        The same for the ten digit tasks.

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
    splits: int = 20
    medium_splits: int = 20


#: The four machines of the family.
KERNEL_MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM")

_COSTS = {"C": CS}
_CLUSTERED = {"n_clusters": KS}
_KERNEL = {"threshold": "train", "lam": 1.0, "kernel": "rbf", "sigma": "mean", "scale": "zscore"}
_REBUILDING = {**_KERNEL, "loss": "reconstruction"}

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("OCRF", baselines.OCRF, fixed={"threshold": "half"}, splits=5, medium_splits=5),
        Method("NaiveParzen", baselines.NaiveParzen, medium_splits=10),
        Method("KMeans", baselines.KMeansDetector, _CLUSTERED),
        Method("KNN", baselines.KNNDetector),
        Method("Autoencoder", baselines.AutoencoderDetector, splits=5, medium_splits=5),
        Method("PCA", baselines.PCADetector),
        Method("MST", baselines.MSTDetector),
        Method("KCenters", baselines.KCentersDetector),
        Method("OCSVM", baselines.OCSVM, refit_for_delta=True),
        Method("SVDD", baselines.SVDD, refit_for_delta=True),
        Method("OCKELM", OCKELM, _COSTS, _KERNEL),
        Method("VOCKELM", VOCKELM, _COSTS | _CLUSTERED, _KERNEL | {"threshold": "mean"}, medium_splits=10),
        Method("AAKELM", AAKELM, _COSTS, _REBUILDING),
        Method("VAAKELM", VAAKELM, _COSTS | _CLUSTERED, _REBUILDING, medium_splits=10),
    )
}

"""What all displays share: matplotlib when it is needed, colours that the colour-blind tell apart, axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..contract.pipeline import with_verbs

__all__ = ["INSIDE", "LINE", "OUTSIDE", "PALE", "SURE", "Float", "axes", "fitted", "numbers", "percent", "pyplot"]

Float = NDArray[np.float64]

#: Blue and vermilion of Okabe and Ito, and greys.
INSIDE, OUTSIDE, LINE, PALE = "#0072b2", "#d55e00", "#333333", "#d9d9d9"

#: Confidence of all that is said and drawn.
SURE = 0.95


def pyplot() -> Any:
    """The module of matplotlib, with a word on how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('oneclass.plot needs matplotlib: pip install "oneclass[plot]"') from error
    return plt


def axes(ax: Any, rows: int = 1, columns: int = 1, *, size: tuple[float, float]) -> tuple[Any, Any]:
    """The figure and the user's axes, or new ones; several as an array."""
    if ax is None:
        _, ax = pyplot().subplots(rows, columns, figsize=size, layout="constrained")
    ax = ax if rows * columns == 1 else np.asarray(ax)
    return (ax if rows * columns == 1 else ax.flat[0]).figure, ax


def fitted(estimator: Any) -> Any:
    """The estimator with all verbs of its classifier."""
    check_is_fitted(estimator)
    return with_verbs(estimator)


def numbers(values: Any) -> Float:
    """Answers as plain numbers, those of other array libraries and lazy ones too."""
    return np.asarray(values, dtype=float)


def percent(share: float) -> str:
    """A share as people say it."""
    return f"{100 * share:g} %"

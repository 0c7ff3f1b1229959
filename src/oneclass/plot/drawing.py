"""What all displays share: matplotlib when it is needed, colours that the colour-blind tell apart, axes."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..base.pipeline import with_verbs
from ..base.protocol import Detector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "INSIDE",
    "LINE",
    "OUTSIDE",
    "PALE",
    "SURE",
    "Float",
    "Panels",
    "Several",
    "axes",
    "fitted",
    "numbers",
    "panels",
    "percent",
    "pyplot",
]

Float = NDArray[np.float64]
Several = NDArray[np.object_]
#: Axes of matplotlib, one or several.
Panels: TypeAlias = "Axes | Sequence[Axes] | Several"

#: Blue and vermilion of Okabe and Ito, and greys.
INSIDE, OUTSIDE, LINE, PALE = "#0072b2", "#d55e00", "#333333", "#d9d9d9"

#: Confidence of all that is said and drawn.
SURE = 0.95


def pyplot() -> ModuleType:
    """The module of matplotlib, with a word on how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('oneclass.plot needs matplotlib: pip install "oneclass[plot]"') from error
    return plt


def axes(ax: Panels | None, *, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """The figure and the user's axes, or new ones."""
    figure, several = panels(ax, 1, 1, size=size)
    return figure, several.item()


def panels(ax: Panels | None, rows: int, columns: int, *, size: tuple[float, float]) -> tuple[Figure, Several]:
    """The figure and the user's axes, or new ones, in an array."""
    given = pyplot().subplots(rows, columns, figsize=size, layout="constrained")[1] if ax is None else ax
    several: Several = np.asarray(given)
    return several.ravel()[0].figure.figure, several  # of axes on a part of a figure, the whole of it


def fitted(estimator: Detector) -> Detector:
    """The estimator with all verbs of its classifier."""
    check_is_fitted(estimator)
    return with_verbs(estimator)


def numbers(values: object) -> Float:
    """Answers as plain numbers, those of other array libraries and lazy ones too."""
    return np.asarray(values, dtype=float)


def percent(share: float) -> str:
    """A share as people say it."""
    return f"{100 * share:g} %"

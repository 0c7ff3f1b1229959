"""What all displays share: matplotlib when it is needed, colours that the colour-blind tell apart, axes."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..contract.detector import Detector
from ..contract.pipeline import with_verbs

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
    "axes",
    "fitted",
    "numbers",
    "percent",
    "pyplot",
]

Float = NDArray[np.float64]
#: Axes of matplotlib, one or several.
Panels: TypeAlias = "Axes | Sequence[Axes] | NDArray[np.object_]"

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


def axes(ax: Panels | None, rows: int = 1, columns: int = 1, *, size: tuple[float, float]) -> tuple[Figure, Any]:
    """The figure and the user's axes, or new ones; several as an array."""
    panels: Any = ax
    if panels is None:
        _, panels = pyplot().subplots(rows, columns, figsize=size, layout="constrained")
    panels = panels if rows * columns == 1 else np.asarray(panels)
    return (panels if rows * columns == 1 else panels.flat[0]).figure, panels


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

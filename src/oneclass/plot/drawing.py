"""Parts that all displays share: matplotlib, imported at the first drawing, colours and axes."""

from __future__ import annotations

from dataclasses import fields
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
    "CONFIDENCE",
    "INSIDE",
    "LINE",
    "OUTSIDE",
    "PALE",
    "ROUNDING",
    "Display",
    "Float",
    "Panels",
    "Several",
    "axes",
    "fitted",
    "needs_log_scale",
    "numbers",
    "panels",
    "percent",
    "pyplot",
]

Float = NDArray[np.float64]
Several = NDArray[np.object_]
#: Axes of matplotlib, one or several.
Panels: TypeAlias = "Axes | Sequence[Axes] | Several"

#: Blue and vermilion of the palette of Okabe and Ito, which people with colour blindness can distinguish, and greys.
INSIDE, OUTSIDE, LINE, PALE = "#0072b2", "#d55e00", "#333333", "#d9d9d9"

#: Confidence of all intervals in plots and reports.
CONFIDENCE = 0.95
#: Largest difference between equal rates, or equal p-values, that rounding may cause.
ROUNDING = 1e-9
#: Losses are drawn on a logarithmic scale if the largest is more than this multiple of the median.
_LOG_RATIO = 20


class Display:
    """A drawing and the numbers in it. Its `repr` names the attributes, since a notebook shows the picture."""

    def __repr__(self) -> str:
        names = [field.name for field in fields(self) if field.init]  # type: ignore[arg-type]
        return f"{type(self).__name__} of {', '.join(names)}"


def pyplot() -> ModuleType:
    """The module `matplotlib.pyplot`; the error names the extra that installs it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('oneclass.plot needs matplotlib: pip install "oneclass[plot]"') from error
    return plt


def axes(ax: Panels | None, *, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """The axes that the user gave, or new ones, with their figure."""
    figure, several = panels(ax, 1, 1, size=size)
    return figure, several.item()


def panels(ax: Panels | None, rows: int, columns: int, *, size: tuple[float, float]) -> tuple[Figure, Several]:
    """An array of the axes that the user gave, or of new ones, with their figure."""
    given = pyplot().subplots(rows, columns, figsize=size, layout="constrained")[1] if ax is None else ax
    several: Several = np.asarray(given)
    return several.ravel()[0].figure.figure, several  # for axes on a subfigure, the whole figure


def fitted(estimator: Detector) -> Detector:
    """The fitted estimator with all methods of its classifier."""
    check_is_fitted(estimator)
    return with_verbs(estimator)


def numbers(values: object) -> Float:
    """Values of any array library, lazy ones too, as a NumPy array."""
    return np.asarray(values, dtype=float)


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{100 * share:g} %"


def needs_log_scale(losses: Float, median: float) -> bool:
    """Whether a few large losses would hide the others on a linear scale, and a logarithmic scale is possible."""
    return bool(losses.min() > 0 and losses.max() > _LOG_RATIO * median)

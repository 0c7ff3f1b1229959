"""The look of the pictures on pages: colours, sizes, and a version of each picture for light and dark pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from oneclass.plot.drawing import INSIDE, OUTSIDE

__all__ = ["BLUE", "DOCS", "GREEN", "GREY", "ORANGE", "RC", "VERMILION", "plt", "save", "save_both"]

DOCS = Path(__file__).parents[1] / "docs"

#: The palette of Okabe and Ito, which people with colour blindness can distinguish. Blue: normal, held out, this
#: library; vermilion: outliers and alarms; the others for further series. Each is readable on white and on dark grey.
BLUE, VERMILION = INSIDE, OUTSIDE
GREEN, ORANGE, GREY = "#009e73", "#e69f00", "#808080"

RC: dict[Any, Any] = {
    "savefig.dpi": 160,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
}
#: Text and background of the dark version: those of the site's dark pages.
_DARK_INK, _DARK_PAPER = "#ced6dd", "#14181e"
_INKS = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
_DARK: dict[Any, Any] = {
    **dict.fromkeys(_INKS, _DARK_INK),
    "figure.facecolor": _DARK_PAPER,
    "axes.facecolor": _DARK_PAPER,
}


def save(figure: Figure, path: Path) -> None:
    """Write a picture; the same figure gives the same bytes."""
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)


def save_both(draw: Callable[[], Figure], path: Path) -> None:
    """Write a picture for light pages, and one for dark pages with ``-dark`` in its name."""
    for look, name in ((RC, path.name), (RC | _DARK, f"{path.stem}-dark{path.suffix}")):
        with mpl.rc_context(look):
            save(draw(), path.with_name(name))

"""Colours, names and the drawing library, loaded only when something is drawn."""

from __future__ import annotations

from typing import Any

from oneclass.datasets import card

__all__ = ["COLOURS", "DASHES", "HATCHES", "INKS", "pyplot", "title"]

#: Seven steps of cividis, from light to dark: a row of greys in print, and the same to colour-blind eyes.
_STEPS = ("#fce236", "#cebc63", "#a39a74", "#7d7c78", "#595e6e", "#2f426d", "#002656")

#: Two methods a colour, told apart by hatching in bars and by dashes in lines.
_PAIRS = (
    ("OCRF", "NaiveParzen"),
    ("KMeans", "KNN"),
    ("Autoencoder", "PCA"),
    ("MST", "KCenters"),
    ("OCSVM", "SVDD"),
    ("OCKELM", "VOCKELM"),
    ("AAKELM", "VAAKELM"),
)
COLOURS = {method: colour for colour, pair in zip(_STEPS, _PAIRS, strict=True) for method in pair}
HATCHES = {method: hatch for pair in _PAIRS for method, hatch in zip(pair, ("", "/////"), strict=True)}
#: Ink that shows on the colour.
INKS = {method: "black" if place < 4 else "white" for place, pair in enumerate(_PAIRS) for method in pair}
DASHES = {method: line for pair in _PAIRS for method, line in zip(pair, ("-", "--"), strict=True)}


def pyplot() -> Any:
    """Matplotlib's pyplot on a backend without windows."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'oneclass[plot]'") from error
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "savefig.dpi": 100})
    plt.rcParams.update({"hatch.linewidth": 0.6})
    return plt


def title(dataset: str) -> str:
    """A dataset's name as the paper writes it.

    Parameters
    ----------
    dataset : str
        Name of a dataset.

    Returns
    -------
    str

    Examples
    --------
    >>> title("heart_statlog"), title("concordia_3")
    ('Heart Statlog', 'Concordia 3')
    """
    return str(card(dataset).title).replace("_", " ")

"""Colours and names in the figures, and Matplotlib, which is loaded when a figure is drawn."""

from __future__ import annotations

from typing import Any

from ..datasets import card

__all__ = ["COLOURS", "DASHES", "pyplot", "title"]

#: Seven steps of cividis, from light to dark: they differ in grey, and for colour-blind readers.
_STEPS = ("#fce236", "#cebc63", "#a39a74", "#7d7c78", "#595e6e", "#2f426d", "#002656")

#: Two methods have one colour, and differ by dashes. Neighbors differ in brightness.
_PAIRS = {
    ("OCRF", "NaiveParzen"): 0,
    ("KMeans", "KNN"): 4,
    ("Autoencoder", "PCA"): 2,
    ("MST", "KCenters"): 5,
    ("OCSVM", "SVDD"): 3,
    ("OCKELM", "VOCKELM"): 1,
    ("AAKELM", "VAAKELM"): 6,
}
COLOURS = {method: _STEPS[step] for pair, step in _PAIRS.items() for method in pair}
DASHES = {method: line for pair in _PAIRS for method, line in zip(pair, ("-", "--"), strict=True)}


def pyplot() -> Any:
    """Matplotlib's pyplot on a backend without windows."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install '.[plot]'") from error
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "savefig.dpi": 150})
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

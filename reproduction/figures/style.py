"""Colours, names and the drawing library, loaded only when something is drawn."""

from __future__ import annotations

from typing import Any

from oneclass.datasets import card

__all__ = ["COLOURS", "pyplot", "title"]

#: One colour a method: greys to greens for the baselines, strong ones for the kernel machines.
COLOURS = {
    "OCRF": "#bdbdbd",
    "NaiveParzen": "#969696",
    "KMeans": "#737373",
    "KNN": "#525252",
    "Autoencoder": "#c7e9c0",
    "PCA": "#a1d99b",
    "MST": "#74c476",
    "KCenters": "#31a354",
    "OCSVM": "#9ecae1",
    "SVDD": "#4292c6",
    "OCKELM": "#fdae6b",
    "VOCKELM": "#e6550d",
    "AAKELM": "#9e9ac8",
    "VAAKELM": "#54278f",
}


def pyplot() -> Any:
    """Matplotlib's pyplot on a backend without windows."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'oneclass[plot]'") from error
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "savefig.dpi": 100})
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

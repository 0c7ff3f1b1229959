"""The metrics of the paper's bar charts as heat maps, and its curves of F1 against delta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..methods import KERNEL_MACHINES, METHODS
from ..results import Results, deviation
from ..selection import DELTAS
from .style import COLOURS, DASHES, pyplot, title

__all__ = ["bars", "deltas"]

_PANELS = {"accuracy": "Accuracy", "gmean_paper": "G-mean, sqrt(P R)", "precision": "Precision", "recall": "Recall"}
#: From this value on, a cell is bright and its number is black.
_BRIGHT = 55
_MARKS = dict(zip(KERNEL_MACHINES, "osD^", strict=True))


def bars(results: Results, datasets: Sequence[str]) -> Any:
    """Mean accuracy, g-mean, precision and recall, recipe `paper`: a heat map of methods by datasets for each.

    The paper shows them as bars, one for each of the cells.

    Parameters
    ----------
    results : Results
        Stored rows.
    datasets : sequence of str
        Columns.

    Returns
    -------
    matplotlib Figure
    """
    methods, names = list(METHODS), [title(dataset) for dataset in datasets]
    size = (2.6 + 0.36 * len(datasets), 14)
    figure, panels = pyplot().subplots(4, 1, figsize=size, sharex=True, layout="constrained")
    for panel, (metric, name) in zip(panels, _PANELS.items(), strict=True):
        table = 100 * results.mean(metric, "paper", datasets, methods).T
        panel.imshow(table, cmap="cividis", vmin=0, vmax=100, aspect="auto")
        for (i, j), value in np.ndenumerate(table):
            if np.isfinite(value):
                ink = "white" if value < _BRIGHT else "black"
                panel.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=7, color=ink)
        panel.set_yticks(range(len(methods)), methods)
        panel.set_title(f"{name}, %", fontsize=10, loc="left")
        panel.spines[:].set_visible(False)
    panels[-1].set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    return figure


def deltas(results: Results, datasets: Sequence[str]) -> Any:
    """F1 of the kernel machines against delta, mean and standard deviation over the splits, recipe `paper`.

    Parameters
    ----------
    results : Results
        Stored rows.
    datasets : sequence of str
        Panels.

    Returns
    -------
    matplotlib Figure
    """
    columns = 5
    lines = -(-len(datasets) // columns)
    size = (14, 2.4 * lines + 0.5)
    figure, panels = pyplot().subplots(lines, columns, figsize=size, sharex=True, sharey=True, layout="constrained")
    for panel, dataset in zip(np.ravel(panels), datasets, strict=False):
        for i, method in enumerate(KERNEL_MACHINES):
            scores = [100 * results.values("f1", "paper", dataset, method, f"delta={delta:g}") for delta in DELTAS]
            if not all(map(len, scores)):
                continue
            places = np.arange(len(DELTAS)) + 0.06 * (i - 1.5)
            mean, spread = [s.mean() for s in scores], list(map(deviation, scores))
            style = {"color": COLOURS[method], "marker": _MARKS[method], "markersize": 4, "linewidth": 1.4}
            panel.errorbar(places, mean, spread, elinewidth=0.6, capsize=2, label=method, ls=DASHES[method], **style)
        panel.set_title(title(dataset), fontsize=9)
        panel.set_xticks(range(len(DELTAS)), [f"{100 * delta:g} %" for delta in DELTAS])
        panel.grid(alpha=0.3)
    figure.supylabel("F1 (%)", fontsize=9)
    figure.supxlabel("delta", fontsize=9)
    figure.legend(*np.ravel(panels)[0].get_legend_handles_labels(), ncols=4, loc="outside upper center", frameon=False)
    return figure

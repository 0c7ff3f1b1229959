"""The paper's bar charts and its curves of F1 against delta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..methods import KERNEL_MACHINES, METHODS
from ..results import Results, deviation
from ..selection import DELTAS
from .style import COLOURS, DASHES, HATCHES, INKS, pyplot, title

__all__ = ["bars", "deltas"]

_PANELS = {"accuracy": "Accuracy", "gmean_paper": "G-mean, sqrt(P R)", "precision": "Precision", "recall": "Recall"}
_MARKS = dict(zip(KERNEL_MACHINES, "osD^", strict=True))


def bars(results: Results, datasets: Sequence[str]) -> Any:
    """Mean accuracy, g-mean, precision and recall, and their deviation over the splits, recipe `paper`, by dataset.

    Parameters
    ----------
    results : Results
        Stored rows.
    datasets : sequence of str
        Groups.

    Returns
    -------
    matplotlib Figure
    """
    methods = list(METHODS)
    figure, panels = pyplot().subplots(4, 1, figsize=(20, 13), sharex=True, layout="constrained")
    width = 0.86 / len(methods)
    for panel, (metric, name) in zip(panels, _PANELS.items(), strict=True):
        table, spread = (100 * f(metric, "paper", datasets, methods) for f in (results.mean, results.spread))
        for j, method in enumerate(methods):
            places = np.arange(len(datasets)) + (j - (len(methods) - 1) / 2) * width
            look = {"color": COLOURS[method], "hatch": HATCHES[method], "edgecolor": INKS[method], "linewidth": 0.2}
            panel.bar(places, table[:, j], width, label=method, **look)
            panel.errorbar(places, table[:, j], spread[:, j], fmt="none", ecolor="black", elinewidth=0.7)
        panel.set(ylabel=f"{name} (%)", ylim=(0, 100), xlim=(-0.5, len(datasets) - 0.5))
        panel.grid(axis="y", alpha=0.3)
        panel.set_axisbelow(True)
    panels[-1].set_xticks(range(len(datasets)), [title(d).replace(" ", "\n") for d in datasets], fontsize=8)
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=7, loc="outside upper center", frameon=False)
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
    figure, panels = pyplot().subplots(lines, columns, figsize=size, sharex=True, layout="constrained")
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

"""Figures that the paper does not have: row order, false-alarm rates, and the effect of the variance embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import published
from ..methods import METHODS, embedded
from ..results import Lead, Results
from .style import COLOURS, pyplot, title

__all__ = ["ablation", "false_alarms", "row_order"]


def row_order(results: Results, dataset: str = "vowel") -> Any:
    """Test F1 of VAAKELM over orders of the training rows, by the released code and by the paper's equation.

    Parameters
    ----------
    results : Results
        Stored rows.
    dataset : str
        An authors' split.

    Returns
    -------
    matplotlib Figure
    """
    figure, panel = pyplot().subplots(figsize=(9, 2.8), layout="constrained")
    rng = np.random.default_rng(0)
    names = {"authors_code": "released code", "equation": "paper's equation\n(this library)"}
    for height, recipe in enumerate(names):
        released, *others = 100 * results.values("f1", recipe, dataset, "VAAKELM")
        jitter = rng.uniform(-0.22, 0.22, len(others))
        panel.scatter(others, height + jitter, s=22, color=COLOURS["VAAKELM"], alpha=0.7, linewidth=0)
        star = {"marker": "*", "color": "#fce236", "edgecolor": "black", "zorder": 3}
        panel.scatter(released, height, s=150, label="order of the released file" if height == 0 else None, **star)
    panel.axvline(published.f1(dataset, "VAAKELM"), color="black", linestyle=":", linewidth=1.2)
    panel.annotate("published ", (published.f1(dataset, "VAAKELM"), -0.62), ha="right", va="center", fontsize=8)
    panel.set_yticks(range(len(names)), list(names.values()))
    panel.set(ylim=(1.5, -0.8), xlabel=f"F1 (%) on {title(dataset)}, one dot per order of the training rows")
    panel.grid(axis="x", alpha=0.3)
    panel.legend(frameon=False, loc="upper left", fontsize=8)
    return figure


def false_alarms(results: Results, datasets: Sequence[str]) -> Any:
    """Rate of rejected targets minus delta, one dot per dataset, with the paper's and the default thresholds.

    Parameters
    ----------
    results : Results
        Stored rows.
    datasets : sequence of str
        Dots.

    Returns
    -------
    matplotlib Figure
    """
    methods = list(METHODS)
    figure, panels = pyplot().subplots(1, 2, figsize=(11, 4.6), sharex=True, sharey=True, layout="constrained")
    for panel, recipe in zip(panels, ("paper", "honest"), strict=True):
        for height, method in enumerate(methods):
            excess = [_excess(results, recipe, dataset, method) for dataset in datasets]
            panel.scatter(excess, [height] * len(excess), s=18, alpha=0.55, color=COLOURS[method], edgecolor="black")
        panel.axvline(0, color="black", linewidth=1)
        panel.set_title({"paper": "paper's thresholds", "honest": "library's defaults"}[recipe], fontsize=10)
        panel.set(xlabel="targets rejected minus delta (percentage points)")
        panel.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(methods)), methods)
    panels[0].invert_yaxis()
    return figure


def _excess(results: Results, recipe: str, dataset: str, method: str) -> float:
    rows = results.rows(recipe, dataset, method).values()
    gaps = [100 * (row["false_alarm_rate"] - row["params"]["delta"]) for row in rows]
    return float(np.mean(gaps)) if gaps else float("nan")


def ablation(results: Results, datasets: Sequence[str]) -> Any:
    """F1 of VAAKELM minus F1 of AAKELM on the same splits, mean and 95 % interval of the mean.

    Parameters
    ----------
    results : Results
        Stored rows.
    datasets : sequence of str
        Lines.

    Returns
    -------
    matplotlib Figure
    """
    figure, panel = pyplot().subplots(figsize=(8, 7.5), layout="constrained")
    looks = {
        ("paper", "global"): ("#002656", "o", "recipe paper, global mean (as printed)"),
        ("paper", "own"): ("#7d7c78", "D", "recipe paper, own means"),
        ("honest", "own"): ("#cebc63", "s", "recipe honest, own means (default)"),
    }
    for shift, ((recipe, embedding), (colour, mark, label)) in zip((-0.25, 0, 0.25), looks.items(), strict=True):
        name = embedded(recipe, "VAAKELM", embedding)
        gaps = [results.paired("f1", recipe, dataset, name, "AAKELM") for dataset in datasets]
        mean = [100 * gap.mean() if len(gap) else np.nan for gap in gaps]
        error = [196 * Lead.of([gap]).error if len(gap) else np.nan for gap in gaps]
        heights = np.arange(len(datasets)) + shift
        panel.errorbar(mean, heights, xerr=error, fmt=mark, color=colour, markersize=4, capsize=2, label=label)
    printed = [_published_gap(dataset) for dataset in datasets]
    panel.scatter(printed, range(len(datasets)), marker="x", color="black", s=30, label="published", zorder=3)
    panel.axvline(0, color="black", linewidth=1)
    panel.set_yticks(range(len(datasets)), [title(dataset) for dataset in datasets])
    panel.invert_yaxis()
    panel.set(xlabel="F1 of VAAKELM minus F1 of AAKELM (percentage points)")
    panel.grid(axis="x", alpha=0.3)
    panel.legend(frameon=False, loc="lower right")
    return figure


def _published_gap(dataset: str) -> float:
    pair = [published.f1(dataset, method) for method in ("VAAKELM", "AAKELM")]
    return float("nan") if None in pair else pair[0] - pair[1]  # type: ignore[operator]

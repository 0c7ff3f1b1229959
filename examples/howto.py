"""The pictures of docs/tables.md and docs/tune.md, from the variables of the code on these pages.

python -m examples.howto        (needs matplotlib and pandas)
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from oneclass import VAAKELM, OneClassSearchCV

from .pages import run
from .style import BLUE, DOCS, GREEN, GREY, ORANGE, VERMILION, plt, save_both

FOLDER = DOCS / "front"
KINDS = {"number": BLUE, "category": GREEN, "flag": ORANGE, "drop": GREY}


def draw_tables(page: dict[str, Any]) -> Figure:
    """The columns of the parcels with their kinds, and two new rows, one of them with a wrong price."""
    model, new = page["model"], page["new"]
    plan = model.plan_.to_frame().set_index("column")
    reason = model.explain(new).top(1)[0][0]
    figure, ax = plt.subplots(figsize=(5.2, 3), layout="constrained")
    ax.set(xlim=(-1.35, len(plan) - 0.5), ylim=(4.45, -0.5))
    ax.set_axis_off()
    for y, told in enumerate(["column", "taken for", "becomes"]):
        ax.text(-1.3, y * 0.8, told, va="center", color=GREY)
    for y, (row, label) in enumerate(zip(new.index, model.predict(new), strict=True), 1):
        ax.text(-1.3, 2.12 + y * 0.9, f"new row {row}", va="center", color=GREY)
        ax.text(-1.3, 2.37 + y * 0.9, "alarm" if label < 0 else "normal", va="center", color=GREY, fontsize=8.5)
    for x, (name, kind, parts) in enumerate(zip(plan.index, plan["kind"], plan["parts"], strict=True)):
        ax.text(x, 0, name, ha="center", va="center", fontweight="bold")
        _fill(ax, x, 0.8, KINDS[kind], 0.5)
        ax.text(x, 0.8, kind, ha="center", va="center", color="white" if kind == "number" else "black")
        made = f"{len(parts)} number{'s' * (len(parts) > 1)}" if parts else "nothing"
        ax.text(x, 1.6, made, ha="center", va="center")
        for y, value in enumerate(new[name], 1):
            told = f"{value:.2f}" if isinstance(value, float) else str(value)
            if (y - 1, name) != (0, reason.column):
                ax.text(x, 2.22 + y * 0.9, told, ha="center", va="center")
                continue
            _fill(ax, x, 2.22 + y * 0.9, VERMILION, 0.96)
            ax.text(x, 1.96 + y * 0.9, told, ha="center", va="center", color="white", fontweight="bold")
            expected = f"expected\n{reason.low:.1f} to {reason.high:.1f}"
            ax.text(x, 2.36 + y * 0.9, expected, ha="center", va="center", color="white", fontsize=8)
    ax.axhline(2.2, color=GREY, linewidth=0.8)
    return figure


def _fill(ax: Axes, x: float, y: float, colour: str, height: float) -> None:
    ax.add_patch(Rectangle((x - 0.47, y - height / 2), 0.94, height, facecolor=colour, edgecolor="none"))


def draw_tune(page: dict[str, Any], best: int = 6) -> Figure:
    """Leads of the best candidates over the defaults with 5 and with 40 outliers, and their standard errors."""
    X, outliers = page["X"], page["outliers"]
    leads = {n: _leads(X, outliers[:n], page["grid"]) for n in (5, len(outliers))}
    names, most = leads[len(outliers)]
    order = np.argsort(-most.mean(axis=1))[:best]
    figure, ax = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    for (n, (_, found)), shift, colour in zip(leads.items(), (0.15, -0.15), (ORANGE, BLUE), strict=True):
        lead, error = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(found.shape[1])
        y = np.arange(len(order)) + shift
        ax.errorbar(lead[order], y, xerr=error[order], fmt="o", color=colour, capsize=3, label=f"{n} outliers")
    ax.axvline(0, color=GREY, linestyle="--", linewidth=1, zorder=0)
    ax.set_yticks(range(len(order)), [names[i] for i in order])
    ax.set(ylim=(len(order) - 0.5, -0.5), xlabel="AUROC minus that of the defaults (± standard error)")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _leads(X: Any, outliers: Any, grid: dict[str, list[float]]) -> tuple[list[str], Any]:
    """Names of the candidates, and their leads in each fold."""
    rows, labels = np.concatenate([X, outliers]), np.repeat([1, -1], [len(X), len(outliers)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few outliers, which the picture shows
        found = OneClassSearchCV(VAAKELM(), [{}, grid], scoring="auroc").fit(rows, labels).cv_results_
    folds = np.array([found[name] for name in found if name.startswith("split") and name.endswith("_test_score")])
    names = [f"C = {of['C']:g}, sigma = {of['sigma']:g}" for of in found["params"][1:]]
    return names, (folds[:, 1:] - folds[:, :1]).T


def main() -> None:
    """Draw."""
    for name, draw in (("tables", draw_tables), ("tune", draw_tune)):
        page = run(DOCS / f"{name}.md")
        save_both(partial(draw, page), FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()

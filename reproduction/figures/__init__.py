"""The figures of the reproduction pages, drawn from rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..methods import METHODS
from ..results import Results
from .findings import ablation, false_alarms, row_order
from .metrics import bars, deltas
from .ranking import critical_difference_diagram
from .style import pyplot

__all__ = ["FIGURES", "draw"]


def _ranks(results: Results) -> Any:
    methods = list(METHODS)
    tables = {recipe: results.compared("f1", recipe, results.all, methods) for recipe in ("paper", "honest")}
    return critical_difference_diagram({f"F1, recipe {name}": table for name, table in tables.items()}, methods)


#: File name -> whether there are rows for the figure, and the function that draws it.
FIGURES: dict[str, tuple[Callable[[Results], Any], Callable[[Results], Any]]] = {
    "metrics_small": (lambda results: results.small, lambda results: bars(results, results.small)),
    "metrics_medium": (lambda results: results.medium, lambda results: bars(results, results.medium)),
    "delta_small": (lambda results: results.small, lambda results: deltas(results, results.small)),
    "delta_medium": (lambda results: results.medium, lambda results: deltas(results, results.medium)),
    "ranks": (lambda results: len(results.all) > 2, _ranks),
    "row_order": (lambda results: results.count("equation", "vowel", "VAAKELM"), row_order),
    "false_alarms": (lambda results: results.all, lambda results: false_alarms(results, results.all)),
    "ablation": (lambda results: results.all, lambda results: ablation(results, results.all)),
}


def draw(results: Results, folder: Path) -> None:
    """Draw every figure that has rows into a folder.

    Parameters
    ----------
    results : Results
        Stored rows.
    folder : Path
        Created if absent.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plt = pyplot()
    for name, (is_there, figure_of) in FIGURES.items():
        if not is_there(results):
            continue
        figure = figure_of(results)
        # Without the name of the software, the same rows give the same bytes.
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        plt.close(figure)

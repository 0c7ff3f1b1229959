"""Every figure of the reproduction page, drawn from rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from oneclass.datasets import names

from ..methods import METHODS
from ..results import Results
from .findings import ablation, false_alarms, row_order
from .metrics import bars, deltas
from .ranking import critical_difference_diagram
from .style import pyplot

__all__ = ["FIGURES", "draw"]


def _ranks(results: Results) -> Any:
    datasets, methods = names("small", "concordia"), list(METHODS)
    tables = {recipe: results.mean("f1", recipe, datasets, methods) for recipe in ("paper", "honest")}
    return critical_difference_diagram({f"F1, recipe {name}": table for name, table in tables.items()}, methods)


#: File name -> how to draw it.
FIGURES: dict[str, Callable[[Results], Any]] = {
    "metrics_small": lambda results: bars(results, names("small")),
    "metrics_medium": lambda results: bars(results, names("concordia")),
    "delta_small": lambda results: deltas(results, names("small")),
    "delta_medium": lambda results: deltas(results, names("concordia")),
    "ranks": _ranks,
    "row_order": row_order,
    "false_alarms": lambda results: false_alarms(results, names("small", "concordia")),
    "ablation": lambda results: ablation(results, names("small", "concordia")),
}


def draw(results: Results, folder: Path) -> None:
    """Draw every figure into a folder.

    Parameters
    ----------
    results : Results
        Stored rows.
    folder : Path
        Made if absent.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plt = pyplot()
    for name, figure_of in FIGURES.items():
        figure = figure_of(results)
        # No software line inside: the same rows give the same bytes.
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        plt.close(figure)

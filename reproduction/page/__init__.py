"""The reproduction page, written from stored rows and never by hand."""

from __future__ import annotations

import os
from pathlib import Path

from .. import plan, store
from ..figures import draw
from ..protocol import Row, Task
from ..results import Results
from .brief import brief
from .claims import claims
from .compare import datasets, f1_tables, training_time
from .exact import exact
from .findings import ablation, false_alarms, row_order
from .gaps import gaps
from .ranking import rank_tests, threshold_free
from .summary import figures, method_notes, opening
from .traps import traps

__all__ = ["page", "write_page"]

_SECTIONS = (
    exact,
    gaps,
    claims,
    traps,
    datasets,
    f1_tables,
    figures,
    training_time,
    rank_tests,
    threshold_free,
    false_alarms,
    row_order,
    ablation,
    method_notes,
)


def page(rows: list[Row]) -> str:
    """The page's text.

    Parameters
    ----------
    rows : list of dict
        Stored rows.

    Returns
    -------
    str
        Markdown; figures are named relative to it.
    """
    results = Results(rows)
    return "\n\n".join([opening(results, rows), *(section(results) for section in _SECTIONS)]) + "\n"


def write_page(rows: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Write the page, with its figures and its rows, compressed, in a folder of its name beside it.

    Rows of the quick plan alone make a short page without figures.

    Parameters
    ----------
    rows : path
        File of stored rows.
    target : path
        The page.

    Raises
    ------
    FileNotFoundError
        No rows are stored there.
    ValueError
        Rows are missing.
    """
    # Draw from what is kept, so that the kept rows draw the same page again.
    stored, target = [_compact(row) for row in store.read(rows)], Path(target)
    if not stored:
        raise FileNotFoundError(f"no rows in {rows}; run python -m reproduction run first")
    results = Results(stored)
    if store.done(stored) == {task.key for task in plan.quick()}:
        target.write_text(brief(results, plan.QUICK_DATASETS) + "\n", encoding="utf-8")
        return
    if missing := _missing(stored, plan.full()):
        first = " ".join(map(str, missing[0].key))
        raise ValueError(f"{len(missing)} tasks have no rows yet, such as {first}: python -m reproduction run")
    folder = target.with_suffix("")
    draw(results, folder)
    store.write(folder / "rows.jsonl.gz", stored)
    target.write_text(page(stored).replace("](reproduction/", f"]({target.stem}/"), encoding="utf-8")


def _missing(rows: list[Row], tasks: list[Task]) -> list[Task]:
    known = store.done(rows)
    return [task for task in tasks if task.key not in known]


def _compact(row: Row) -> Row:
    """Six significant digits: a file of a third of the size."""
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in row.items()}

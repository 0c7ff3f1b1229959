"""The reproduction page, written from stored rows and never by hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .. import plan, store
from ..figures import draw
from ..protocol import Row, Task
from ..results import Results
from .brief import brief
from .claims import claims
from .compare import datasets, f1_tables, training_time
from .exact import exact, software
from .findings import ablation, false_alarms, row_order
from .gaps import gaps, large_gaps
from .metrics import metric_rows, metric_tables
from .ranking import rank_tests, threshold_free
from .summary import figures, method_notes, opening
from .traps import traps

__all__ = ["PAGE", "SHORT_PAGE", "page", "write_page"]

#: Where the page goes unless told otherwise: a part of the rows does not overwrite the page of them all.
PAGE = "docs/reproduction.md"
SHORT_PAGE = "results/reproduction.md"

_SECTIONS = (
    exact,
    software,
    gaps,
    large_gaps,
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


def page(rows: list[Row], missing: Sequence[Task] = ()) -> str:
    """The page's text; sections whose rows are missing are left out.

    Parameters
    ----------
    rows : list of dict
        Stored rows.
    missing : sequence of Task
        Planned tasks without rows.

    Returns
    -------
    str
        Markdown; figures are named relative to it.
    """
    results = Results(rows)
    parts = [opening(results, rows, missing), *(section(results) for section in _SECTIONS)]
    return "\n\n".join(filter(None, parts)) + "\n"


def write_page(rows: str | os.PathLike[str], target: str | os.PathLike[str] | None = None) -> Path:
    """Write the page, with figures, tables of metrics and its rows, compressed, in a folder of its name beside it.

    Rows of the quick plan, and such as leave no dataset complete, make a short page without figures.

    Parameters
    ----------
    rows : path
        File of stored rows.
    target : path, optional
        The page. None: `PAGE` for all rows, `SHORT_PAGE` for some.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileNotFoundError
        No rows are stored there.
    """
    # Draw from what is kept, so that the kept rows draw the same page again.
    stored = [_compact(row) for row in store.read(rows)]
    if not stored:
        raise FileNotFoundError(f"no rows in {rows}; run python -m reproduction run first")
    results, done = Results(stored), store.done(stored)
    quick = done <= {task.key for task in plan.quick()}
    planned = plan.quick() if quick else plan.full()
    missing = [task for task in planned if task.key not in done]
    target = Path(target or (SHORT_PAGE if quick or missing else PAGE))
    target.parent.mkdir(parents=True, exist_ok=True)
    if quick or not results.all:
        target.write_text(brief(results, _whole(planned, missing), missing) + "\n", encoding="utf-8")
        return target
    folder = target.with_suffix("")
    draw(results, folder)
    (folder / "metrics.csv").write_text(metric_rows(results), encoding="utf-8")
    (folder / "metrics.md").write_text(metric_tables(results), encoding="utf-8")
    store.write(folder / "rows.jsonl.gz", stored)
    target.write_text(page(stored, missing).replace("](reproduction/", f"]({target.stem}/"), encoding="utf-8")
    return target


def _whole(planned: list[Task], missing: list[Task]) -> list[str]:
    """The paper's datasets on whose random splits every task has rows."""
    short = {task.source for task in missing}
    asked = dict.fromkeys(task.source for task in planned if task.dataset in plan.PAPER_DATASETS)
    return [name for released, name in asked if not released and (released, name) not in short]


def _compact(row: Row) -> Row:
    """Six significant digits: a file of a third of the size."""
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in row.items()}

"""The reproduction page, written from stored rows and never by hand."""

from __future__ import annotations

import os
from pathlib import Path

from .. import plan, store
from ..figures import draw
from ..protocol import Row
from ..results import Results
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
    """Write the page, and its figures into a folder of its name beside it.

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
    stored = store.read(rows)
    if not stored:
        raise FileNotFoundError(f"no rows in {rows}; run python -m oneclass.bench run first")
    _check_complete(stored)
    target = Path(target)
    draw(Results(stored), target.with_suffix(""))
    target.write_text(page(stored).replace("](reproduction/", f"]({target.stem}/"), encoding="utf-8")


def _check_complete(rows: list[Row]) -> None:
    known = store.done(rows)
    missing = [task for task in plan.full() if task.key not in known]
    if missing:
        first = " ".join(map(str, missing[0].key))
        raise ValueError(
            f"{len(missing)} tasks have no rows yet, such as {first}; python -m oneclass.bench run resumes"
        )

"""The pages of the reproduction, written from stored rows and never by hand: the findings, and tables behind links."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from .. import plan, store
from ..figures import draw
from ..protocol import Row, Task
from ..results import Results
from .brief import brief
from .contents import PAGES, Page
from .front import front
from .metrics import metric_rows

__all__ = ["PAGE", "SHORT_PAGE", "pages", "write_pages"]

#: Default path of the front page. Rows of a part of the tasks go elsewhere and do not overwrite the complete pages.
PAGE = "docs/reproduction.md"
SHORT_PAGE = "results/reproduction.md"


def pages(rows: list[Row], missing: Sequence[Task] = (), *, name: str = "reproduction") -> dict[str, str]:
    """Texts of the front page and of the pages with the tables.

    Parameters
    ----------
    rows : list of dict
        Stored rows.
    missing : sequence of Task
        Planned tasks without rows.
    name : str
        Name of the front page; the other pages and the figures are in a folder of that name beside it.

    Returns
    -------
    dict of str to str
        Path without suffix, relative to the folder of the front page -> Markdown. Sections and pages without rows are
        left out.
    """
    results = Results(rows)
    there = {key: text for key, page in PAGES.items() if (text := _text(page, results))}
    texts = {name: front(results, rows, missing, list(there))}
    texts |= {f"{name}/{key}": text for key, text in there.items()}
    return {path: _renamed(text, name) for path, text in texts.items()}


def _text(page: Page, results: Results) -> str:
    """A page of tables; empty if it has no rows."""
    sections = list(filter(None, (section(results) for section in page.sections)))
    mark = "<!-- Written by `python -m reproduction report` from stored rows. Do not edit. -->"
    back = "Part of the [reproduction of the VAAKELM paper](../reproduction.md)."
    return "\n\n".join([f"# {page.title}", mark, back, *sections]) + "\n" if sections else ""


def _renamed(text: str, name: str) -> str:
    """The text with links that lead to the front page of this name and to its folder."""
    return re.sub(r"(?m)(\]\((?:\.\./)?|^)reproduction(?=/|\.md)", rf"\g<1>{name}", text)


def write_pages(rows: str | os.PathLike[str], target: str | os.PathLike[str] | None = None) -> Path:
    """Write the front page; in a folder of its name, write the pages of tables, the figures and the rows, compressed.

    Rows of the quick plan, and rows that complete no dataset, give one short page without figures.

    Parameters
    ----------
    rows : path
        File of stored rows.
    target : path, optional
        The front page. None: `PAGE` if all tasks have rows, else `SHORT_PAGE`.

    Returns
    -------
    Path
        The front page.

    Raises
    ------
    FileNotFoundError
        No rows are stored there.
    """
    # Round before drawing, so that the rows that are kept draw the same pages again.
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
    store.write(folder / "rows.jsonl.gz", stored)
    for path, text in pages(stored, missing, name=target.stem).items():
        (target.parent / f"{path}.md").write_text(text, encoding="utf-8")
    return target


def _whole(planned: list[Task], missing: list[Task]) -> list[str]:
    """The paper's datasets that have rows of every planned task on random splits."""
    short = {task.source for task in missing}
    asked = dict.fromkeys(task.source for task in planned if task.dataset in plan.PAPER_DATASETS)
    return [name for released, name in asked if not released and (released, name) not in short]


def _compact(row: Row) -> Row:
    """Numbers with six significant digits: the file is three times smaller."""
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in row.items()}

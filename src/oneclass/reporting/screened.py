"""The summary of a screening: suspicious cells in their rows and groups of similar mistakes, as a plain dict."""

from __future__ import annotations

import datetime
from collections import Counter
from importlib.metadata import version
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import _num_samples

from ..core.typing import Name, Rows
from ..screening import Screening, SuspectCell
from ..tabular.frames import as_array, columns_of, rows_of
from .formatting import counted, listed
from .grouping import groups_of
from .schema import Row, ScreenedRow, ScreeningSummary
from .summary import plain

__all__ = ["summarise_screening"]

#: Most columns of the table that are shown; those with suspicious cells come before others.
_SHOWN_COLUMNS = 15
#: Rows for which the summary states the estimated number of mistakes.
_FIRST_ROWS = (10, 30, 100)


def summarise_screening(found: Screening, X: Rows, rows: int) -> ScreeningSummary:
    """The summary of the rows with listed cells, the most suspicious first; it can be written as JSON."""
    n, given = len(found.odd), _num_samples(X)
    if given != n:
        raise ValueError(f"report: X must be the table that was screened, of {counted(n, 'row')}, got {given}")
    cells: dict[int, list[SuspectCell]] = {}
    for cell in found.cells:
        cells.setdefault(cell.row, []).append(cell)
    order = [row for row in found.order.tolist() if row in cells][:rows]
    place = {row: k for k, row in enumerate(found.order.tolist())}
    table = {name: as_array(column) for name, column in columns_of(rows_of(X, np.array(order)), "report").items()}
    suspected = Counter(cell.column for row in order for cell in cells[row])
    shown = sorted(table, key=lambda name: -suspected[name])[:_SHOWN_COLUMNS]
    shown = [name for name in table if name in shown]
    listed_rows: list[ScreenedRow] = []
    for i, row in enumerate(order):
        values = {str(plain(name)): plain(table[name][i]) for name in shown}
        made = {
            "row": row + 1,
            "named": bool(found.odd[row]),
            "p_value": float(found.p_values[row]),
            "mistakes": float(found.mistakes[place[row]]),
            "values": values,
            "cells": [plain(cell._asdict() | {"value": _read(cell)}) for cell in cells[row]],
            "group": None,
        }
        listed_rows.append(cast(ScreenedRow, made))
    kinds = {cast(Name, plain(cell.column)): _kind(cell) for row in order for cell in cells[row]}
    # Groups of named rows; without any, of the first rows, of which as many are taken as stand out.
    some = [row["named"] if found.odd.any() else k < found.stands_out for k, row in enumerate(listed_rows)]
    main = [
        cast(Row, {"reasons": [{**row["cells"][0], "share": 1.0, "probability": None}], "flagged": grouped})
        for row, grouped in zip(listed_rows, some, strict=True)
    ]
    groups, places = groups_of(main, kinds)
    for row, number, grouped in zip(listed_rows, places, some, strict=True):
        row["group"] = number if grouped else None
    summary: dict[str, Any] = {
        "made": datetime.date.today().isoformat(),
        "version": version("oneclass"),
        "data": {"rows": n, "columns": len(table)},
        "named": int(found.odd.sum()),
        "stands_out": found.stands_out,
        "mistakes": {str(k): float(found.mistakes[k - 1]) for k in _FIRST_ROWS if k <= n},
        "columns": [str(plain(name)) for name in shown],
        "groups": groups,
        "rows": listed_rows,
    }
    summary["verdict"] = _verdict(summary)
    summary["advice"] = _advice(summary)
    return cast(ScreeningSummary, summary)


def _read(cell: SuspectCell) -> Any:
    """The value of a cell; as a number if numbers are expected and it holds one as text."""
    if isinstance(cell.low, float) and isinstance(cell.value, str):
        try:
            return float(cell.value)
        except ValueError:
            return cell.value or None
    return cell.value if cell.value != "" else None


def _kind(cell: SuspectCell) -> str:
    """The kind of the column of a cell: numbers have a range."""
    return "number" if cell.low is not None else "category" if isinstance(cell.value, str | bool) else "date"


def _verdict(summary: dict[str, Any]) -> dict[str, str]:
    n, count, named = summary["data"]["rows"], summary["stands_out"], summary["named"]
    if not count:
        sentence = f"Nothing stands out among {counted(n, 'row')}."
    else:
        first = [group for group in summary["groups"][:2] if group["rows"] > 1]
        alike = "; most common: " + " and ".join(f"{g['reason']} ({counted(g['rows'], 'row')})" for g in first)
        stand = f"About {count:,} of {counted(n, 'row')} stand{'s' if count == 1 else ''} out"
        sentence = stand + (alike if first else "") + "."
    if named:
        sure = f"{counted(named, 'row')} {'is' if named == 1 else 'are'} named as wrong. "
    else:
        sure = "No row is named as wrong. "
    estimates = [f"{value:.0f} of the first {k}" for k, value in summary["mistakes"].items()]
    return {"sentence": sentence, "certainty": f"{sure}Estimated rows with a mistake: {listed(estimates)}."}


def _advice(summary: dict[str, Any]) -> list[str]:
    if not summary["stands_out"]:
        return ["Look at the first rows of the table only if single mistakes matter: most of these rows are correct."]
    found = [
        "Compare the marked cells with their source, from the top of the table. A marked cell is suspicious, not "
        "necessarily wrong."
    ]
    if any(group["rows"] > 1 for group in summary["groups"]):
        found.insert(0, "Start with the groups: their rows probably have one cause, such as a wrong unit.")
    found.append(
        "To replace cells by expected values or gaps, use Screening.repair (on the command line: oneclass screen "
        "--repair)."
    )
    return found

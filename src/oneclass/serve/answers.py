"""Answers to questions in JSON: the label, p-value, score and reasons of each row, with the warnings of the library."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.warnings import collected
from ..core.wording import parameters_as
from ..tabular.detector import TableDetector
from ..tabular.frames import objects, rows_of

__all__ = ["Question", "answer", "read_question", "spelled"]

_FIELDS = ("rows", "columns", "delta", "tail", "reasons")
#: Names that a message lists.
_NAMED = 5


@dataclass(frozen=True)
class Question:
    """Rows, and how to judge them.

    Attributes
    ----------
    rows : list
        Objects with the same names, or arrays of the same length.
    columns : list of str or None
        Names of the values in arrays; None for the columns of the model in their order.
    delta, tail
        As in `score_table`.
    reasons : int or None
        Most reasons for each row that gets them; None for the default of the verb.
    """

    rows: list[Any]
    columns: list[str] | None = None
    delta: float | None = None
    tail: str | None = None
    reasons: int | None = None


def read_question(body: bytes) -> Question:
    """The question in a JSON text: an object with `rows` and further fields, or an array of rows."""
    try:
        given = json.loads(body, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("the request must be rows of single values, and is nested too deeply") from None
    except (UnicodeError, json.JSONDecodeError) as error:
        raise ValueError(f"the request must be JSON: {error}") from None
    fields = given if isinstance(given, dict) else {"rows": given}
    if unknown := [name for name in fields if name not in _FIELDS]:
        raise ValueError(f"the request must have the fields {', '.join(_FIELDS)}, got {unknown[0]!r:.80}")
    rows, columns, reasons = fields.get("rows"), fields.get("columns"), fields.get("reasons")
    if not isinstance(rows, list) or not rows:
        raise ValueError("rows must be an array of at least one row")
    if columns is not None and not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise ValueError("columns must be an array of names")
    if reasons is not None and (type(reasons) is not int or reasons < 0):
        raise ValueError(f"reasons must be a whole number of at least 0, got {reasons!r:.80}")
    return Question(rows, columns, fields.get("delta"), fields.get("tail"), reasons)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"the request must be JSON, which has no {name}: write null for a missing value")


def answer(model: Any, question: Question, *, every: bool = False) -> dict[str, Any]:
    """The label, p-value and score of each row; reasons for the outliers if asked for, or all reasons of every row."""
    with collected() as notes, parameters_as(spelled):
        table = _table(model, question)
        found = model.score_table(table, delta=question.delta, tail=question.tail)
        rows = [
            dict(zip(found, values, strict=True))
            for values in zip(*(column.tolist() for column in found.values()), strict=True)
        ]
        explained = np.flatnonzero((found["label"] == -1) | every)
        if (every or question.reasons) and len(explained):
            reasons = model.explain(rows_of(table, explained)).to_dicts(question.reasons)
            for i, row in zip(explained.tolist(), reasons, strict=True):
                rows[i]["reasons"] = row["columns"]
    return {"rows": rows, "outliers": int(np.count_nonzero(found["label"] == -1)), "warnings": notes}


def spelled(name: str, value: object) -> str:
    """A parameter in messages to callers who write JSON."""
    return name if value is None else f"{name}={value!r}"


def _table(model: Any, question: Question) -> Any:
    """The rows of the question as a table for this model."""
    columns = _columns(question.rows, question.columns or _known_names(model))
    if isinstance(model, TableDetector):
        return columns
    if all(isinstance(name, str) for name in columns):
        import pandas as pd

        return pd.DataFrame(columns)
    return np.stack([objects(cells) for cells in columns.values()], axis=1)


def _known_names(model: Any) -> list[str] | list[int]:
    """Names of the columns of a model; their numbers if they have no names."""
    names = getattr(model, "feature_names_in_", None)
    return [*range(model.n_features_in_)] if names is None else [*names]


def _columns(rows: list[Any], names: list[str] | list[int]) -> dict[Any, list[Any]]:
    """The cells of each column, from rows that all are objects with the same names, or arrays of one length."""
    first = rows[0]
    if isinstance(first, dict):
        for i, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise ValueError(f"rows must all be objects, as the first is, but row {i} is not")
            if row.keys() != first.keys():
                name = min(row.keys() ^ first.keys())
                lacks = "lacks" if name in first else "has, unlike the first,"
                raise ValueError(
                    f"rows must all have the same names, but row {i} {lacks} {name!r:.80}; use null for a missing value"
                )
        if not first:
            raise ValueError("rows must have at least one value, but row 1 is empty")
        return {name: [row[name] for row in rows] for name in first}
    for i, row in enumerate(rows, 1):
        if not isinstance(row, list):
            raise ValueError(f"rows must all be objects, or all be arrays, but row {i} is not")
        if len(row) != len(names):
            listed = ", ".join(map(str, names[:_NAMED])) + ", ..." * (len(names) > _NAMED)
            raise ValueError(f"rows must hold {len(names)} values ({listed}), but row {i} holds {len(row)}")
    if len(set(names)) < len(names):
        raise ValueError("columns must be different names")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

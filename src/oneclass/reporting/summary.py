"""The summary: what a model says of rows, as a plain dict that every rendering is made of."""

from __future__ import annotations

import datetime
import inspect
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..base.pipeline import with_verbs
from ..base.protocol import Detector
from ..core.typing import Name, Rows
from ..engines.dask import refuse_dask
from ..io.container import Json
from ..tabular.frames import as_array, columns_of, rows_of
from ..tabular.plan import ColumnPlan
from .advice import advice_of, words_of
from .alarms import SURE, Verdict, budget_of, resemblance_of, scores_of, steps_of
from .columns import compared, known_columns, values_of
from .contents import Cell, Column, Step, Summary

__all__ = ["plain", "summarise"]

#: Columns that are listed, the most changed and the most to blame first; those to blame that are drawn, and values of
#: each.
_COLUMNS, _DRAWN, _VALUES = 100, 9, 300
#: Losses that explaining by substitution, which takes two for every column of a row, may take, and rows at least.
_LOSSES, _FEW = 100_000, 20


def summarise(model: Detector, X: Rows, *, X_train: Rows | None = None, rows: int = 1000, reasons: int = 3) -> Summary:
    """What there is to say, plain enough for JSON."""
    check_is_fitted(model)
    refuse_dask("report", X, X_train)
    model = with_verbs(model)
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    table = {name: as_array(column) for name, column in columns_of(X, "report").items()}
    plan: ColumnPlan | None = getattr(model, "plan_", None)
    names = list(table) if plan is None else [column.name for column in plan.used]
    verdict, classifier = Verdict.of(model, X), _classifier(model)
    budget, steps = budget_of(verdict), steps_of(verdict)
    # The slider may flag more than the threshold does; rows beyond the last step are never shown.
    order = np.argsort(verdict.scores, kind="stable")[: min(rows, max([budget["flagged"], *_flagged(steps)]))]
    why = _Why(model, X, order, reasons)
    columns = compared(table, names, known_columns(model, names, X_train), verdict.flagged)
    _blame(columns, why, table, order[: budget["flagged"]])
    # Numbers may be written as text, and gaps as words.
    held = {c["name"]: values_of(table[c["name"]][order], c) for c in columns if c["kind"] == "number"}
    learnt = getattr(classifier, "held_out_", None)
    found = {
        "made": datetime.date.today().isoformat(),
        "version": version("oneclass"),
        "confidence": SURE,
        "data": {
            "rows": len(verdict.scores),
            "columns": len(names),
            "left_out": [] if plan is None else [
                {"name": column.name, "why": column.why} for column in plan.columns if column.code is None
            ],
        },
        "model": {
            "name": type(classifier).__name__,
            "is": (inspect.getdoc(type(classifier)) or "").partition("\n")[0],
            "parameters": repr(classifier),
            "learnt_from": verdict.learnt_from,
            "grouped": getattr(learnt, "groups", None) is not None,
        },
        "budget": budget,
        "steps": steps,
        "scores": scores_of(verdict),
        "resemblance": resemblance_of(verdict),
        "columns": sorted(columns, key=_weight)[:_COLUMNS],
        "rows": _rows(verdict, order, why, _labels(X, table, plan), held),
        "explained": why.method,
    }  # fmt: skip
    said = cast(Summary, plain(found))
    said["words"], said["advice"] = words_of(said), advice_of(said)
    return said


def _classifier(model: object) -> object:
    """The classifier at the end of tables, searches and pipelines."""
    for inner in ("estimator_", "best_estimator_"):
        if getattr(model, inner, None) is not None:
            return _classifier(getattr(model, inner))
    return _classifier(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def _flagged(steps: list[Step]) -> list[int]:
    return [step["flagged"] for step in steps]


class _Why:
    """Reasons for rows, as far as the model has any; why not, where it has none."""

    def __init__(self, model: Detector, X: Rows, places: NDArray[np.intp], k: int) -> None:
        self.names: tuple[Any, ...] = ()
        self.shares = np.empty((len(places), 0))
        self.top: list[Any] = [()] * len(places)
        self.method = None
        if not len(places):
            return
        try:
            found = model.explain(rows_of(X, places[:1]))
            few = len(places) if found.exact else max(_FEW, _LOSSES // (2 * len(found.names)))
            found = model.explain(rows_of(X, places[:few]))
        except (AttributeError, ValueError) as error:
            self.method = str(error)
            return
        self.names, self.shares, self.method = found.names, found.shares, found.method
        self.top[: len(found)] = found.top(k)


def _blame(
    columns: list[Column], why: _Why, table: Mapping[Name, NDArray[np.generic]], flagged: NDArray[np.intp]
) -> None:
    """Note how much each column is to blame for the flagged rows, in how many it is the first, and its values there."""
    if not len(flagged) or not len(why.names):
        return
    shares = why.shares[: len(flagged)]  # of the strangest, where not all are explained
    first = np.bincount(shares.argmax(axis=1), minlength=len(why.names))
    for entry in columns:
        if entry["name"] in why.names:
            j = why.names.index(entry["name"])
            entry["blame"], entry["first"] = float(shares[:, j].mean()), int(first[j])
    for entry in sorted(columns, key=lambda entry: -entry.get("blame", 0.0))[:_DRAWN]:
        entry["flagged_values"] = values_of(table[entry["name"]][flagged[:_VALUES]], entry)


def _weight(entry: Column) -> float:
    return -float(entry.get("blame", 0.0)) - float(entry.get("distance", 0.0))


def _labels(
    X: Any, table: Mapping[Name, NDArray[np.generic]], plan: ColumnPlan | None
) -> dict[str, NDArray[np.generic]]:
    """What rows are known by: the index of a pandas frame that is not their place, and columns of ids."""
    found = {}
    if hasattr(X, "iloc") and type(X.index).__name__ != "RangeIndex":
        found[str(X.index.name or "index")] = np.asarray(X.index)
    ids = [] if plan is None else [c.name for c in plan.columns if c.why.startswith("an id") and c.name in table]
    return found | {str(name): table[name] for name in ids}


def _rows(
    verdict: Verdict,
    order: NDArray[np.intp],
    why: _Why,
    labels: Mapping[str, NDArray[np.generic]],
    held: Mapping[Name, list[Cell]],
) -> list[dict[str, object]]:
    """The strangest rows, the worst first."""
    p, flagged = verdict.p_values, verdict.flagged
    return [
        {
            "row": int(i) + 1,
            "labels": {name: column[i] for name, column in labels.items()},
            "score": float(verdict.scores[i]),
            "p_value": float(p[i]),
            "flagged": bool(flagged[i]),
            "reasons": [
                reason._asdict() | ({"value": held[reason.column][rank]} if reason.column in held else {})
                for reason in why.top[rank]
            ],
        }
        for rank, i in enumerate(order)
    ]


def plain(value: object) -> Json:
    """A value as JSON can say it: times as text, and None for what is no number."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple):  # a label or a name of several levels
        return ", ".join(str(plain(item)) for item in value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value.astype("datetime64[s]")).replace("T", " ")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if value != value else str(value)

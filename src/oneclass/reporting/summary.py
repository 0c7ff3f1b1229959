"""The summary: everything that a report shows, as a plain dict."""

from __future__ import annotations

import datetime
import inspect
import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..base.classifier import OneClassClassifier
from ..base.delegation import are_training_rows
from ..base.pipeline import with_verbs
from ..base.protocol import Detector
from ..base.segments import without_labels
from ..core.training_keys import looked_up
from ..core.typing import Labels, Name, Rows
from ..engines.dask import refuse_dask
from ..io.container import Json
from ..plot.drawing import CONFIDENCE
from ..tabular.cells import Cells, is_missing, read_cells
from ..tabular.frames import as_array, columns_of, rows_of
from ..tabular.plan import ColumnPlan
from .advice import advice_of, findings_of
from .columns import cell_values, compare_columns, training_columns
from .grouping import groups_of, times_of
from .schema import Cell, Column, Row, Summary
from .scores import ScoredRows, alarms_of, histogram_of, resemblance_of, segments_of, steps_of
from .verdict import verdict_of

__all__ = ["plain", "summarise"]

#: Most columns in a summary; those that contribute or changed most are kept.
_SUMMARY_COLUMNS = 100
#: Columns for which the values of flagged rows are kept, to be drawn, and most values of each.
_DRAWN_COLUMNS, _DRAWN_VALUES = 9, 300
#: Reasons for each row.
_REASONS = 3
#: Most losses computed to explain rows by substitution, which takes two for each column of a row, and the fewest rows
#: that are explained nevertheless.
_SUBSTITUTIONS, _EXPLAINED_ROWS = 100_000, 20


def summarise(
    model: Detector, X: Rows, *, X_train: Rows | None = None, segments: Labels | None = None, rows: int = 1000
) -> Summary:
    """The summary of new rows by a fitted model; it can be written as JSON."""
    check_is_fitted(model)
    refuse_dask("report", X, X_train)
    model = with_verbs(model)
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    plan: ColumnPlan | None = getattr(model, "plan_", None)
    columns = columns_of(_features(model, X), "report")
    table = {name: as_array(column) for name, column in (columns if plan is None else plan.plain(columns)).items()}
    names = list(table) if plan is None else [column.name for column in plan.used]
    scored, classifier = ScoredRows.of(model, X, segments), _classifier(model)
    alarms, steps = alarms_of(scored), steps_of(scored)
    # The slider may flag more rows than the threshold does; rows that it never flags are left out.
    shown = min(rows, max([alarms["flagged"], *(step["flagged"] for step in steps)]))
    order = np.lexsort((scored.scores, scored.p_values, ~scored.flagged))[:shown]  # thresholds may depend on segments
    reasons = _Reasons(model, X, order)
    if X_train is not None:
        X_train = _features(model, X_train) if plan is None else cast(Rows, plan.plain(columns_of(X_train, "report")))
    compared = compare_columns(table, names, training_columns(model, names, X_train), scored.flagged)
    _add_contributions(compared, reasons, table, order, int(np.count_nonzero(scored.flagged[order])))
    kinds = {cast(Name, plain(entry["name"])): entry["kind"] for entry in compared}
    listed_rows = cast(
        list[Row], plain(_rows(scored, order, reasons, _labels(X, table, plan), _read_values(table, compared, order)))
    )
    groups, places = groups_of(listed_rows, kinds)
    times, spans = times_of(_times(X, table), scored.flagged, alarms.get("rate"))
    for i, place, row in zip(order, places, listed_rows, strict=True):
        row["group"], row["span"] = place, None if spans is None or spans[i] < 0 else int(spans[i])
    learnt, known = getattr(classifier, "held_out_", None), getattr(classifier, "known_", None)
    trained_on = are_training_rows(model, rows_of(X, looked_up(len(scored.scores))))
    found = {
        "made": datetime.date.today().isoformat(),
        "version": version("oneclass"),
        "confidence": CONFIDENCE,
        "data": {
            "rows": len(scored.scores),
            "columns": len(names),
            "training_rows": trained_on,
            "left_out": [] if plan is None else [
                {"name": column.name, "why": column.why} for column in plan.columns if column.code is None
            ],
        },
        "model": {
            "name": type(classifier).__name__,
            "description": (inspect.getdoc(type(classifier)) or "").partition("\n")[0],
            "parameters": repr(classifier),
            "fitted_on": scored.fitted_on,
            "grouped": getattr(learnt, "groups", None) is not None,
            **({} if known is None else {"known_outliers": int(known.rows.shape[0])}),
        },
        "verdict": verdict_of(scored, alarms, groups, places, CONFIDENCE, trained_on=trained_on),
        "alarms": alarms,
        "groups": groups,
        "times": times,
        "steps": steps,
        "segments": segments_of(model, scored),
        "scores": histogram_of(scored),
        "resemblance": resemblance_of(scored),
        "columns": sorted(compared, key=_importance)[:_SUMMARY_COLUMNS],
        "rows": listed_rows,
        "explanation": reasons.method,
    }  # fmt: skip
    summary = cast(Summary, plain(found))
    summary["findings"], summary["advice"] = findings_of(summary), advice_of(summary)
    return summary


def _features(model: Detector, X: Rows) -> Rows:
    """The rows without columns that hold their segments or groups; a column plan leaves them out itself."""
    inner: Any = getattr(model, "best_estimator_", model)
    return without_labels(inner, X) if isinstance(inner, OneClassClassifier) else X


def _classifier(model: object) -> object:
    """The classifier inside tables, searches and pipelines."""
    for inner in ("estimator_", "best_estimator_"):
        if getattr(model, inner, None) is not None:
            return _classifier(getattr(model, inner))
    return _classifier(model.steps[-1][1]) if isinstance(model, Pipeline) else model


class _Reasons:
    """Contributions of the columns to the scores of rows, and how they were found; or why there are none."""

    def __init__(self, model: Detector, X: Rows, order: NDArray[np.intp]) -> None:
        self.names: tuple[Any, ...] = ()
        self.shares = np.empty((len(order), 0))
        self.top: list[Any] = [()] * len(order)
        self.method = None
        if not len(order):
            return
        try:
            found = model.explain(rows_of(X, order[:1]))
            count = len(order) if found.exact else max(_EXPLAINED_ROWS, _SUBSTITUTIONS // (2 * len(found.names)))
            found = model.explain(rows_of(X, order[:count]))
        except (AttributeError, ValueError) as error:
            self.method = str(error)
            return
        self.names, self.shares, self.method = found.names, found.shares, found.method
        self.top[: len(found)] = found.top(_REASONS)


def _add_contributions(
    columns: list[Column],
    reasons: _Reasons,
    table: Mapping[Name, NDArray[np.generic]],
    order: NDArray[np.intp],
    flagged: int,
) -> None:
    """Add to each column its mean share in the scores of flagged rows, and to the largest contributors their values.

    The first `flagged` of the listed rows are flagged.
    """
    if not flagged or not len(reasons.names):
        return
    shares = reasons.shares[:flagged]
    largest = np.bincount(shares.argmax(axis=1), minlength=len(reasons.names))
    for entry in columns:
        if entry["name"] in reasons.names:
            j = reasons.names.index(entry["name"])
            entry["share"], entry["largest_in"] = float(shares[:, j].mean()), int(largest[j])
    contributing = [entry for entry in columns if "share" in entry]
    for entry in sorted(contributing, key=lambda entry: -entry["share"])[:_DRAWN_COLUMNS]:
        drawn = order[: min(_DRAWN_VALUES, len(reasons.shares))]
        entry["flagged"] = flagged
        entry["listed_values"] = cell_values(table[entry["name"]][drawn], entry)
        entry["listed_shares"] = reasons.shares[: len(drawn), reasons.names.index(entry["name"])].round(4).tolist()


def _importance(entry: Column) -> float:
    return -float(entry.get("share", 0.0)) - float(entry.get("distance", 0.0))


def _times(X: Any, table: Mapping[Name, NDArray[np.generic]]) -> dict[Name, Cells]:
    """Columns that may hold times; the index of a pandas frame, if it does, is the first."""
    found: dict[Name, Cells] = {}
    if hasattr(X, "iloc") and getattr(X.index, "dtype", None) is not None and X.index.dtype.kind == "M":
        found[str(X.index.name or "index")] = read_cells(np.asarray(X.index), "report: the index")
    for name, column in table.items():
        if column.dtype.kind in "MOUST":
            found[name] = read_cells(column, f"report: column {name!r}")
    return found


def _labels(
    X: Any, table: Mapping[Name, NDArray[np.generic]], plan: ColumnPlan | None
) -> dict[str, NDArray[np.generic]]:
    """Labels of the rows: the index of a pandas frame, unless it counts the rows, and columns of ids."""
    found = {}
    if hasattr(X, "iloc") and type(X.index).__name__ != "RangeIndex":
        found[str(X.index.name or "index")] = np.asarray(X.index)
    ids = [] if plan is None else [c.name for c in plan.columns if c.why.startswith("an id") and c.name in table]
    return found | {str(name): table[name] for name in ids}


def _read_values(
    table: Mapping[Name, NDArray[np.generic]], columns: list[Column], order: NDArray[np.intp]
) -> dict[Name, list[Cell]]:
    """Values of the listed rows: numbers, which a table may hold as text, and categories, which it may number."""
    read = [c for c in columns if c["kind"] in ("number", "category")]
    return {c["name"]: cell_values(table[c["name"]][order], c) for c in read}


def _rows(
    scored: ScoredRows,
    order: NDArray[np.intp],
    reasons: _Reasons,
    labels: Mapping[str, NDArray[np.generic]],
    values: Mapping[Name, list[Cell]],
) -> list[dict[str, object]]:
    """The listed rows, the most unusual first."""
    p, flagged = scored.p_values, scored.flagged
    return [
        {
            "row": int(i) + 1,
            "labels": {name: column[i] for name, column in labels.items()},
            "score": float(scored.scores[i]),
            "p_value": float(p[i]),
            "flagged": bool(flagged[i]),
            "reasons": [
                reason._asdict() | _read_value(reason.value, values.get(reason.column), rank)
                for reason in reasons.top[rank]
            ],
        }
        for rank, i in enumerate(order)
    ]


def _read_value(cell: Any, read: Sequence[Cell] | None, rank: int) -> dict[str, Cell]:
    """The value of a reason, unless the cell could not be read: then the reason holds the cell itself."""
    if is_missing(cell):
        return {"value": None}
    return {} if read is None or read[rank] is None or read[rank] != read[rank] else {"value": read[rank]}


def plain(value: object) -> Json:
    """A value as JSON can hold it: times become text; NaN and infinity become None."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple):  # a label or a name with several levels
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
    if isinstance(value, datetime.datetime) and value == value:
        return value.isoformat(" ", "seconds")
    return None if value != value else str(value)

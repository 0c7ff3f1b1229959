"""Methods of the library as tools of an agent: tables and models are files of one folder; answers have caveats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import oneclass as library

from ..base.warnings import collected
from ..cli.describing import described
from ..cli.methods import classifier
from ..cli.options import known_model
from ..cli.table_io import about, read_all
from ..core.typing import Name
from ..core.wording import parameters_as
from ..reporting.api import writer_of
from .answers import spelled
from .root import Root

__all__ = ["Tools"]

Answer = dict[str, Any]

#: Most files that are listed, and most rows that an answer lists.
_FILES, _ROWS = 500, 200


class Tools:
    """The tools; each public method is one.

    Parameters
    ----------
    root : Root
        The folder with the tables and models.
    """

    def __init__(self, root: Root) -> None:
        self._root = root

    def files(self) -> Answer:
        """List the files that the other tools can read: tables (CSV, Parquet, Feather, Arrow) and models."""
        return {"files": self._root.files(_FILES)}

    def describe(self, model: str) -> Answer:
        """Describe a model file: classifier, false-alarm rate, held-out rows, smallest p-value, columns."""
        known = known_model(self._root.file(model))
        return described(known) | {"caveats": _caveats(known)}

    def screen(self, table: str, q: float = 0.1, groups: str | None = None, limit: int = 20) -> Answer:
        """Find unusual rows of a table that may contain outliers, without a model.

        q is the largest expected share of normal rows among the rows found. groups names a column whose rows belong
        together, such as a patient. Rows are counted from 1.
        """
        with collected() as notes, parameters_as(spelled):
            rows = self._read(table)
            known = library.TableDetector()
            with about(table):
                found = known.screen(rows, q=q, groups=groups)
            odd = np.flatnonzero(found.odd)
            worst = odd[np.argsort(found.p_values[odd], kind="stable")][: _few(limit)]
            listed = _listed(known, rows, worst, p_value=found.p_values)
        notes.append(f"On average at most a share {q:g} of the rows found are normal. Most rows must be normal.")
        return {"rows": len(rows), "unusual": len(odd), "listed": listed, "caveats": notes}

    def fit(
        self,
        table: str,
        model: str,
        delta: float = 0.05,
        method: str = "vaakelm",
        groups: str | None = None,
        columns: dict[Name, str | Sequence[str]] | None = None,
    ) -> Answer:
        """Fit a model on a table whose rows are normal, and write the model to a new file.

        delta is the false-alarm rate asked for. groups names a column whose rows belong together: the rate is then that
        of rows of new groups. columns gives the kind of some columns: number, category, date, clock or drop.
        """
        place = self._root.new(model)
        with collected() as notes, parameters_as(spelled):
            known = library.TableDetector(classifier(method, delta), columns)
            with about(table):
                known.fit(self._read(table), groups=groups)
        known.save(place)
        return {"model": model} | described(known) | {"caveats": notes + _caveats(known)}

    def score(
        self,
        model: str,
        table: str,
        delta: float | None = None,
        reasons: int = 3,
        limit: int = 20,
        output: str | None = None,
    ) -> Answer:
        """Score the rows of a table with a model: labels, p-values, and reasons of the most unusual rows.

        The answer lists the outliers with the lowest scores, at most `limit`. output names a new file (.csv or
        .parquet) for all rows. delta replaces the false-alarm rate of the model. Rows are counted from 1.
        """
        known, place = known_model(self._root.file(model)), None if output is None else self._root.new(output)
        with collected() as notes, parameters_as(spelled):
            rows = self._read(table)
            with about(table):
                found = known.score_table(rows, delta=delta)
                odd = np.flatnonzero(found["label"] == -1)
                worst = odd[np.argsort(found["score"][odd], kind="stable")][: _few(limit)]
                shown = {name: values for name, values in found.items() if name != "label"}
                listed = _listed(known, rows, worst, reasons, **shown)
                if place is not None:
                    names = [str(name) for name in rows]
                    source = library.TableFile(self._root.table(table), columns=names, keep=names, text="all")
                    known.score_chunks(source, place, delta=delta, reasons=reasons)
        answer = {"rows": len(rows), "outliers": len(odd), "listed": listed, "output": output}
        return answer | {"caveats": notes + _caveats(known, delta)}

    def explain(self, model: str, table: str, row: int = 1) -> Answer:
        """Explain one row of a table, counted from 1: value, expected value and share of each column."""
        known = known_model(self._root.file(model))
        with collected() as notes, parameters_as(spelled):
            rows = self._read(table)
            if not 1 <= row <= len(rows):
                raise ValueError(f"row must be from 1 to {len(rows)}, the number of rows, got {row}")
            one = rows.iloc[[row - 1]]
            found = known.score_table(one)
            (reasons,) = known.explain(one).to_dicts()
        values = {name: column.tolist()[0] for name, column in found.items()}
        return {"row": row} | values | {"reasons": reasons["columns"], "caveats": notes + _caveats(known)}

    def report(self, model: str, table: str, output: str | None = None) -> Answer:
        """Report on the rows of a table: alarms, reasons, changed columns, recommended actions.

        The answer is the report as Markdown. output names a new file (.html, .md or .json) for the whole report.
        """
        known, place = known_model(self._root.file(model)), None if output is None else self._root.new(output)
        if place is not None:
            writer_of(place)
        with collected() as notes, parameters_as(spelled), about(table):
            found = library.report(known, self._read(table), title=f"What is unusual in {Path(table).name}")
        if place is not None:
            found.save(place)
        return {"report": found.to_markdown(), "output": output, "caveats": notes + _caveats(known)}

    def _read(self, table: str) -> Any:
        return read_all(library.TableFile(self._root.table(table), text="all"))


def _few(limit: int) -> int:
    if not 0 <= limit <= _ROWS:
        raise ValueError(f"limit must be from 0 to {_ROWS}, got {limit}")
    return limit


def _listed(known: Any, rows: Any, places: Any, reasons: int = 3, **columns: Any) -> list[Answer]:
    """Number, values of `columns` and reasons of some rows."""
    if not len(places):
        return []
    explained = known.explain(rows.iloc[places]).to_dicts(reasons)
    listed = {"row": (places + 1).tolist()} | {name: values[places].tolist() for name, values in columns.items()}
    rows_of = zip(*listed.values(), strict=True)
    return [
        dict(zip(listed, values, strict=True)) | {"reasons": row["columns"]}
        for values, row in zip(rows_of, explained, strict=True)
    ]


def _caveats(model: Any, delta: float | None = None) -> list[str]:
    """What a reader of the numbers must know, as sentences."""
    calibration = model.calibration_
    if calibration is None:
        return ["The fit held no rows out: there are no p-values, and the false-alarm rate is unknown."]
    n, smallest = calibration.total, calibration.smallest_budget
    found = [f"The smallest possible p-value is {smallest:.3g}, from {n:g} held-out rows."]
    if model.segments_ is not None:
        found.append("Each segment has its own threshold and false-alarm rate, which describe lists.")
    elif delta is not None or model.decision_.held_out:
        low, high = model.false_alarm_interval(delta=delta)
        asked = model.decision_.delta if delta is None else delta
        found.append(
            f"On average at most {asked:.3g} of new normal rows are false alarms; with this model it is {low:.3g} to "
            f"{high:.3g}, with 95 % confidence."
        )
    return [*found, "The rates hold for normal rows like those of the training table. A label is no proof of a fault."]

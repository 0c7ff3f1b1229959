"""``oneclass watch``: scores rows as they arrive, with a stream that is saved after every block."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import closing, nullcontext
from copy import copy
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
import numpy as np
from click.core import ParameterSource

import oneclass as library

from ..base.warnings import ColumnWarning, FewRowsWarning, OneClassWarning, collected, warn
from ..io.sniffing import cells_of, is_number
from .following import Followed
from .options import asked_columns, check_outputs
from .table_io import about

if TYPE_CHECKING:
    from ..core.typing import Name

__all__ = ["watch", "watch_rows"]

Row = TypeVar("Row", bound=Sized)
#: What is watched with. The names are text, so that help and completion import no classifier.
Model: TypeAlias = "library.TableDetector | library.Stream"

#: Reasons that an alarm gives.
_REASONS = 3


@click.command()
@click.argument("table")
@click.option("--state", required=True, metavar="STREAM", help="File of the stream; continued if it exists.")
@click.option(
    "--delta",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Requested false-alarm rate.",
)
@click.option("--window", type=click.FloatRange(0, min_open=True), help="Learned rows to keep.  [default: 1000]")
@click.option("--half-life", type=click.FloatRange(0, min_open=True), help="Rows after which a weight is halved.")
@click.option(
    "--patience",
    type=click.FloatRange(0, min_open=True),
    help="Rows a change must last before it is learned.  [default: 45 if no row resembles earlier ones, else 140]",
)
@click.option("--opening", type=click.IntRange(2), default=500, show_default=True, help="Rows of the first fit.")
@click.option("--every", type=click.IntRange(1), default=50, show_default=True, help="Rows of a block.")
@click.option("--delimiter", default=",", show_default=True, help="Character between the columns.")
@click.option("--header/--no-header", default=None, help="Whether the first line holds column names.")
@click.option("--drop", metavar="COLUMN", multiple=True, help="Column to ignore; may be repeated.")
@click.option("--column", metavar="NAME=KIND", multiple=True, help="Kind of a column, as in oneclass fit.")
@click.option("--follow", is_flag=True, help="Wait for more lines at the end of the file.")
def watch(
    table: str,
    state: str,
    delta: float,
    window: float | None,
    half_life: float | None,
    patience: float | None,
    opening: int,
    every: int,
    delimiter: str,
    header: bool | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    follow: bool,
) -> None:
    """Score rows as they arrive, and learn accepted ones.

    TABLE holds lines of numbers, words and times; - is standard input.
    Once the data have changed, all accepted rows are learned.
    Alarms with reasons, and events, are printed as lines of JSON, with rows counted from 1. The stream is saved after
    every block. If TABLE is a file, the command can be stopped at any time and started again: no row is learned twice
    or lost.

    \b
    Examples:
      oneclass watch numbers.csv --state stream.oneclass
    """
    source = click.get_current_context().get_parameter_source
    given = {"delta": delta, "window": window, "half_life": half_life, "patience": patience, "every": every}
    asked = {name: value for name, value in given.items() if source(name) is ParameterSource.COMMANDLINE}
    window = 1000 if window is None and half_life is None else window
    new = library.Stream(delta=delta, window=window, half_life=half_life, patience=patience or "prompt", every=every)
    columns = asked_columns((), drop, column)
    model = _kept(state, asked, columns) if Path(state).exists() else library.TableDetector(new, columns)
    check_outputs([], model=state)
    file = Followed(Path(table) if table != "-" else sys.stdin.buffer, follow=follow)
    with closing(file) if table != "-" else nullcontext(), about(table):  # standard input stays open
        lines = _Rows(file, model, delimiter, click.echo, header=header, from_start=table != "-")
        watch_rows(lines, state, model, click.echo, opening=opening)


def _stream_in(model: Model) -> library.Stream:
    """The stream of a model, which in files of version 0.1 is the model itself."""
    if isinstance(model, library.Stream):
        return model
    stream: Any = getattr(model, "estimator_", None) or model.estimator
    found: library.Stream = stream
    return found


def _kept(place: str, asked: Mapping[str, object], columns: Mapping[Name, str] | None) -> Model:
    """The model in a file; options that differ from its parameters are an error."""
    model: Any = library.load(place)
    if not isinstance(getattr(model, "estimator_", model), library.Stream):
        raise ValueError(f"{place}: --state must be the file of a Stream, and this is a {type(model).__name__}")
    if columns and columns != getattr(model, "columns", None):
        raise ValueError(f"{place}: --column and --drop must be those of the stream in this file; leave them out")
    for name, value in asked.items():
        if (kept := getattr(_stream_in(model), name)) != value:
            raise ValueError(
                f"{place}: --{name.replace('_', '-')} must be that of the stream in this file, {kept}, got {value}; "
                "leave the option out, or begin a stream in another file"
            )
    found: Model = model
    return found


def watch_rows(rows: _Rows, place: str, model: Model, say: Callable[[str], object], *, opening: int) -> None:
    """Score and learn the rows of a file.

    A new stream is fitted on the first `opening` rows. The alarms and events of each block are passed to `say` as lines
    of JSON, and then the model is saved to the file `place`. If the process is killed in between, the next one repeats
    the lines of that block and loses none.
    """
    stream = _stream_in(model)
    seen = getattr(stream, "n_seen_", 0)
    for block in _blocks(rows, opening if seen == 0 else None, stream.every):
        if seen == 0 and len(block) < 2:
            raise ValueError("a stream must begin with at least two rows, got one")
        if seen == 0 and len(block) < opening:
            few = f"there are {len(block)} rows, fewer than the {opening} of --opening: all begin the stream"
            warn(few, FewRowsWarning)
        table, before = rows.table(block), _as_now(model)
        with nullcontext() if seen == 0 else collected():  # the alarms name new values and cells
            verdict = model.watch(table)
            for line in _alarms(before, table, verdict):
                say(json.dumps(line))
        seen += len(block)
        for event in verdict.events:
            moved = [{"column": rows.shown[c.column] if isinstance(c.column, int) and rows.shown else c.column,
                      "from": c.before, "to": c.after} for c in event.columns]  # fmt: skip
            say(json.dumps({"event": event.kind, "row": event.row, "rows": len(event.rows),
                            "evidence": event.evidence, "columns": moved}))  # fmt: skip
        if rows.from_start:
            _stream_in(model).source_ = rows.first, rows.file.head.decode("latin-1")
        model.save(place)


def _as_now(model: Model) -> Model:
    """A copy that keeps the present state of the stream."""
    found = copy(model)
    if isinstance(found, library.TableDetector) and hasattr(found, "estimator_"):
        found.estimator_ = copy(found.estimator_)
    return found


def _alarms(before: Model, table: Any, verdict: library.stream.Verdict) -> Iterator[dict[str, object]]:
    """A line for each alarm; p-values and reasons are by the state before the rows were learned."""
    odd = np.flatnonzero(verdict.labels < 0)
    if not len(odd):
        return
    from ..tabular.frames import rows_of

    rows = rows_of(table, odd)
    told = _told_columns(before)
    explained = before.explain(rows).top(_REASONS)
    for i, p, reasons in zip(odd.tolist(), before.p_value(rows).tolist(), explained, strict=True):
        line = {"alarm": int(verdict.rows[i]) + 1, "p_value": p, "score": float(verdict.scores[i])}
        known = {key: table[name][i] for key, name in told.items() if name in table}
        yield line | known | {"reasons": [str(reason) for reason in reasons]}


def _told_columns(model: Model) -> dict[str, Name]:
    """The columns with the id and the time of a row, under the names that an alarm gives them."""
    columns = model.plan_.columns if isinstance(model, library.TableDetector) else ()
    ids = [column.name for column in columns if column.why.startswith("an id")]
    times = [column.name for column in columns if column.kind in ("date", "clock") or column.why.startswith("times")]
    return {key: names[0] for key, names in (("id", ids), ("time", times)) if names}


class _Rows:
    """The rows of a file that a stream has not seen, each as cells in the order of the stream's columns.

    The iterator yields an empty row if no row is available, and if the file was truncated or replaced. If the lines
    begin `from_start`, as those of a file do, the rows that the stream has seen are skipped. Columns are matched by the
    names that the stream began with, if it has any. If the file is truncated or replaced, its new content is read from
    the first line. Rows that a stream of numbers cannot take are passed to `say` as alarms, and left out.
    """

    def __init__(
        self,
        file: Followed,
        model: Model,
        delimiter: str,
        say: Callable[[str], object],
        *,
        header: bool | None,
        from_start: bool,
    ) -> None:
        stream = _stream_in(model)
        self.file, self._delimiter, self._header, self.from_start = file, delimiter, header, from_start
        self._model, self._say = model, say
        self._row = getattr(stream, "n_seen_", 0)  # number of rows so far
        self._names: list[str] | None = None  # column names in the file
        self._places: list[int] | None = None
        self._width: int | None = None
        self.known = list(getattr(model, "feature_names_in_", ()))
        self.shown: list[str] | None = self.known
        #: Number of the first row in the file, if rows that were left out are counted backwards from the next row.
        self.first: int
        self.first, head = getattr(stream, "source_", (0, "")) if from_start else (self._row, "")
        if not file.begins_as(head.encode("latin-1")):
            changed = f"{file.name} does not begin as it did when the stream last read it"
            if file.follow:
                self.first = self._row
                warn(f"{changed}: it is read from its first line", OneClassWarning)
            else:
                warn(f"{changed}; its first {self._row - self.first} rows are skipped all the same", OneClassWarning)

    def __iter__(self) -> Iterator[list[str]]:
        skip = self._row - self.first
        while True:
            lines = self.file.lines()
            first = next((line for line in lines if line), None)
            if first is not None:
                lines = self._below(first.removeprefix("\ufeff"), lines)  # the byte-order mark that Windows writes
            _skip(lines, skip)
            for line in lines:
                cells = self._cells(line) if line else []
                if cells is not None:
                    yield cells
            if self.file.change is None:
                return
            warn(
                f"{self.file.name} {self.file.change}; it is read from its first line, which comes after "
                f"{self._row} rows; rows that were removed before they were read are lost",
                OneClassWarning,
            )
            skip, self.first = 0, self._row
            yield []

    def table(self, block: list[list[str]]) -> Any:
        """The rows of a block as a table for the model."""
        if isinstance(self._model, library.Stream):
            import pandas as pd

            X = np.array(block, dtype=float)
            return pd.DataFrame(X, columns=self.known) if self.known else X
        names: Sequence[Name] = self.known or range(len(block[0]))
        return {
            name: np.array(cells, dtype=object) for name, cells in zip(names, zip(*block, strict=True), strict=True)
        }

    def _below(self, first: str, lines: Iterator[str]) -> Iterator[str]:
        """The lines that hold rows: all, or all but a first line that holds column names."""
        cells = [cell.strip() for cell in cells_of(first, self._delimiter)]
        if not self._is_header(cells):
            self._names, self._places = None, None
            return chain([first], lines)
        self._names = cells
        if self._row == 0:
            _places(cells, cells)
            self.known = cells
        self._places = _places(cells, self.known) if self.known else None
        self._width = None
        self.shown = self.known or cells
        return lines

    def _is_header(self, cells: list[str]) -> bool:
        """Whether the cells of the first line are column names."""
        if self._header is not None:
            return self._header
        from ..tabular.text import NOTHING

        numbers = [is_number(cell) for cell in cells if cell.lower() not in NOTHING]
        if all(numbers) and numbers:
            return False
        if isinstance(self._model, library.Stream) or (self._row == 0 and not any(numbers)):
            return True
        if self._row == 0:
            raise ValueError(
                f"the first line holds words and numbers, {self._delimiter.join(cells)!r:.200}; use --header if it "
                "names the columns, --no-header if it is a row"
            )
        if self.known:
            return not any(numbers) or not {*cells}.isdisjoint(self.known)
        # A stream without names: a row has a number in every column of numbers.
        columns = self._model.plan_.columns
        return any(column.kind == "number" and not is_number(cell or "0")
                   for column, cell in zip(columns, cells, strict=False))  # fmt: skip

    def _cells(self, line: str) -> list[str] | None:
        """The cells of a line; None for a row that a stream of numbers cannot take, which is an alarm."""
        numbers = isinstance(self._model, library.Stream)
        cells = line.split(self._delimiter) if numbers else cells_of(line, self._delimiter)
        width = self._width or len(cells)
        if len(cells) != width or (not numbers and line.count('"') % 2):
            held = "numbers" if numbers else "cells, with both quotes of a cell in one line"
            raise ValueError(f"row {self._row + 1}: a line must hold {width} {held}, got {line!r:.200}")
        if self._names and len(self._names) != width:
            names = self._delimiter.join(self._names)
            raise ValueError(f"the first line must name the {width} columns of the rows, got {names!r}")
        self._width = width
        places = range(width) if self._places is None else self._places
        bad = {str(self._names[j] if self._names else j): cells[j] for j in places if not _is_finite(cells[j])}
        if numbers and bad:
            self._say(json.dumps({"alarm": self._row + 1, "bad_cells": bad}))
            self.first -= 1
            return None
        self._row += 1
        return [cells[place] for place in places]


def _places(names: list[str], known: list[str]) -> list[int]:
    """Positions in a line of the columns that a stream knows by name."""
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"columns must have names of their own, but more than one is {twice[0]!r}")
    if lacking := [name for name in known if name not in names]:
        raise ValueError(
            f"the first line must name the columns of the stream, but lacks {', '.join(map(repr, lacking))}"
        )
    if extra := [name for name in names if name not in known]:
        warn(
            f"these columns are not those of the stream and are left out: {', '.join(map(repr, extra))}", ColumnWarning
        )
    if [name for name in names if name in known] != known:
        warn("columns have another order than in the stream; they are matched by name", ColumnWarning)
    return [names.index(name) for name in known]


def _skip(lines: Iterator[str], seen: int) -> None:
    """Skip the rows that were seen; a file with fewer rows is an error."""
    there = 0
    while there < seen:
        line = next(lines, None)
        # The last line may have been read before its end was written.
        if line is None or (not line and there < seen - 1):
            raise ValueError(
                f"the file must begin with the {seen} rows that the stream has seen, got {there}; rows of another "
                "file, such as a log that restarted, come from standard input: oneclass watch - --state STREAM < TABLE"
            )
        there += bool(line)


def _blocks(rows: Iterable[Row], first: int | None, size: int) -> Iterator[list[Row]]:
    """Blocks of rows, the first of size `first`, if given; a block ends early if no row is available."""
    block: list[Row] = []
    for row in rows:
        if row:
            block.append(row)
        if len(block) >= (first or size) or (not row and block and first is None):
            yield block
            block, first = [], None
    if block:
        yield block


def _is_finite(cell: str) -> bool:
    return is_number(cell) and math.isfinite(float(cell))

"""``oneclass watch``: scores rows as they arrive, with a stream that is saved after every block."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import closing, nullcontext
from itertools import chain
from pathlib import Path
from typing import TypeVar

import click
import numpy as np
from click.core import ParameterSource

import oneclass as library

from ..base.warnings import ColumnWarning, FewRowsWarning, OneClassWarning, warn
from ..io.sniffing import cells_of, is_number
from ..tabular.text import NOTHING
from .following import Followed
from .options import check_outputs
from .table_io import about

__all__ = ["watch", "watch_lines"]

Row = TypeVar("Row", bound=Sized)


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
@click.option("--window", type=click.FloatRange(0, min_open=True), help="Rows to remember.  [default: 1000]")
@click.option("--half-life", type=click.FloatRange(0, min_open=True), help="Rows after which a weight is halved.")
@click.option(
    "--patience",
    type=click.FloatRange(0, min_open=True),
    help="Rows a change must last before it is learned.  [default: 45 if no row resembles earlier ones, else 140]",
)
@click.option("--opening", type=click.IntRange(2), default=500, show_default=True, help="Rows of the first fit.")
@click.option("--every", type=click.IntRange(1), default=50, show_default=True, help="Rows of a block.")
@click.option("--delimiter", default=",", show_default=True, help="Character between the columns.")
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
    follow: bool,
) -> None:
    """Score rows as they arrive, and learn from them.

    TABLE holds lines of numbers; - is standard input.
    Alarms and events are printed as lines of JSON, with rows counted from 0. A row with a cell that is empty or no
    number is an alarm that names the cell; it is not learned and not counted. The stream is saved after every block. If
    TABLE is a file, the command can be stopped at any time and started again: no row is learned twice or lost.

    \b
    Examples:
      oneclass watch numbers.csv --state stream.oneclass
    """
    source = click.get_current_context().get_parameter_source
    given = {"delta": delta, "window": window, "half_life": half_life, "patience": patience, "every": every}
    asked = {name: value for name, value in given.items() if source(name) is ParameterSource.COMMANDLINE}
    window = 1000 if window is None and half_life is None else window
    new = library.Stream(delta=delta, window=window, half_life=half_life, patience=patience or "prompt", every=every)
    stream = _kept(state, asked) if Path(state).exists() else new
    check_outputs([], model=state)
    file = Followed(Path(table) if table != "-" else sys.stdin.buffer, follow=follow)
    with closing(file) if table != "-" else nullcontext(), about(table):  # standard input stays open
        watch_lines(file, state, stream, click.echo, opening=opening, delimiter=delimiter, from_start=table != "-")


def _kept(place: str, asked: Mapping[str, object]) -> library.Stream:
    """The stream in a file; options that differ from its parameters are an error."""
    stream = library.load(place)
    if not isinstance(stream, library.Stream):
        raise ValueError(
            f"{place}: only the file of a Stream can be watched with, and this is a {type(stream).__name__}"
        )
    for name, value in asked.items():
        if (kept := getattr(stream, name)) != value:
            raise ValueError(
                f"{place}: --{name.replace('_', '-')} must be that of the stream in this file, {kept}, got {value}; "
                "leave the option out, or begin a stream in another file"
            )
    return stream


def watch_lines(
    file: Followed,
    place: str,
    stream: library.Stream,
    say: Callable[[str], object],
    *,
    opening: int,
    delimiter: str,
    from_start: bool,
) -> library.Stream:
    """Score and learn the rows of a file of numbers.

    A new stream is fitted on the first `opening` rows. The alarms and events of each block are passed to `say` as lines
    of JSON, and then the stream is saved to the file `place`. If the process is killed in between, the next one repeats
    the lines of that block and loses none. If the lines begin `from_start`, as those of a file do, the rows that the
    stream has seen are skipped. Columns are matched by the names that the stream began with, if it has any. If the file
    is truncated or replaced, its new content is read from the first line.
    """
    import pandas as pd

    seen = getattr(stream, "n_seen_", 0)
    rows = _Rows(file, stream, delimiter, say, from_start=from_start)
    for block in _blocks(rows, opening if seen == 0 else None, stream.every):
        X = np.array(block, dtype=float)
        if seen == 0 and len(X) < 2:
            raise ValueError("a stream must begin with at least two rows, got one")
        if seen == 0 and len(X) < opening:
            warn(
                f"there are {len(X)} rows, fewer than the {opening} of --opening: all begin the stream", FewRowsWarning
            )
        seen += len(X)
        verdict = stream.watch(pd.DataFrame(X, columns=rows.known) if rows.known else X)
        for i in np.flatnonzero(verdict.labels < 0):
            say(json.dumps({"alarm": int(verdict.rows[i]), "score": float(verdict.scores[i])}))
        for event in verdict.events:
            moved = [{"column": rows.shown[c.column] if rows.shown else c.column, "from": c.before, "to": c.after}
                     for c in event.columns]  # fmt: skip
            say(json.dumps({"event": event.kind, "row": event.row, "rows": len(event.rows),
                            "evidence": event.evidence, "columns": moved}))  # fmt: skip
        if from_start:
            stream.source_ = rows.first, file.head.decode("latin-1")
        stream.save(place)
    return stream


class _Rows:
    """The rows of a file that a stream has not seen, each as cells in the order of the stream's columns.

    The iterator yields an empty row if no row is available, and if the file was truncated or replaced. Rows with a cell
    that is no number are passed to `say` as alarms, and left out.
    """

    def __init__(
        self,
        file: Followed,
        stream: library.Stream,
        delimiter: str,
        say: Callable[[str], object],
        *,
        from_start: bool,
    ) -> None:
        self._file, self._delimiter, self._say = file, delimiter, say
        self._row = getattr(stream, "n_seen_", 0)  # number of the next row
        self._names: list[str] | None = None  # column names in the file
        self._places: list[int] | None = None
        self._width: int | None = None
        self.known = list(getattr(stream, "feature_names_in_", ()))
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
            lines = self._file.lines()
            first = next((line for line in lines if line), None)
            if first is not None:
                lines = self._below(first.removeprefix("\ufeff"), lines)  # the byte-order mark that Windows writes
            _skip(lines, skip)
            for line in lines:
                cells = self._cells(line) if line else []
                if cells is not None:
                    yield cells
            if self._file.change is None:
                return
            warn(
                f"{self._file.name} {self._file.change}; it is read from its first line, which comes after "
                f"{self._row} rows; rows that were removed before they were read are lost",
                OneClassWarning,
            )
            skip, self.first = 0, self._row
            yield []

    def _below(self, first: str, lines: Iterator[str]) -> Iterator[str]:
        """The lines that hold rows: all, or all but a first line that holds column names."""
        if _is_row(first, self._delimiter):
            self._names, self._places = None, None
            return chain([first], lines)
        self._names = [name.strip().strip('"') for name in cells_of(first, self._delimiter)]
        if any(map(is_number, self._names)):
            raise ValueError(f"the first line must hold numbers, or names of columns and no number, got {first!r}")
        if self._row == 0:
            self.known = self._names
        self._places = _places(self._names, self.known) if self.known else None
        self._width = None
        self.shown = self.known or self._names
        return lines

    def _cells(self, line: str) -> list[str] | None:
        """The cells of a line; None if one of them is no number."""
        cells = line.split(self._delimiter)
        width = self._width or len(cells)
        if len(cells) != width:
            raise ValueError(f"row {self._row}: a line must hold {width} numbers, got {line!r}")
        if self._names and len(self._names) != width:
            names = self._delimiter.join(self._names)
            raise ValueError(f"the first line must name the {width} columns of the rows, got {names!r}")
        self._width = width
        places = range(width) if self._places is None else self._places
        if bad := {str(self._names[j] if self._names else j): cells[j] for j in places if not _is_finite(cells[j])}:
            self._say(json.dumps({"alarm": self._row, "bad_cells": bad}))
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
        warn(f"the stream has not seen these columns, which are left out: {', '.join(map(repr, extra))}", ColumnWarning)
    if [name for name in names if name in known] != known:
        warn("columns stand in another order than in the stream; they are matched by name", ColumnWarning)
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


def _is_row(line: str, delimiter: str) -> bool:
    """Whether a first line holds numbers and, beside them, only empty cells."""
    cells = [cell for cell in line.split(delimiter) if cell.strip().lower() not in NOTHING]
    return bool(cells) and all(map(is_number, cells))


def _is_finite(cell: str) -> bool:
    return is_number(cell) and math.isfinite(float(cell))

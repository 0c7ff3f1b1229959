"""``oneclass watch``: rows that come line by line, and a stream that is kept in a file between two blocks of them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO

import click
import numpy as np
from click.core import ParameterSource
from numpy.typing import NDArray

import oneclass as library

from ..contract.notices import ColumnWarning, FewRowsWarning, warn
from ..disk.sniffing import cells_of, is_number
from .tables import about

__all__ = ["watch", "watch_lines"]

#: Seconds between two looks at a file that may grow.
_PAUSE = 0.2


@click.command()
@click.argument("table")
@click.option(
    "--state", required=True, metavar="STREAM", help="File that keeps the stream; gone on with if it is there."
)
@click.option(
    "--delta",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Share of false alarms to allow.",
)
@click.option("--window", type=click.FloatRange(0, min_open=True), help="Rows to know.  [default: 1000]")
@click.option("--half-life", type=click.FloatRange(0, min_open=True), help="Rows after which a row weighs half.")
@click.option(
    "--patience",
    type=click.FloatRange(0, min_open=True),
    help="Rows a change must last before it is learned.  [default: 45 if nobody of the old world is left, 140 else]",
)
@click.option("--opening", type=click.IntRange(2), default=500, show_default=True, help="Rows to begin with.")
@click.option("--every", type=click.IntRange(1), default=50, show_default=True, help="Rows to learn at a time.")
@click.option("--delimiter", default=",", show_default=True, help="What separates the columns.")
@click.option("--follow", is_flag=True, help="Wait for lines that are added to the file.")
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
    """Judge the rows of TABLE as they come (numbers, a line each; - for standard input), and learn from them.

    Alarms and events are written as lines of JSON, rows counted from 0. The stream is saved after every block: killed
    at any point it goes on with nothing learned twice or lost, if TABLE is a file.

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
    with ExitStack() as stack:
        file: IO[str] = sys.stdin
        if from_start := table != "-":
            file = stack.enter_context(Path(table).open(encoding="utf-8"))
        stack.enter_context(about(table))
        watch_lines(
            file, state, stream, click.echo, opening=opening, delimiter=delimiter, follow=follow, from_start=from_start
        )


def _kept(place: str, asked: Mapping[str, object]) -> library.Stream:
    """The stream in a file, which goes on with the parameters that it has: those asked for must be the same."""
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
    file: IO[str],
    place: str,
    stream: library.Stream,
    say: Callable[[str], object],
    *,
    opening: int,
    delimiter: str,
    follow: bool,
    from_start: bool,
) -> library.Stream:
    """Judge and learn the rows of a file of numbers until it ends, or for ever if it is to `follow`.

    A stream that has seen no rows begins with `opening` of them. Alarms and events are said as lines of JSON; then the
    stream is saved as the file `place`. Whoever is killed in between says some again, and loses none. Rows
    that the stream has seen are skipped where lines come `from_start` again, as those of a file do. Columns are taken
    by the names that the stream began with, if any.
    """
    import pandas as pd

    seen = getattr(stream, "n_seen_", 0)
    lines = _lines(file, follow=follow)
    first = next((line for line in lines if line), None)
    skipped = seen if from_start else 0
    if first is None:
        _skip(lines, skipped)
        return stream
    first = first.removeprefix("\ufeff")  # by which Windows marks UTF-8
    names = None if _is_row(first, delimiter) else [name.strip().strip('"') for name in cells_of(first, delimiter)]
    if names and any(map(is_number, names)):
        raise ValueError(f"the first line must hold numbers, or names of columns and no number, got {first!r}")
    rows = lines if names else chain([first], lines)
    known = names if seen == 0 else list(getattr(stream, "feature_names_in_", ()))
    places, shown = _places(names, known) if names and known else None, known or names
    _skip(rows, skipped)
    for block in _blocks(rows, opening if seen == 0 else None, stream.every):
        X = _numbers(block, delimiter, seen)
        if names and len(names) != X.shape[1]:
            raise ValueError(f"the first line must name the {X.shape[1]} columns of the rows, got {first!r}")
        if seen == 0 and len(X) < 2:
            raise ValueError("a stream must begin with at least two rows, got one")
        if seen == 0 and len(X) < opening:
            warn(
                f"there are {len(X)} rows, fewer than the {opening} of --opening: all begin the stream", FewRowsWarning
            )
        seen += len(X)
        X = X if places is None else X[:, places]
        verdict = stream.watch(pd.DataFrame(X, columns=known) if known and X.shape[1] == len(known) else X)
        for i in np.flatnonzero(verdict.labels < 0):
            say(json.dumps({"alarm": int(verdict.rows[i]), "score": float(verdict.scores[i])}))
        for event in verdict.events:
            moved = [{"column": shown[c.column] if shown else c.column, "from": c.before, "to": c.after}
                     for c in event.columns]  # fmt: skip
            say(json.dumps({"event": event.kind, "row": event.row, "rows": len(event.rows),
                            "evidence": event.evidence, "columns": moved}))  # fmt: skip
        stream.save(place)
    return stream


def _places(names: list[str], known: list[str]) -> list[int]:
    """Where in a line the columns stand that a stream knows by name."""
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


def _lines(file: IO[str], *, follow: bool) -> Iterator[str]:
    """Whole lines, and an empty one where there are no more for now."""
    part = ""
    while True:
        try:
            part += file.readline()
        except UnicodeDecodeError as error:
            raise ValueError("only plain text in UTF-8 can be watched: unpack or convert it first") from error
        if part.endswith("\n") or (part and not follow):
            line, part = part.strip(), ""
            if line:
                yield line
        elif not follow:
            return
        else:
            yield ""
            time.sleep(_PAUSE)


def _skip(lines: Iterator[str], seen: int) -> None:
    """Pass by the rows that were seen; fewer are another file's."""
    there = 0
    while there < seen:
        line = next(lines, None)
        # The last line may have been read without its end, for which followers wait.
        if line is None or (not line and there < seen - 1):
            raise ValueError(
                f"the file must begin with the {seen} rows that the stream has seen, got {there}; rows of another "
                "file, such as a log that began anew, come from standard input: oneclass watch - --state STREAM < TABLE"
            )
        there += bool(line)


def _blocks(lines: Iterator[str], first: int | None, size: int) -> Iterator[list[str]]:
    """Lines by blocks, the first of another size, if one is given; then what there is when no more come for now."""
    block: list[str] = []
    for line in lines:
        if line:
            block.append(line)
        if len(block) >= (first or size) or (not line and block and first is None):
            yield block
            block, first = [], None
    if block:
        yield block


def _is_row(line: str, delimiter: str) -> bool:
    return all(map(is_number, line.split(delimiter)))


def _numbers(block: list[str], delimiter: str, seen: int) -> NDArray[np.float64]:
    """The rows of a block."""
    cells = [line.split(delimiter) for line in block]
    for i, row in enumerate(cells):
        if len(row) != len(cells[0]) or not _is_row(block[i], delimiter):
            raise ValueError(f"row {seen + i}: a line must hold {len(cells[0])} numbers, got {block[i]!r}")
    return np.array(cells, dtype=float)

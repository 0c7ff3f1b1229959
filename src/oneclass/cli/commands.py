"""The commands."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, TypeVar

import click

import oneclass as library

from ..tabular import TableDetector
from .methods import METHODS, classifier
from .tables import on_terminal, read_all, sink_of, source_of
from .watching import watch_lines

__all__ = ["oneclass"]

Command = TypeVar("Command", bound=Callable[..., Any])

#: Rows up to which a table is fitted whole, exactly; beyond, from chunks with landmarks.
_WHOLE = 5_000


def _shared(*options: Any) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_reading = _shared(
    click.option("--delimiter", help="What separates the columns of text."),
    click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of text."),
    click.option("--decimal", default=".", show_default=True, help="What comes before decimals."),
)
_learning = _shared(
    click.option("--delta", type=click.FloatRange(0, 1, max_open=True), default=0.05, show_default=True,
                 help="Share of false alarms to allow."),
    click.option("--groups", metavar="COLUMN", help="Column of persons, machines, days: alarms are for new ones."),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Column not to learn from; may be repeated."),
    click.option("--column", metavar="NAME=KIND", multiple=True,
                 help="What a column is: number, category, date, clock or drop."),
)  # fmt: skip
_as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON, for machines.")


def _say(fields: dict[str, Any], as_json: bool, text: str) -> None:
    click.echo(json.dumps(fields, default=str) if as_json else text)


def _columns(drop: tuple[str, ...], column: tuple[str, ...]) -> dict[str, str]:
    asked = dict.fromkeys(drop, "drop")
    for pair in column:
        name, sign, kind = pair.rpartition("=")
        if not sign:
            raise click.UsageError(f"--column must be NAME=KIND, got {pair!r}")
        asked[name] = kind
    return asked


def _places(names: Any, asked: Any) -> Any:
    """Names as places, where the table has no names."""
    if all(isinstance(name, int) for name in names):
        return {int(name) if name.isdecimal() else name: kind for name, kind in asked.items()}
    return asked


def _model(path: str) -> Any:
    model = library.load(path)
    if not isinstance(model, TableDetector):
        raise ValueError(f"{path}: the command line reads models of tables, and this is a {type(model).__name__}")
    return model


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(library.__version__, prog_name="oneclass")
def oneclass() -> None:
    """Learn what is normal from a table of normal rows; say which new rows are not, how sure that is, and why.

    \b
    Examples:
      oneclass fit normal.csv -o model.oneclass
      oneclass score model.oneclass new.csv -o scored.csv

    \b
    Exit codes: 0 done, 2 wrong usage, 3 a table that cannot be used, 4 a model file that cannot be read,
    5 a file that cannot be opened or written, 130 interrupted, 141 the reader of the output has gone.
    """


@oneclass.command()
@click.argument("table")
@click.option("-o", "--output", required=True, metavar="MODEL", help="Model file to write.")
@click.option("--method", type=click.Choice(sorted(METHODS)), default="vaakelm", show_default=True)
@click.option(
    "--confidence", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Keep delta with this probability."
)
@_learning
@_reading
@_as_json
def fit(
    table: str,
    output: str,
    method: str,
    confidence: float | None,
    delta: float,
    groups: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Learn from the normal rows of TABLE (CSV, Parquet, Feather, Arrow; - for CSV from standard input).

    \b
    Examples:
      oneclass fit normal.csv -o model.oneclass
      oneclass fit normal.csv -o model.oneclass --delta 0.01 --drop note --column zip=category
    """  # fmt: skip
    with source_of(table, **reading) as source:
        _refuse_same(source.path, output)
        first, few = _first_rows(source)
        asked = _places(_names(first), _columns(drop, column))
        whole = few or not hasattr(METHODS[method], "fit_chunks")
        model = TableDetector(classifier(method, delta, confidence=confidence), asked or None)
        if whole:
            model.fit(read_all(source), groups=groups)
        else:
            model.fit_chunks(source, groups=groups, verbose=on_terminal())
        model.save(output)
    rows = int(model.calibration_.total) if model.calibration_ is not None else None
    fields = {"model": output, "method": method, "rows": rows, "columns": _plan(model)}
    _say(fields, as_json, f"{model.plan_}\n{output}: {method} of {rows} rows, or groups of them, delta={delta:g}")


def _first_rows(source: Any) -> tuple[Any, bool]:
    """The first block, and whether the table has few rows."""
    blocks = iter(source)
    first = next(blocks, None)
    if first is None:
        raise ValueError(f"{Path(source.path).name}: the file holds no rows")
    rows = first.shape[0]
    while rows <= _WHOLE and (block := next(blocks, None)) is not None:
        rows += block.shape[0]
    return first, rows <= _WHOLE


def _names(block: Any) -> list[Any]:
    return list(getattr(block, "columns", range(block.shape[1])))


def _refuse_same(source: Any, output: str) -> None:
    if os.path.exists(output) and os.path.exists(source) and os.path.samefile(source, output):
        raise ValueError(f"the output must be another file than the input, got {output} for both")


def _plan(model: Any) -> list[dict[str, Any]]:
    return [{"name": column.name, "kind": column.kind, "why": column.why} for column in model.plan_.columns]


@oneclass.command()
@click.argument("model")
@click.argument("table")
@click.option("-o", "--output", default="-", show_default=True, metavar="TABLE", help="Table to write; - for CSV.")
@click.option("--alpha", type=click.FloatRange(0, 1, max_open=True), help="Share of false alarms instead of delta.")
@click.option("--tail", type=click.Choice(["pareto"]), help="P-values beyond the sample by a Pareto tail.")
@click.option("--reasons", type=click.IntRange(0), default=3, show_default=True, help="Reasons for each outlier.")
@click.option("--keep", metavar="COLUMN", multiple=True, help="Column to carry over; ids are, unless told.")
@_reading
@_as_json
def score(
    model: str,
    table: str,
    output: str,
    alpha: float | None,
    tail: str | None,
    reasons: int,
    keep: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Judge the rows of TABLE by MODEL: a line each with score, p-value, label (-1 for an outlier) and reasons.

    \b
    Examples:
      oneclass score model.oneclass new.csv -o scored.csv
      oneclass score model.oneclass - --alpha 0.01 < new.csv > scored.csv
    """  # fmt: skip
    sink, known = sink_of(output), _model(model)
    with source_of(table, **reading) as source:
        first, _ = _first_rows(source)
        names = [str(name) for name in _names(first)]
        ids = [str(c.name) for c in known.plan_.columns if c.why.startswith("an id") and str(c.name) in names]
        source = library.TableFile(source.path, columns=names, keep=keep or ids, text="all", **reading)
        done = known.score_chunks(source, sink, alpha=alpha, tail=tail, reasons=reasons, verbose=on_terminal())
    if output != "-":
        text = f"{output}: {done.outliers} of {done.rows} rows are outliers"
        _say({"output": output, "rows": done.rows, "outliers": done.outliers}, as_json, text)


@oneclass.command()
@click.argument("model")
@click.argument("table")
@click.option("--row", type=click.IntRange(1), default=1, show_default=True, help="Row to explain, counted from 1.")
@_reading
@_as_json
def explain(model: str, table: str, row: int, as_json: bool, **reading: Any) -> None:
    """Say why a row of TABLE is strange to MODEL: each column's value, expected value and share of the score.

    \b
    Examples:
      oneclass explain model.oneclass new.csv --row 17
    """
    known = _model(model)
    with source_of(table, **reading) as source:
        frame, before = None, 0
        for block in source:
            if row <= before + block.shape[0]:
                frame = block.iloc[[row - 1 - before]] if hasattr(block, "iloc") else block[[row - 1 - before]]
                break
            before += block.shape[0]
    if frame is None:
        raise ValueError(f"--row must be at most {before}, the number of rows, got {row}")
    p, label = float(known.p_value(frame)[0]), int(known.predict(frame)[0])
    found = known.explain(frame)
    reasons = found.row(0)
    fields = {"row": row, "p_value": p, "label": label, "reasons": [reason._asdict() for reason in reasons]}
    fields |= {"exact": found.exact, "method": found.method}
    verdict = "an outlier" if label < 0 else "normal"
    lines = [f"{reason.share:6.1%}  {reason}" for reason in reasons]
    _say(fields, as_json, "\n".join([f"row {row} is {verdict}: p={p:.3g}", *lines, found.method]))


@oneclass.command()
@click.argument("table")
@click.option("-o", "--output", default="-", show_default=True, metavar="TABLE", help="Table to write; - for CSV.")
@click.option(
    "--q",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="Share of normal rows to allow among those named.",
)
@click.option("--model", metavar="MODEL", help="Model of the rows that stay, to write.")
@_learning
@_reading
def screen(
    table: str,
    output: str,
    q: float,
    model: str | None,
    delta: float,
    groups: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    **reading: Any,
) -> None:
    """Write the odd rows of TABLE, which need not be clean, with their p-values and reasons.

    \b
    Examples:
      oneclass screen table.csv -o odd.csv
    """
    import pyarrow as pa

    from ..disk.sinks import writing

    sink = sink_of(output)
    with source_of(table, **reading) as source:
        _refuse_same(source.path, output)
        rows = read_all(source)
    known = TableDetector(classifier("vaakelm", delta), _places(list(rows.columns), _columns(drop, column)) or None)
    found = known.screen(rows, q=q, groups=groups)
    odd = rows[found.odd].rename(columns=str)
    written: dict[str, Any] = {"row": found.odd.nonzero()[0] + 1, "screen_p_value": found.p_values[found.odd]}
    if len(odd):
        written["reason"] = [str(reasons[0]) for reasons in known.explain(rows[found.odd]).top(1)]
    else:
        written["reason"] = pa.array([], pa.string())
    with writing(sink) as write:
        write(pa.RecordBatch.from_pydict(written | {name: pa.array(odd[name].astype(object)) for name in odd}))
    if model:
        known.save(model)
    if output != "-":
        click.echo(f"{output}: {len(odd)} of {len(rows)} rows are odd")


@oneclass.command()
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
    default=140,
    show_default=True,
    help="Rows that a change must last before it is learned.",
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
    patience: float,
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
    window = 1000 if window is None and half_life is None else window
    new = library.Stream(delta=delta, window=window, half_life=half_life, patience=patience, every=every)
    with ExitStack() as stack:
        file: IO[str] = sys.stdin
        if table != "-":
            file = stack.enter_context(Path(table).open(encoding="utf-8"))
        watch_lines(
            file, state, new, click.echo, opening=opening, delimiter=delimiter, follow=follow, from_start=table != "-"
        )


@oneclass.command()
@click.argument("model")
@_as_json
def info(model: str, as_json: bool) -> None:
    """Say what MODEL is and what it takes the columns for.

    \b
    Examples:
      oneclass info model.oneclass
    """
    known = library.load(model)
    kind, detector = type(known).__name__, getattr(known, "detector_", known)
    fields = {"kind": kind, "detector": repr(detector), "bytes": Path(model).stat().st_size}
    if isinstance(known, TableDetector):
        fields["columns"] = _plan(known)
    if known.calibration_ is not None:
        low, high = known.interval(alpha=detector.delta)
        fields |= {"delta": detector.delta, "held_out": float(known.calibration_.total), "rate_95": [low, high]}
    plan = f"\n{known.plan_}" if isinstance(known, TableDetector) else ""
    said = [f"{name}: {value}" for name, value in fields.items() if name != "columns"]
    _say(fields, as_json, "\n".join(said) + plan)


@oneclass.command()
@click.argument("normal")
@click.argument("outliers", required=False)
@_learning
@_reading
@_as_json
def compare(
    normal: str,
    outliers: str | None,
    delta: float,
    groups: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Fit every classifier to four fifths of NORMAL; show false alarms on the rest, and catches among OUTLIERS.

    \b
    Examples:
      oneclass compare normal.csv odd.csv
    """  # fmt: skip
    import numpy as np

    if groups is not None:
        raise click.UsageError("--groups: compare holds out rows, not groups")
    with ExitStack() as stack:
        table = read_all(stack.enter_context(source_of(normal, **reading)))
        odd = read_all(stack.enter_context(source_of(outliers, **reading))) if outliers else None
    asked = _places(list(table.columns), _columns(drop, column)) or None
    order = np.random.default_rng(0).permutation(len(table))
    cut = -(-4 * len(table) // 5)
    train, test = (table.iloc[np.sort(part)] for part in (order[:cut], order[cut:]))
    if not len(test):
        raise ValueError(f"{normal}: comparing needs at least 5 rows, got {len(table)}")
    found = []
    for method in METHODS:
        model = TableDetector(classifier(method, delta), asked).fit(train)
        row = {"method": method, "false_alarms": float((model.predict(test) == -1).mean())}
        if odd is not None:
            row["caught"] = float((model.predict(odd) == -1).mean())
        found.append(row)
    head = f"{'method':<13}{'false alarms':>13}" + f"{'caught':>9}" * (odd is not None)
    lines = [
        f"{row['method']:<13}{row['false_alarms']:>13.1%}" + (f"{row['caught']:>9.1%}" if "caught" in row else "")
        for row in found
    ]
    _say({"delta": delta, "methods": found}, as_json, "\n".join([head, *lines]))


@oneclass.group()
def data() -> None:
    """Named datasets."""


@data.command("list")
@_as_json
def list_data(as_json: bool) -> None:
    """List the datasets.

    \b
    Examples:
      oneclass data list
    """
    from ..datasets import cards

    rows = [{"name": c.name, "rows": c.rows, "features": c.features, "access": c.access} for c in cards()]
    _say(
        {"datasets": rows},
        as_json,
        "\n".join(f"{r['name']:<22}{r['rows']:>7}{r['features']:>6}  {r['access']}" for r in rows),
    )


@data.command()
@click.argument("name")
@click.option("-o", "--output", required=True, metavar="TABLE", help="Table of targets to write.")
@click.option("--outliers", metavar="TABLE", help="Table of outliers to write.")
def fetch(name: str, output: str, outliers: str | None) -> None:
    """Write the target rows of the dataset NAME, and its outliers, as tables.

    \b
    Examples:
      oneclass data fetch wine -o normal.csv --outliers odd.csv
    """
    import pyarrow as pa

    from ..datasets import load
    from ..disk.sinks import writing

    for path in filter(None, (output, outliers)):
        sink_of(path)
    found = load(name, progress=on_terminal())
    for place, label in ((output, 1), (outliers, -1)):
        if place:
            with writing(sink_of(place)) as write:
                write(pa.RecordBatch.from_pandas(found.X[found.y == label], preserve_index=False))


@oneclass.command()
@click.pass_context
def demo(context: click.Context) -> None:
    """Fit, score and explain a small table in a temporary folder, showing each command.

    \b
    Examples:
      oneclass demo
    """
    from .demo import show

    show(context.command_path.split()[0], oneclass)

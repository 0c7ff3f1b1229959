"""Scores and reasons of rows: ``oneclass score``, ``oneclass explain`` and ``oneclass screen``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import click

import oneclass as library

from ..base.warnings import ColumnWarning, warn
from ..core.wording import said
from ..io.sinks import Arranged
from .methods import classifier
from .options import (
    as_json,
    asked_columns,
    bad_cells,
    cell_options,
    check_outputs,
    escape,
    force,
    known_model,
    learning,
    reading,
    refuse_both,
    say,
)
from .table_io import CellOptions, Reading, about, first_rows, names_of, on_terminal, read_all, sink_of, source_of
from .terminal import drawn, prose, styled

if TYPE_CHECKING:
    from ..reporting.schema import AlarmGroup

__all__ = ["explain", "score", "screen"]

#: Most groups of rows with similar mistakes that are printed.
_GROUPS = 5


@click.command()
@click.argument("model")
@click.argument("table")
@click.option("-o", "--output", default="-", show_default=True, metavar="TABLE", help="Table to write; - for CSV.")
@click.option("--delta", type=click.FloatRange(0, 1, max_open=True), help="Rate to use instead of the model's delta.")
@click.option("--tail", type=click.Choice(["pareto"]), help="Extrapolate small p-values with a Pareto tail.")
@click.option("--reasons", type=click.IntRange(0), default=3, show_default=True, help="Reasons for each outlier.")
@click.option("--keep", metavar="COLUMN", multiple=True, help="Column to copy, instead of all columns.")
@click.option("--only-alarms", is_flag=True, help="Write the outliers only.")
@click.option("--sort", is_flag=True, help="Write the most unusual rows first.")
@bad_cells
@escape
@reading
@as_json
def score(
    model: str,
    table: str,
    output: str,
    delta: float | None,
    tail: str | None,
    reasons: int,
    keep: tuple[str, ...],
    only_alarms: bool,
    sort: bool,
    bad_cells: str | None,
    escape: bool,
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Score the rows of TABLE: p-value, label and reasons.

    Writes the columns of TABLE, unchanged, and the results beside them, one line for each row; the label is -1 for an
    outlier and 1 for other rows. The format is that of the suffix: .csv, .tsv, .jsonl, .xlsx, .parquet, .feather or
    .arrow.

    \b
    Examples:
      oneclass score model.oneclass new.csv -o scored.csv
      oneclass score model.oneclass new.csv --only-alarms --sort -o alarms.jsonl
      oneclass score model.oneclass - --delta 0.01 < new.csv > scored.csv
    """  # fmt: skip
    refuse_both(as_json, output)
    sink, known = sink_of(output, escape=escape), known_model(model, bad_cells)
    with source_of(table, **reading) as source:
        check_outputs([*source.files(), model], output)
        first, _ = first_rows(source)
        names = [str(name) for name in names_of(first)]
        has_id = any(c.why.startswith("an id") and str(c.name) in (keep or names) for c in known.plan_.columns)
        arranged = Arranged(sink, only_alarms, sort, numbered=not has_id)
        results = [*(["row"] if not has_id else []), "score", "p_value", "label"]
        if taken := [name for name in results if name in (keep or names)]:
            listed = ", ".join(f"oneclass_{name}" for name in taken)
            warn(f"{table}: the table has columns called {', '.join(taken)}; the results are {listed}", ColumnWarning)
        source = replace(source, columns=names, keep=keep or names)
        done = known.score_chunks(source, arranged, delta=delta, tail=tail, reasons=reasons, verbose=on_terminal())
    if output != "-":
        text = f"{output}: {done.outliers} of {done.rows} rows are outliers"
        say({"output": output, "rows": done.rows, "outliers": done.outliers}, as_json, text)


@click.command()
@click.argument("model")
@click.argument("table")
@click.option("--row", type=click.IntRange(1), default=1, show_default=True, help="Row to explain, counted from 1.")
@reading
@as_json
def explain(model: str, table: str, row: int, as_json: bool, **reading: Unpack[Reading]) -> None:
    """Explain one row of TABLE: value and expected value.

    Prints them for each column, with its share of the score.

    \b
    Examples:
      oneclass explain model.oneclass new.csv --row 17
    """
    known = known_model(model)
    with source_of(table, **reading) as source:
        frame, before = None, 0
        for block in source:
            if row <= before + block.shape[0]:
                frame = block.iloc[[row - 1 - before]] if hasattr(block, "iloc") else block[[row - 1 - before]]
                break
            before += block.shape[0]
        if frame is None:
            raise ValueError(f"--row must be at most {before}, the number of rows, got {row}")
        p = None if known.calibration_ is None else float(known.p_value(frame)[0])
        label = int(known.predict(frame)[0])
        found = known.explain(frame)
    reasons = found.row(0)
    fields = {"row": row, "p_value": p, "label": label, "reasons": found.to_dicts()[0]["columns"]}
    fields |= {"exact": found.exact, "method": found.method}
    fields |= {} if found.known is None else {"cause": found.causes()[0]}
    verdict = (styled("an outlier", fg="red") if label < 0 else "normal") + ("" if p is None else f": p={p:.3g}")
    lines = [f"{reason.share:6.1%}  {reason}" for reason in reasons]
    verdict += f", {fields['cause']}" if label < 0 and "cause" in fields else ""
    say(fields, as_json, "\n".join([f"row {row} is {verdict}", *map(prose, lines), prose(found.method)]))


@click.command()
@click.argument("table")
@click.option("-o", "--output", metavar="TABLE", help="Table to write all suspicious cells to; - for CSV.")
@click.option(
    "--q",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="Largest expected share of normal rows among the rows named.",
)
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Rows whose cells are printed.")
@click.option("--repair", metavar="TABLE", help="Table to write, with expected values in the cells that are named.")
@click.option("--model", metavar="MODEL", help="Model file to write, fitted on the rows that are not named.")
@escape
@force
@learning
@cell_options
@reading
@as_json
def screen(
    table: str,
    output: str | None,
    q: float,
    top: int,
    repair: str | None,
    model: str | None,
    escape: bool,
    force: bool,
    delta: float,
    groups: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    cells: CellOptions,
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Find suspicious cells and rows of TABLE, without a model.

    Prints the most suspicious cells with expected values; * marks those that are named at the rate q. Rows are counted
    from 1, without the header. Groups of rows with similar mistakes follow.

    \b
    Examples:
      oneclass screen table.csv
      oneclass screen table.csv -o cells.csv --repair repaired.csv
    """
    import pyarrow as pa

    from ..io.sinks import writing
    from ..reporting.screened import summarise_screening

    if output is not None:
        refuse_both(as_json, output)
    sinks = [None if path is None else sink_of(path, escape=escape) for path in (output, repair)]
    with source_of(table, **reading) as source:
        check_outputs([*source.files()], output, repair, model=model, force=force)
        rows = read_all(source)
    known = library.TableDetector(classifier("vaakelm", delta), asked_columns(rows.columns, drop, column), **cells)
    with about(table):
        found = known.screen(rows, q=q, top=top, groups=groups)
    mended, log = found.repair(rows)
    if sinks[0] is not None:
        frame = found.to_frame()
        frame["row"] += 1
        written = {name: pa.array(frame[name].astype(object), from_pandas=True) for name in ("row", "p_value", "named")}
        text = {name: pa.array(map(said, frame[name]), pa.string()) for name in ("column", "value")}
        expected = pa.array([cell.expectation for cell in found.cells], pa.string())
        with writing(sinks[0]) as write:
            write(pa.RecordBatch.from_pydict({"row": written["row"], **text, "expected": expected, **written}))
    if sinks[1] is not None:
        with writing(sinks[1]) as write:
            cleaned = {str(name): pa.array(mended[name].astype(object), from_pandas=True) for name in mended}
            write(pa.RecordBatch.from_pydict(cleaned))
    if model:
        known.save(model, force=force)
    first = set(found.order[:top].tolist())
    listed = [cell for cell in found.cells if cell.row in first]
    named = int(found.odd.sum())
    fields = {"rows": len(rows), "named": named, "stands_out": found.stands_out, "summary": found.summary}
    alike = [group for group in summarise_screening(found, rows, len(rows))["groups"] if group["rows"] > 1]
    fields |= {"groups": alike, "cells": [cell._asdict() | {"row": cell.row + 1} for cell in listed]}
    fields |= {"changes": log.assign(row=log["row"] + 1).to_dict("records")} if repair else {}
    if output == "-" or repair == "-":
        return
    lines = [("*" * cell.named, cell.row + 1, cell.column, said(cell.value), cell.expectation) for cell in listed]
    told = "\n".join([*_like_mistakes(alike), f"{table}: {found.summary}"])
    told += f"\n{repair}: {len(log)} cells replaced" if repair else ""
    say(fields, as_json, f"{drawn(('', 'row', 'column', 'value', 'expected'), lines)}\n{told}")


def _like_mistakes(groups: Sequence[AlarmGroup]) -> Iterator[str]:
    """A line for each of the largest groups of rows with similar mistakes."""
    for group in groups[:_GROUPS]:
        expected = f" (expected {group['expected']})" if group["expected"] else ""
        yield f"{group['rows']} rows: {group['reason']}{expected}"

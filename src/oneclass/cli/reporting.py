"""Report on a table: ``oneclass report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import click

import oneclass as library

from .options import about_columns, as_json, asked_columns, check_outputs, known_model, reading, refuse_both, say
from .table_io import Reading, about, read_all, source_of

__all__ = ["report"]


@click.command()
@click.argument("model")
@click.argument("table", required=False)
@click.option("--screen", is_flag=True, help="Report the suspicious cells of TABLE, without MODEL.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Report to write: .html, .md or .json; - for Markdown on standard output.",
)
@click.option("--train", metavar="TABLE", help="Training rows, instead of the column summaries in MODEL.")
@click.option(
    "--rows", type=click.IntRange(1), help="Most rows to list.  [default: 1000; with --screen 100]", metavar="N"
)
@click.option("--title", help="Title of the report.")
@about_columns
@reading
@as_json
def report(
    model: str,
    table: str | None,
    screen: bool,
    output: str,
    train: str | None,
    rows: int | None,
    title: str | None,
    groups: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Report on the rows of TABLE: alarms, reasons, changes.

    A report also lists changed columns, and recommends what to do next. With --screen, it shows the suspicious cells of
    one table; --groups, --drop and --column are for such a table, since a model knows its columns.

    \b
    Examples:
      oneclass report model.oneclass new.csv -o report.html
      oneclass report model.oneclass new.csv -o - --rows 10
      oneclass report --screen table.csv -o report.html
    """
    from ..reporting.api import writer_of

    refuse_both(as_json, output)
    if output != "-":
        writer_of(output)
    if screen and (table is not None or train is not None):
        raise click.UsageError("--screen takes one table, and neither a model nor --train")
    if not screen and table is None:
        raise click.UsageError("Missing argument 'TABLE'; to report on one table without a model, use --screen.")
    if not screen and (groups or drop or column):
        raise click.UsageError("--groups, --drop and --column need --screen: a model knows its columns")
    path, most = model if table is None else table, rows or (100 if screen else 1000)
    known, training = None if screen else known_model(model), None
    with source_of(path, **reading) as source:
        check_outputs([*source.files(), None if screen else model, train], output)
        new, name = read_all(source), Path(source.path).name
    if train is not None:
        with source_of(train, **reading) as source:
            training = read_all(source)
    found: library.Report[Any]
    with about(path):
        if known is None:
            kinds = asked_columns(new.columns, drop, column)
            judged = library.screen(new, top=most, columns=kinds, groups=groups)
            found = library.report(judged, new, rows=most, title=title or f"Suspicious cells in {name}")
        else:
            found = library.report(known, new, X_train=training, rows=most, title=title or f"What is unusual in {name}")
    if output == "-":
        return click.echo(found.to_markdown())
    found.save(output)
    if known is None:
        fields = {"output": output, "rows": len(new), "named": int(judged.odd.sum()), "stands_out": judged.stands_out}
        return say(fields, as_json, f"{output}: {judged.summary}")
    summary: Any = found.summary
    flagged, n = summary["alarms"]["flagged"], summary["data"]["rows"]
    text = f"{output}: {flagged} of {n} rows are outliers"
    say({"output": output, "rows": n, "outliers": flagged}, as_json, text)

"""Report on a table: ``oneclass report``."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

import oneclass as library

from .options import as_json, check_outputs, known_model, reading, refuse_both, say
from .table_io import Reading, about, read_all, source_of

__all__ = ["report"]


@click.command()
@click.argument("model")
@click.argument("table")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Report to write: .html, .md or .json; - for Markdown on standard output.",
)
@click.option("--train", metavar="TABLE", help="Training rows, instead of the column summaries in MODEL.")
@click.option("--rows", type=click.IntRange(1), default=1000, show_default=True, help="Most rows to list.")
@click.option("--title", help="Title of the report.")
@reading
@as_json
def report(
    model: str,
    table: str,
    output: str,
    train: str | None,
    rows: int,
    title: str | None,
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Report on the rows of TABLE: alarms, reasons, changes.

    A report also lists changed columns, and recommends what to do next.

    \b
    Examples:
      oneclass report model.oneclass new.csv -o report.html
      oneclass report model.oneclass new.csv -o - --rows 10
    """
    from ..reporting.api import writer_of

    refuse_both(as_json, output)
    if output != "-":
        writer_of(output)
    known, training = known_model(model), None
    with source_of(table, **reading) as source:
        check_outputs([*source.files(), model, train], output)
        new, name = read_all(source), Path(source.path).name
    if train is not None:
        with source_of(train, **reading) as source:
            training = read_all(source)
    with about(table):
        found = library.report(known, new, X_train=training, rows=rows, title=title or f"What is unusual in {name}")
    if output == "-":
        return click.echo(found.to_markdown())
    found.save(output)
    flagged, n = found.summary["alarms"]["flagged"], found.summary["data"]["rows"]
    text = f"{output}: {flagged} of {n} rows are outliers"
    say({"output": output, "rows": n, "outliers": flagged}, as_json, text)

"""Named datasets as tables: ``oneclass data``."""

from __future__ import annotations

import click

from .options import as_json, check_outputs, say
from .table_io import on_terminal, sink_of

__all__ = ["data"]


@click.group()
def data() -> None:
    """Named datasets."""


@data.command("list")
@as_json
def list_data(as_json: bool) -> None:
    """List the datasets.

    \b
    Examples:
      oneclass data list
    """
    from ..datasets import cards

    rows = [{"name": c.name, "rows": c.rows, "features": c.features, "access": c.access} for c in cards()]
    say(
        {"datasets": rows},
        as_json,
        "\n".join(f"{r['name']:<22}{r['rows']:>7}{r['features']:>6}  {r['access']}" for r in rows),
    )


@data.command()
@click.argument("name")
@click.option("-o", "--output", required=True, metavar="TABLE", help="Table of targets to write.")
@click.option("--outliers", metavar="TABLE", help="Table of outliers to write.")
@as_json
def fetch(name: str, output: str, outliers: str | None, as_json: bool) -> None:
    """Write the target rows of the dataset NAME, and its outliers, as tables.

    \b
    Examples:
      oneclass data fetch wine -o normal.csv --outliers odd.csv
    """
    import pyarrow as pa

    from ..datasets import load
    from ..io.sinks import writing

    check_outputs([], output, outliers)
    for path in filter(None, (output, outliers)):
        sink_of(path)
    found = load(name, progress=on_terminal())
    written = {}
    for place, label in ((output, 1), (outliers, -1)):
        if place:
            rows = found.X[found.y == label]
            with writing(sink_of(place)) as write:
                write(pa.RecordBatch.from_pandas(rows, preserve_index=False))
            written[place] = len(rows)
    if "-" not in written:
        say({"written": written}, as_json, "\n".join(f"{place}: {n} rows" for place, n in written.items()))

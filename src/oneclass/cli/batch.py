"""Verdict on a whole table: ``oneclass compare-batch``."""

from __future__ import annotations

from typing import Unpack

import click

from .options import as_json, known_model, reading, say
from .table_io import Reading, about, read_all, source_of
from .terminal import drawn

__all__ = ["compare_batch"]


@click.command("compare-batch")
@click.argument("model")
@click.argument("table")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Probability of the bounds.",
)
@click.option("--tail", type=click.Choice(["pareto"]), help="Extrapolate small p-values with a Pareto tail.")
@reading
@as_json
def compare_batch(
    model: str, table: str, confidence: float, tail: str | None, as_json: bool, **reading: Unpack[Reading]
) -> None:
    """Compare TABLE as a whole with the training rows.

    Prints a p-value, a lower bound on the number of odd rows (rows that are not drawn from the distribution of the
    training rows), and the columns that changed. It reads the whole table.

    \b
    Examples:
      oneclass compare-batch model.oneclass new.csv
    """
    known = known_model(model)
    with source_of(table, **reading) as source:
        rows = read_all(source)
    with about(table):
        found = known.compare_batch(rows, confidence=confidence, tail=tail)
    changes = [
        (str(change.column), f"{change.distance:.2f}", f"{change.p_value:.2g}", "moved" if change.moved else "")
        for change in found.columns
    ]
    say(found.to_dict(), as_json, f"{found!r}\n{drawn(('column', 'distance', 'p-value', ''), changes)}")

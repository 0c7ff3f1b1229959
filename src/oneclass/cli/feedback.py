"""Answers to alarms: ``oneclass feedback``."""

from __future__ import annotations

from typing import Unpack

import click

from .labels import split_labels
from .options import as_json, check_outputs, force, known_model, reading, say
from .table_io import Reading, about, read_all, source_of

__all__ = ["feedback"]


@click.command()
@click.argument("model")
@click.argument("answers")
@click.option("-o", "--output", metavar="MODEL", help="Model file to write, instead of MODEL itself.")
@click.option("--label", metavar="COLUMN", default="label", show_default=True, help="Column with the answers.")
@click.option("--target", metavar="LABEL", help="Answer for normal rows, unless it is 1 (against -1 or 0) or 'normal'.")
@force
@reading
@as_json
def feedback(
    model: str,
    answers: str,
    output: str | None,
    label: str,
    target: str | None,
    force: bool,
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Let MODEL learn from ANSWERS to its alarms.

    ANSWERS is a table with the columns of the training table, and a column that says which rows are normal. Rows
    without an answer are not used.

    \b
    Examples:
      oneclass feedback model.oneclass answers.csv
      oneclass feedback model.oneclass answers.csv -o better.oneclass --label fraud --target no
    """  # fmt: skip
    known = known_model(model)
    if not hasattr(known, "learn_from"):
        kind = type(known.estimator_).__name__
        raise ValueError(f"{model}: feedback needs a kernel machine, such as vaakelm, got {kind}")
    with source_of(answers, **reading) as source:
        check_outputs([*source.files()], model=output or model, force=force)
        rows = read_all(source)
    with about(answers):
        found = split_labels(rows, label, target, answers=True)
        some = ~found.missing
        known.learn_from(found.rows[some], found.y[some])
    known.save(output or model, force=force)
    normal = int(found.normal.sum())
    counts = {"normal": normal, "outliers": int(some.sum()) - normal, "unanswered": int(found.missing.sum())}
    text = f"{output or model}: learned {counts['normal']} normal rows and {counts['outliers']} outliers"
    text += f"; {counts['unanswered']} rows have no answer" if counts["unanswered"] else ""
    say({"model": output or model, **counts}, as_json, text)

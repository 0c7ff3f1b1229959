"""Fit of a model on a table: ``oneclass fit``."""

from __future__ import annotations

from typing import Unpack

import click

import oneclass as library

from .describing import learned, plan_rows, segment_rows
from .labels import split_labels
from .methods import classifier, method_option
from .options import (
    as_json,
    asked_columns,
    cell_options,
    check_outputs,
    confidence,
    force,
    learning,
    plan_table,
    rate_by,
    reading,
    say,
    segment_table,
    segments,
)
from .table_io import CellOptions, Reading, first_rows, names_of, on_terminal, read_all, read_table, source_of
from .terminal import prose

__all__ = ["fit"]

#: Tables of up to this many rows are read into memory (exact fits up to 2,000 rows); larger ones are read in chunks.
_IN_MEMORY = 5_000


@click.command()
@click.argument("table")
@click.option("-o", "--output", required=True, metavar="MODEL", help="Model file to write.")
@click.option("--outliers", metavar="TABLE", help="Known outliers, with the columns of TABLE.")
@click.option("--label", metavar="COLUMN", help="Column of TABLE that tells normal rows from known outliers.")
@click.option("--target", metavar="LABEL", help="Label of normal rows, unless it is 1 (against -1 or 0) or 'normal'.")
@method_option
@confidence
@rate_by
@learning
@cell_options
@segments
@force
@reading
@as_json
def fit(
    table: str,
    output: str,
    outliers: str | None,
    label: str | None,
    target: str | None,
    method: str,
    confidence: float | None,
    rate_by: str | None,
    delta: float,
    groups: str | None,
    segments: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    cells: CellOptions,
    force: bool,
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Fit a model on TABLE, whose rows are normal.

    TABLE is a file of CSV, JSON lines, Parquet, Feather, Arrow or Excel, or - for CSV from standard input. With
    --label, some of its rows are known outliers. With --segments, each segment keeps the rate, and score finds the
    segment of a row in the same column. --groups names rows that depend on one another.

    \b
    Examples:
      oneclass fit normal.csv -o model.oneclass
      oneclass fit normal.csv -o model.oneclass --delta 0.01 --drop note
      oneclass fit normal.csv -o model.oneclass --column zip=category
      oneclass fit normal.csv -o model.oneclass --outliers odd.csv
      oneclass fit labelled.csv -o model.oneclass --label fault --target no
    """  # fmt: skip
    from ..tabular.hints import segment_candidates
    from ..tabular.plan import KINDS

    if target is not None and label is None:
        raise click.UsageError("--target needs --label, the column of labels")
    if outliers is not None and "known_outliers" not in classifier(method, delta).get_params():
        raise click.UsageError(f"--outliers: {method} cannot learn from known outliers; use vaakelm or aakelm")
    known = None if outliers is None else read_table(outliers, **reading)
    with source_of(table, **reading) as source:
        check_outputs([*source.files(), outliers], model=output, force=force)
        first, is_small = first_rows(source, _IN_MEMORY)
        asked = asked_columns([name for name in names_of(first) if str(name) != label], drop, column)
        learner = classifier(method, delta, confidence=confidence, rate_by=rate_by)
        model, y = library.TableDetector(learner, asked, **cells), None
        whole = is_small or segments is not None or label is not None or known is not None
        if whole or not hasattr(learner, "fit_chunks"):
            rows = read_all(source)
            if label is not None:
                found = split_labels(rows, label, target)
                rows, y = found.rows, found.y
            given = {} if known is None else {"outliers": known}
            model.fit(rows, y, groups=groups, segments=segments, **given)
        else:
            model.fit_chunks(source, groups=groups, verbose=on_terminal())
        model.save(output, force=force)
    held_out = int(model.calibration_.total) if model.calibration_ is not None else 0
    fields = {"model": output, "method": method, "held_out": held_out, "columns": plan_rows(model)}
    fields |= learned(model.estimator_)
    if y is not None and not {"known_outliers", "nu_outliers"} & set(learner.get_params()):
        fields["outliers_left_out"] = int((y == -1).sum())
    made = f"{output}: {method}, delta={delta:g}, threshold from {held_out} held-out {'groups' if groups else 'rows'}"
    made += f", {fields['known_outliers']} known outliers" if "known_outliers" in fields else ""
    if "outliers_left_out" in fields:
        made += f"; {fields['outliers_left_out']} labelled outliers are left out, since {method} does not learn them"
    if segments is not None:
        fields["segments"] = segment_rows(model)
        made = f"{segment_table(model)}\n{made}"
    change = prose(f"To change a kind: --column NAME=KIND, where KIND is {', '.join(KINDS[:-1])} or {KINDS[-1]}.")
    if segments is None and groups is None and (offered := segment_candidates(model.plan_, delta)):
        fields["segment_candidates"] = offered
        change += "\n" + prose(f"To keep the rate for each value of a column: --segments {' or '.join(offered)}.")
    say(fields, as_json, f"{plan_table(model)}\n{change}\n{made}")

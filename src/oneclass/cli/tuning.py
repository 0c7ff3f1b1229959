"""Choice of a classifier and of its parameters: ``oneclass compare`` and ``oneclass tune``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import click
import numpy as np

import oneclass as library

from .labels import refuse_gaps, split_labels
from .methods import GRIDS, METHODS, classifier, detector, method_option, methods_option
from .options import as_json, asked_columns, cell_options, check_outputs, force, learning, named, reading, say, shown
from .table_io import CellOptions, Reading, about, on_terminal, read_all, read_table, source_of
from .terminal import drawn, number

if TYPE_CHECKING:
    pass

__all__ = ["compare", "tune"]

#: `compare` holds out one normal row in this many, to measure false alarms.
_COMPARE_FOLDS = 5


@click.command()
@click.argument("normal")
@click.argument("outliers", required=False)
@methods_option
@learning
@cell_options
@reading
@as_json
def compare(
    normal: str,
    outliers: str | None,
    methods: tuple[str, ...],
    delta: float,
    groups: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    cells: CellOptions,
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Compare methods on NORMAL rows, and on OUTLIERS.

    Fits each on 80 % of the rows of NORMAL, and prints the share of false alarms among the other rows and, with
    OUTLIERS, the share of outliers found.

    \b
    Examples:
      oneclass compare normal.csv odd.csv
      oneclass compare normal.csv odd.csv --method vaakelm --method sklearn.ensemble:IsolationForest
    """  # fmt: skip
    if groups is not None:
        raise click.UsageError("--groups: compare cannot hold out groups, only rows")
    table, odd = read_table(normal, **reading), read_table(outliers, **reading) if outliers else None
    asked = asked_columns(table.columns, drop, column)
    order = np.random.default_rng(0).permutation(len(table))
    cut = len(table) - len(table) // _COMPARE_FOLDS
    train, test = (table.iloc[np.sort(part)] for part in (order[:cut], order[cut:]))
    if not len(test):
        raise ValueError(f"{normal}: compare needs at least {_COMPARE_FOLDS} rows, got {len(table)}")
    found = []
    for method in shown(methods or METHODS, "compare"):
        with about(normal):
            model = library.TableDetector(detector(method, delta), asked, **cells).fit(train)
            row = {"method": method, "false_alarms": float((model.predict(test) == -1).mean())}
        if odd is not None and outliers is not None:
            with about(outliers):
                row["caught"] = float((model.predict(odd) == -1).mean())
        found.append(row)
    shares = ("false_alarms", "caught")[: 1 + (odd is not None)]
    lines = [(row["method"], *(f"{row[share]:.1%}" for share in shares)) for row in found]
    text = drawn(("method", "false alarms", "caught")[: 1 + len(shares)], lines, right=(1, 2))
    say({"delta": delta, "methods": found}, as_json, text)


@click.command()
@click.argument("table")
@click.option("-o", "--output", required=True, metavar="MODEL", help="File to write the best model to.")
@method_option
@click.option("--label", metavar="COLUMN", help="Column with the labels of normal rows and outliers.")
@click.option("--target", metavar="LABEL", help="Label of normal rows, unless it is 1 (against -1 or 0) or 'normal'.")
@click.option(
    "--grid",
    metavar="NAME=A,B,...",
    multiple=True,
    help="Values to try, instead of the method's own; all candidates use a single value.",
)
@click.option("--scoring", metavar="NAME", default="auroc", show_default=True,
              help="Score by which parameters are compared.")  # fmt: skip
@force
@learning
@cell_options
@reading
@as_json
def tune(
    table: str,
    output: str,
    method: str,
    label: str | None,
    target: str | None,
    grid: tuple[str, ...],
    scoring: str,
    force: bool,
    delta: float,
    groups: str | None,
    drop: tuple[str, ...],
    column: tuple[str, ...],
    cells: CellOptions,
    as_json: bool,
    **reading: Unpack[Reading],
) -> None:
    """Choose parameters by labelled outliers in TABLE.

    Writes the best model, with the default parameters unless others are better by more than chance. Models learn from
    normal rows alone, and are compared on folds that hold outliers, too. Without outliers, use the default parameters:
    `oneclass fit`. To learn from the outliers, use `oneclass fit --label`.

    \b
    Examples:
      oneclass tune labelled.csv -o model.oneclass --label fault --target no
      oneclass tune labelled.csv -o model.oneclass --label fault --target no --grid C=1,10
    """  # fmt: skip
    from ..selection.preference import prefer_first

    if label is None:
        raise click.UsageError(
            "--label must name the column of labels: tune compares parameters by labelled outliers; without any, the "
            "default parameters of oneclass fit need no tuning"
        )
    points = {name: _values(listed) for name, listed in named(grid, "--grid").items()} or GRIDS.get(method)
    if points is None:
        raise click.UsageError(f"--grid: {method} has no default values to try, so give some")
    known = classifier(method, delta).get_params()
    if unknown := [name for name in points if name not in known]:
        raise click.UsageError(f"--grid: {method} has no {unknown[0]}; it has {', '.join(known)}")
    with source_of(table, **reading) as source:
        check_outputs([*source.files()], model=output, force=force)
        rows = read_all(source)
    with about(table):
        found = split_labels(rows, label, target)
        refuse_gaps(found, label)
    rows, targets = found.rows, found.normal
    asked, untuned = asked_columns(rows.columns, drop, column), classifier(method, delta)
    first = {name: values for name, values in points.items() if len(values) == 1}  # the default, but for these
    search = library.OneClassSearchCV(
        untuned,
        [first] if first == points else [first, points],
        scoring=scoring,
        refit=prefer_first,
        target=None if target is None else 1,  # the user named the label of normal rows: no warning if these are few
        verbose=int(on_terminal()),
    )
    with about(table):
        search = (
            library.TableDetector(search, asked, **cells).fit(rows, np.where(targets, 1, -1), groups=groups).estimator_
        )
    best = library.TableDetector(untuned.set_params(**search.best_params_), asked, **cells)
    best.fit(rows[targets], groups=groups).save(output, force=force)
    _say_search(search, output, method, as_json)


def _values(listed: str) -> list[object]:
    """Values separated by commas: numbers, null, true and false as in JSON, otherwise text."""

    def value(text: str) -> object:
        try:
            return json.loads(text)
        except ValueError:
            return text

    return [value(text.strip()) for text in listed.split(",")]


def _say_search(search: library.OneClassSearchCV, output: str, method: str, as_json: bool) -> None:
    found = search.cv_results_
    scores = np.asarray(found["mean_test_score"], dtype=float)
    tried = [
        {"parameters": found["params"][i], "score": float(scores[i]) if np.isfinite(scores[i]) else None}
        for i in np.argsort(-scores, kind="stable")
    ]
    best = {"parameters": search.best_params_, "score": float(scores[search.best_index_])}
    lines = [
        f"{'none' if point['score'] is None else number(point['score']):>8}  {_shown(point['parameters'])}"
        for point in tried
    ]
    from ..selection.preference import lead_over_first

    _, lead, error = lead_over_first(found)
    fields: dict[str, Any] = {"model": output, "method": method, "scoring": search.scoring, "best": best}
    fields["tried"] = tried
    fields |= {"lead": lead, "standard_error": error if np.isfinite(error) else None}
    said = f"{output}: {method} with {_shown(search.best_params_)}, the best of {len(tried)} by {search.scoring}"
    if search.best_index_ == 0:
        kept = _shown(search.best_params_) if search.best_params_ else "its default parameters"
        said = f"{output}: {method} with {kept}"
        if np.isfinite(error) and lead > 0:
            said += f"; the best of {len(tried)} is ahead by {lead:.3g} with a standard error of {error:.2g}: chance"
    say(fields, as_json, "\n".join([*lines, said]))


def _shown(parameters: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={number(value)}" for name, value in parameters.items()) or "default parameters"

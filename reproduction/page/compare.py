"""Sections: the paper's tables, with ours, the published value and the difference in every cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oneclass.datasets import card

from .. import published
from ..methods import METHODS
from ..results import Results
from .markdown import number, signed, table
from .naming import ALL, MEDIUM, SHORT, SMALL, title

__all__ = ["datasets", "f1_tables", "training_time"]


def datasets(results: Results) -> str:
    """Counts of every dataset beside the paper's.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    fields = ("rows", "targets", "outliers", "features")
    body, equal = [], 0
    for name, printed in published.datasets().items():
        ours = [getattr(card(name), field) for field in fields]
        theirs = [int(printed[field]) for field in fields]
        equal += ours == theirs
        difference = "0" if ours == theirs else " / ".join(str(a - b) for a, b in zip(ours, theirs, strict=True))
        counts = [" / ".join(map(str, side)) for side in (ours, theirs)]
        body.append([title(name), card(name).target, *counts, difference, _sizes(results, name)])
    head = ["dataset", "target class", "ours (rows / targets / outliers / features)", "published", "difference"]
    return f"""## Datasets

{equal} of {len(body)} datasets have the published counts. Waveform's rows are a stand-in: the first 300 of
each class of the UCI file, since the subset that the paper used is not published.

{table([*head, "test targets / outliers"], body, left=2)}"""


def _sizes(results: Results, dataset: str) -> str:
    for method in METHODS:
        for row in results.rows("paper", dataset, method).values():
            return f"{row['n_test_target']} / {row['n_test_outlier']}"
    return "–"


def f1_tables(results: Results) -> str:
    """F1 of all methods on all datasets.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    return f"""## F1 of all fourteen, small datasets

Recipe `paper`. In every cell: our mean ± standard deviation over random 80/20 splits; the published value (one split);
the difference. {_splits(results, SMALL)}

{_f1(results, SMALL)}

## F1 of all fourteen, Concordia digits

{_splits(results, MEDIUM)} The paper has six of the methods here.

{_f1(results, MEDIUM)}"""


def _f1(results: Results, names: Sequence[str]) -> str:
    methods = list(METHODS)
    mean = 100 * results.mean("f1", "paper", names, methods)
    spread = 100 * results.spread("f1", "paper", names, methods)
    printed = np.array([[published.f1(d, m) for m in methods] for d in names], dtype=float)
    body = [[title(d), *map(_cell, mean[i], spread[i], printed[i])] for i, d in enumerate(names)]
    average, theirs = mean.mean(axis=0), printed.mean(axis=0)
    body.append(["**mean**", *(_cell(a, float("nan"), b) for a, b in zip(average, theirs, strict=True))])
    return table(["dataset", *SHORT], body)


def _cell(ours: float, spread: float, printed: float) -> str:
    deviation = "" if np.isnan(spread) else f" ± {spread:.1f}"
    return f"{number(ours)}{deviation}<br>{number(printed, 2)}<br>{signed(ours - printed)}"


def _splits(results: Results, names: Sequence[str]) -> str:
    """How many splits stand behind the means, and for whom there are fewer."""
    counts = {m: min(results.count("paper", d, m) for d in names) for m in METHODS}
    most = max(counts.values())
    fewer = [f"{count} for {method}" for method, count in counts.items() if count < most]
    costly = f", fewer where a method's cost forbids more: {', '.join(fewer)}" if fewer else ""
    return f"{most} splits{costly}."


def training_time(results: Results) -> str:
    """Seconds of one fit with the chosen parameters.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    methods = list(METHODS)
    ours = results.median("fit_seconds", "paper", ALL, methods)
    body = []
    for i, dataset in enumerate(ALL):
        cells = []
        for j, method in enumerate(methods):
            printed = published.train_seconds(dataset, method)
            ratio = "" if printed is None else f"<br>{number(printed, 4)}<br>x {ours[i, j] / printed:.2g}"
            cells.append(number(ours[i, j], 4) + ratio)
        body.append([title(dataset), *cells])
    fastest = [int((ours[:15] <= ours[:15].min(axis=1, keepdims=True)).sum(axis=0)[j]) for j in range(len(methods))]
    body.append(["**fastest on (of 15)**", *map(str, fastest)])
    return f"""## Training time

Seconds of processor time of one fit at the chosen parameters, one thread, median over the splits that were timed;
published value; ratio. Other hardware and another language: compare columns, not absolute values.

{table(["dataset", *SHORT], body)}"""

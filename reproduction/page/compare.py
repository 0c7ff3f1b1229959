"""Sections: the paper's tables, with ours, the published value and the difference in every cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import published
from ..datasets import card
from ..methods import METHODS
from ..results import Results
from .markdown import number, signed, table
from .naming import SHORT, title

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
        body.append([title(name), card(name).target, *counts, difference, _sizes(results, name), card(name).source])
    head = ["dataset", "target class", "ours (rows / targets / outliers / features)", "published", "difference"]
    return f"""## Datasets

{equal} of {len(body)} datasets have the published counts. Waveform's rows are a stand-in: the first 300 of
each class of the UCI file, since the subset that the paper used is not published. Of Concordia's 4,000 labels 904 are
inferred ("Traps"). [datasets.md](reproduction/datasets.md) tells how raw files become rows.

{table([*head, "test targets / outliers", "source"], body, left=2)}"""


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
    parts = []
    if results.small:
        parts.append(f"""## F1 of all fourteen, small datasets

Recipe `paper`. In every cell: our mean ± standard deviation over random 80/20 splits; the published value (one split);
the difference. {_splits(results, results.small)}

{_f1(results, results.small)}""")
    if results.medium:
        parts.append(f"""## F1 of all fourteen, Concordia digits

{_splits(results, results.medium)} The paper has six of the methods here.

{_f1(results, results.medium)}""")
    return "\n\n".join(parts)


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
    """Seconds of one fit with the chosen parameters, and of the whole training with the search for them.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    if not results.all:
        return ""
    methods = list(METHODS)
    fit, search = (results.median(name, "paper", results.all, methods) for name in ("fit_seconds", "search_seconds"))
    whole = fit + search
    body = []
    for i, dataset in enumerate(results.all):
        cells = []
        for j, method in enumerate(methods):
            printed = published.train_seconds(dataset, method)
            cells.append(f"{number(fit[i, j], 4)}<br>{number(whole[i, j], 2)}<br>{number(printed, 4)}")
        body.append([title(dataset), *cells])
    rows = len(results.small) or len(results.all)
    for name, seconds in (("one fit", fit), ("with search", whole)):
        fastest = (seconds[:rows] <= seconds[:rows].min(axis=1, keepdims=True)).sum(axis=0)
        body.append([f"**fastest on (of {rows}), {name}**", *map(str, fastest)])
    body.append(["**least of one fit**", *(number(least, 4) for least in fit.min(axis=0))])
    return f"""## Training time

Seconds of processor time, one thread, medians over the splits: one fit at the chosen parameters; the whole training,
with the search for them; the published value, of which the paper does not say whether a search is part. Other hardware
and another language: compare columns, not absolute values. On these datasets most of a fit of few milliseconds is the
cost of calls, checks and copies ("least of one fit" is nearly that alone), so that ranks by one fit say little about
methods.

{table(["dataset", *SHORT], body)}"""

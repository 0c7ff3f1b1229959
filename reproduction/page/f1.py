"""Page: F1 of all classifiers on all datasets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import published
from ..methods import METHODS
from ..results import Results
from .markdown import number, signed, table
from .naming import SHORT, title
from .ranking import spread_table

__all__ = ["default_f1", "f1_tables"]


def f1_tables(results: Results) -> str:
    """F1 under recipe `paper`, beside the published values.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    tables = [
        f"## {what}\n\n{_splits(results, names)}{more}\n\n{_f1(results, names)}"
        for what, names, more in (
            ("Small datasets", results.small, ""),
            ("Concordia digits", results.medium, " The paper has six of the methods here."),
        )
        if names
    ]
    if not tables:
        return ""
    how = """\
Recipe `paper`: equation, threshold and search as printed. Each cell has three values: our mean ± standard deviation
over random 80/20 splits, the published value (of one split), and the difference."""
    return "\n\n".join([how, *tables])


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
    """The number of splits behind the means, and the methods that have fewer."""
    counts = {m: min(results.count("paper", d, m) for d in names) for m in METHODS}
    most = max(counts.values())
    fewer = [f"{count} for {method}" for method, count in counts.items() if count < most]
    costly = f", fewer for methods that take long: {', '.join(fewer)}" if fewer else ""
    return f"{most} splits{costly}."


def default_f1(results: Results) -> str:
    """F1 under recipe `honest`.

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
    return f"""\
## With the library's defaults

Recipe `honest`: parameters are not chosen with outliers, delta is 5 %, and thresholds come from held-out scores. Mean
± standard deviation over the same splits.

{spread_table(results, "f1")}"""

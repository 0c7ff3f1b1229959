"""Page: the paper's bar charts and their values, and the file of all metrics."""

from __future__ import annotations

import csv
import io

from ..methods import METHODS
from ..metrics import METRICS
from ..results import Results, deviation
from .markdown import percent, table
from .naming import SHORT, title

__all__ = ["metric_rows", "metric_tables"]

#: The metrics of the paper's bar charts, and the usual g-mean, which is another one.
_TABLES = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "gmean_paper": "The paper's g-mean, sqrt(precision · recall)",
    "gmean": "Usual g-mean, sqrt(sensitivity · specificity)",
}

#: Figure, what it shows, and which datasets of the results.
_PANELS = (("small", "small datasets", "small"), ("medium", "Concordia digits", "medium"))


def metric_rows(results: Results) -> str:
    """Means and standard deviations of every metric, as comma-separated values.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
        One line for each recipe, dataset, method and metric.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["recipe", "dataset", "method", "metric", "mean", "deviation", "splits"])
    for recipe in ("paper", "honest"):
        for dataset in results.all:
            for method in METHODS:
                for metric in METRICS:
                    values = results.values(metric, recipe, dataset, method)
                    numbers = [f"{values.mean():.6f}", f"{deviation(values):.6f}", len(values)]
                    writer.writerow([recipe, dataset, method, metric, *numbers])
    return out.getvalue()


def metric_tables(results: Results) -> str:
    """The paper's figures, and the values behind its bar charts, recipe `paper`.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    there = [(name, what) for name, what, names in _PANELS if getattr(results, names)]
    if not there:
        return ""
    bars, deltas = (
        "\n\n".join(f"![{text} on the {what}]({kind}_{name}.png)" for name, what in there)
        for kind, text in (("metrics", "Accuracy, g-mean, precision and recall"), ("delta", "F1 against delta"))
    )
    parts = [
        f"""\
Recipe `paper`, means over the splits. All metrics of both recipes are in [metrics.csv](metrics.csv).

## The bar charts of the paper, as heat maps

The paper shows these numbers as bars, without values.

{bars}

## F1 against delta

The kernel machines at delta = 1, 5 and 10 %, with C and k chosen for each delta; mean and standard deviation over the
splits.

{deltas}"""
    ]
    methods = list(METHODS)
    for metric, name in _TABLES.items():
        mean, spread = (f(metric, "paper", results.all, methods) for f in (results.mean, results.spread))
        body = [
            [title(d), *(f"{percent(a)} ± {percent(b)}" for a, b in zip(mean[i], spread[i], strict=True))]
            for i, d in enumerate(results.all)
        ]
        parts.append(f"## {name}\n\nPer cent, mean ± standard deviation.\n\n{table(['dataset', *SHORT], body)}")
    return "\n\n".join(parts)

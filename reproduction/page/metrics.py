"""Files beside the page: the values behind the bar charts."""

from __future__ import annotations

import csv
import io

from ..methods import METHODS
from ..metrics import METRICS
from ..results import Results
from .markdown import percent, table
from .naming import SHORT, title

__all__ = ["metric_rows", "metric_tables"]

#: The metrics of the paper's bar charts, and the g-mean that others mean by the word.
_TABLES = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "gmean_paper": "G-mean of the paper, sqrt(precision · recall)",
    "gmean": "G-mean, sqrt(sensitivity · specificity)",
}


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
                    numbers = [f"{values.mean():.6f}", f"{values.std():.6f}", len(values)]
                    writer.writerow([recipe, dataset, method, metric, *numbers])
    return out.getvalue()


def metric_tables(results: Results) -> str:
    """Tables of the metrics of the bar charts, recipe `paper`.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    parts = [
        """# The values behind the bar charts

<!-- Written by `python -m reproduction report` from stored rows. Do not edit. -->

Recipe `paper`, per cent, mean ± standard deviation over the splits. All metrics of both recipes are in
[metrics.csv](metrics.csv)."""
    ]
    methods = list(METHODS)
    for metric, name in _TABLES.items():
        mean, spread = (f(metric, "paper", results.all, methods) for f in (results.mean, results.spread))
        body = [
            [title(d), *(f"{percent(a)} ± {percent(b)}" for a, b in zip(mean[i], spread[i], strict=True))]
            for i, d in enumerate(results.all)
        ]
        parts.append(f"## {name}\n\n{table(['dataset', *SHORT], body)}")
    return "\n\n".join(parts) + "\n"

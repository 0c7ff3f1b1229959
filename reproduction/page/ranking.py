"""Page: mean ranks, tests of their differences, and scores that need no threshold."""

from __future__ import annotations

import numpy as np

from .. import published
from ..methods import METHODS
from ..results import Results
from ..statistics import critical_difference, friedman, ranks, wilcoxon_pairs
from .markdown import number, percent, signed, table
from .naming import SHORT, SMALL, title

__all__ = ["rank_tests", "spread_table", "threshold_free"]

_METHODS = list(METHODS)

#: Fewer datasets than this cannot rank fourteen methods.
FEW = 3


def rank_tests(results: Results) -> str:
    """Mean ranks, and the tests of Friedman, Nemenyi and Wilcoxon.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    names = results.all
    if len(names) < FEW:
        return ""
    lines = []
    for recipe in ("paper", "honest"):
        statistic, p = friedman(results.compared("f1", recipe, names, _METHODS))
        distance = critical_difference(len(_METHODS), len(names))
        lines.append(
            f"- Recipe `{recipe}`: Friedman chi-square {statistic:.1f}, p = {p:.1e}; critical difference of mean ranks "
            f"(Nemenyi, 5 %) {distance:.2f}."
        )
    tests = "\n".join(lines)
    return f"""\
All comparisons are of means over the splits that all methods have. The ten Concordia tasks share their rows, and the
rows of Heart Statlog are part of Heart Cleveland: the datasets are not independent, so these p-values may be too
small.

## Mean ranks by F1

{tests}

Methods under one bar do not differ significantly.

![Mean ranks of the fourteen classifiers under two recipes, with critical differences](ranks.png)

{_rank_table(results)}

## VAAKELM against each other method

F1 by dataset, recipe `paper` and recipe `honest`: mean difference in percentage points; number of datasets won, tied
and lost; p of Wilcoxon's signed-rank test after Holm's correction over all {len(_METHODS) * (len(_METHODS) - 1) // 2}
pairs.

{_pairs(results)}"""


def _rank_table(results: Results) -> str:
    small, names = results.small, results.all
    printed = np.array([[published.f1(d, m) for m in _METHODS] for d in SMALL], dtype=float)
    lines = {f"published, {len(SMALL)} small": ranks(printed).mean(axis=0)}
    if small:
        lines[f"paper, {len(small)} small"] = ranks(results.compared("f1", "paper", small, _METHODS)).mean(axis=0)
    for recipe, metric, what in (("paper", "f1", ""), ("honest", "f1", ""), ("honest", "auroc", ", AUROC")):
        mean = ranks(results.compared(metric, recipe, names, _METHODS)).mean(axis=0)
        lines[f"{recipe}, all {len(names)}{what}"] = mean
    return table(["mean rank", *SHORT], [[name, *map(number, line)] for name, line in lines.items()])


def _pairs(results: Results) -> str:
    recipes = ("paper", "honest")
    columns = [wilcoxon_pairs(results.compared("f1", recipe, results.all, _METHODS), _METHODS) for recipe in recipes]
    body = []
    for paper, honest in zip(*columns, strict=True):
        if paper.second == "VAAKELM":
            cells = [
                cell
                for pair in (paper, honest)
                for cell in (
                    signed(-100 * pair.difference),
                    f"{pair.losses} / {pair.ties} / {pair.wins}",
                    f"{pair.p_holm:.2g}",
                )
            ]
            body.append([paper.first, *cells])
    one = ["difference", "won / tied / lost", "p"]
    return table(["VAAKELM against", *one, *(f"{name} (honest)" for name in one)], body)


def threshold_free(results: Results) -> str:
    """Tables of AUROC and average precision.

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
## AUROC

Recipe `honest`; the target class is the positive one. Per cent, mean ± standard deviation over the splits.

{spread_table(results, "auroc")}

## Average precision

{spread_table(results, "average_precision")}"""


def spread_table(results: Results, metric: str) -> str:
    """Means and standard deviations of a metric under recipe `honest`, with means and mean ranks over the datasets.

    Parameters
    ----------
    results : Results
        Stored rows.
    metric : str
        Name of the metric.

    Returns
    -------
    str
    """
    names = results.all
    mean, spread = (summary(metric, "honest", names, _METHODS) for summary in (results.mean, results.spread))
    body = []
    for i, dataset in enumerate(names):
        cells = [f"{percent(a)} ± {percent(b)}" for a, b in zip(mean[i], spread[i], strict=True)]
        body.append([title(dataset), *cells])
    body.append(["**mean**", *(f"**{percent(value)}**" for value in mean.mean(axis=0))])
    body.append(["**mean rank**", *map(number, ranks(mean).mean(axis=0))])
    return table(["dataset", *SHORT], body)

"""Sections: mean ranks under repeated splits, tests of their differences, and scores that need no threshold."""

from __future__ import annotations

import numpy as np

from .. import published
from ..methods import METHODS
from ..results import Results
from ..statistics import critical_difference, friedman, ranks, wilcoxon_pairs
from .markdown import number, percent, signed, table
from .naming import ALL, SHORT, SMALL, title

__all__ = ["rank_tests", "threshold_free"]

_METHODS = list(METHODS)


def rank_tests(results: Results) -> str:
    """Mean ranks, Friedman, Nemenyi and Wilcoxon.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    parts = []
    for recipe in ("paper", "honest"):
        scores = results.mean("f1", recipe, ALL, _METHODS)
        statistic, p = friedman(scores)
        distance = critical_difference(len(_METHODS), len(ALL))
        parts.append(
            f"Recipe `{recipe}`, F1: Friedman chi-square {statistic:.1f}, p = {p:.1e}; critical difference of mean "
            f"ranks (Nemenyi, 5 %) {distance:.2f}."
        )
    return f"""## Ranks under repeated splits

{" ".join(parts)} Methods under one bar are not told apart.

![Mean ranks of the fourteen classifiers under two recipes, with critical differences](reproduction/ranks.png)

{_rank_table(results)}

VAAKELM against each other method, F1 by dataset, recipe `paper` and recipe `honest`: mean difference in percentage
points, datasets won / tied / lost, Wilcoxon's signed-rank p after Holm's correction over all
{len(_METHODS) * (len(_METHODS) - 1) // 2} pairs.

{_pairs(results)}

The ten Concordia tasks share their rows and Heart Statlog is a part of Heart Cleveland, so the datasets are not
independent and these p-values are, if anything, too small.

## F1 with the library's defaults

Recipe `honest`: no parameter is chosen with the help of outliers, delta is 5 %, thresholds come from held-out scores.
Mean ± standard deviation over the same splits.

{_honest(results)}"""


def _rank_table(results: Results) -> str:
    printed = np.array([[published.f1(d, m) for m in _METHODS] for d in SMALL], dtype=float)
    lines = {
        "published, 15 small": ranks(printed).mean(axis=0),
        "paper, 15 small": ranks(results.mean("f1", "paper", SMALL, _METHODS)).mean(axis=0),
        "paper, all 25": ranks(results.mean("f1", "paper", ALL, _METHODS)).mean(axis=0),
        "honest, all 25": ranks(results.mean("f1", "honest", ALL, _METHODS)).mean(axis=0),
        "honest, all 25, AUROC": ranks(results.mean("auroc", "honest", ALL, _METHODS)).mean(axis=0),
    }
    return table(["mean rank", *SHORT], [[name, *map(number, line)] for name, line in lines.items()])


def _pairs(results: Results) -> str:
    columns = [wilcoxon_pairs(results.mean("f1", recipe, ALL, _METHODS), _METHODS) for recipe in ("paper", "honest")]
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


def _honest(results: Results) -> str:
    return _spread_table(results, "f1")


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
    return f"""## Scores without a threshold

Recipe `honest`; the target class is the positive one. AUROC in per cent, mean ± standard deviation over the splits:

{_spread_table(results, "auroc")}

Average precision in per cent:

{_spread_table(results, "average_precision")}"""


def _spread_table(results: Results, metric: str) -> str:
    mean = results.mean(metric, "honest", ALL, _METHODS)
    spread = results.spread(metric, "honest", ALL, _METHODS)
    body = []
    for i, dataset in enumerate(ALL):
        cells = [f"{percent(a)} ± {percent(b)}" for a, b in zip(mean[i], spread[i], strict=True)]
        body.append([title(dataset), *cells])
    body.append(["**mean**", *(f"**{percent(value)}**" for value in mean.mean(axis=0))])
    body.append(["**mean rank**", *map(number, ranks(mean).mean(axis=0))])
    return table(["dataset", *SHORT], body)

"""A short report for a short run: F1, ranks and exact matches, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ..methods import METHODS
from ..results import Results
from ..statistics import ranks
from .exact import score
from .markdown import number, percent, table
from .naming import title

__all__ = ["brief"]


def brief(results: Results, datasets: Sequence[str]) -> str:
    """F1 of all methods on some datasets under both recipes on random splits, and how many published values match.

    Parameters
    ----------
    results : Results
        Stored rows.
    datasets : sequence of str
        Datasets with rows.

    Returns
    -------
    str
    """
    two, every, cells = score(results)
    means = {recipe: results.mean("f1", recipe, datasets, list(METHODS)) for recipe in ("paper", "honest")}
    body = []
    for j, method in enumerate(METHODS):
        scores = [percent(value) for value in means["paper"][:, j]]
        mean_ranks = [number(float(ranks(means[recipe])[:, j].mean())) for recipe in means]
        body.append([method, *scores, *mean_ranks])
    head = ["F1, recipe paper", *map(title, datasets), "rank (paper)", "rank (honest)"]
    return f"""# Reproduction in short

Means over {results.count("paper", datasets[0], "VAAKELM")} random splits. On the released splits
{every} of {cells} published F1 values come out to every printed digit, {two} to two decimals.

{table(head, body)}"""

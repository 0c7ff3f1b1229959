"""A short report for a short run: F1, ranks, and the number of published values that come out."""

from __future__ import annotations

from collections.abc import Sequence

from ..methods import METHODS
from ..protocol import Task
from ..results import Results
from ..statistics import ranks
from .front import absent
from .markdown import number, percent, table
from .naming import title
from .released import score, software_score

__all__ = ["brief"]


def brief(results: Results, datasets: Sequence[str], missing: Sequence[Task]) -> str:
    """F1 of all methods on some datasets on random splits, and the number of published values that come out.

    Parameters
    ----------
    results : Results
        Stored rows.
    datasets : sequence of str
        Datasets that have all their rows.
    missing : sequence of Task
        Planned tasks without rows.

    Returns
    -------
    str
    """
    parts = ["# Reproduction in short", _exact(results)]
    if datasets:
        parts.append(f"Means over {results.count('paper', datasets[0], 'VAAKELM')} random splits:")
        parts.append(_table(results, datasets))
    if missing:
        parts.append(f"{len(missing)} tasks have no rows yet (`python -m reproduction run`):")
        parts.append(absent(missing))
    return "\n\n".join(parts)


def _exact(results: Results) -> str:
    two, _, cells = score(results)
    if not cells:
        return "No released split was run."
    hits, of = software_score(results, ["OCSVM", "SVDD"])
    return (
        f"On the released splits, {two} of {cells} published F1 values of the kernel machines come out to two "
        f"decimals, and {hits} of {of} of OCSVM and SVDD."
    )


def _table(results: Results, datasets: Sequence[str]) -> str:
    means = {recipe: results.compared("f1", recipe, datasets, list(METHODS)) for recipe in ("paper", "honest")}
    body = []
    for j, method in enumerate(METHODS):
        scores = [percent(value) for value in means["paper"][:, j]]
        mean_ranks = [number(float(ranks(means[recipe])[:, j].mean())) for recipe in means]
        body.append([method, *scores, *mean_ranks])
    return table(["F1, recipe paper", *map(title, datasets), "rank (paper)", "rank (honest)"], body)

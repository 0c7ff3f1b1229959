"""Page: training time."""

from __future__ import annotations

from .. import published
from ..methods import METHODS
from ..results import Results
from .markdown import number, table
from .naming import SHORT, title

__all__ = ["training_time"]


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
    return f"""\
Seconds of processor time on one thread, medians over the splits (recipe `paper`). Each cell has three values:

1. one fit with the chosen parameters;
2. the whole training, with the search for the parameters;
3. the published value. The paper does not say whether it includes the search.

The published values come from other hardware and another language, so compare the order of the classifiers and not
the seconds. A fit on these datasets takes a few milliseconds, most of them for function calls, checks and copies; the
last row shows this fixed cost. Ranks by the time of one fit therefore say little about the methods.

{table(["dataset", *SHORT], body)}"""

"""Page: what the variance embedding changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import published
from ..author_splits import AUTHORS_SPLITS
from ..methods import EMBEDDINGS, embedded
from ..results import Lead, Results
from ..statistics import Comparison, holm, wilcoxon_pairs
from .markdown import number, signed, table
from .naming import title

__all__ = ["embedding_effect", "variance"]

Float = NDArray[np.float64]

#: The variances that are compared with none, in words.
_NAMES = {
    "class": "class (`model_CVdecomp`)",
    "own": "subclass, own means",
    "global": "subclass, global mean (`model_SV`, as printed)",
}


def embedding_effect(results: Results, metric: str, recipe: str, machine: str, embedding: str) -> Comparison:
    """A machine with a variance compared with the same machine without one, over the datasets.

    Parameters
    ----------
    results : Results
        Stored rows.
    metric, recipe, machine, embedding : str
        Metric, recipe, VOCKELM or VAAKELM, and one of `reproduction.methods.EMBEDDINGS`.

    Returns
    -------
    Comparison
        Its p-value is that of Wilcoxon's signed-rank test over the datasets.
    """
    names = [embedded(recipe, machine, e) for e in (embedding, "none")]
    gaps = np.array([results.paired(metric, recipe, d, *names).mean() for d in results.all])
    (pair,) = wilcoxon_pairs(np.stack([gaps, np.zeros(len(gaps))], axis=1), names)
    return pair


def variance(results: Results) -> str:
    """Every variance against none.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    if not _complete(results):
        return ""
    head = ["machine", "recipe", "variance", "F1", "better / equal / worse", "p", "p after Holm"]
    body = [[title(d), *_by_recipe(results, d)] for d in results.all]
    columns = [f"{e} ({recipe})" for recipe in ("paper", "honest") for e in list(EMBEDDINGS)[1:]]
    return f"""\
Each machine with a variance is compared with the same machine without one, on the same splits. VAAKELM without a
variance is AAKELM. The paper prints the subclass variance about the *global* mean. The usual within-class scatter is
about the mean of each cluster; this is the library's default. Whether the embedding
reduces the variance of the outputs is [measured apart](../output_variance.md).

## All datasets together

F1 and AUROC: mean difference over the datasets, in percentage points (for F1 ± its standard error from the splits).
Then the number of datasets on which the machine with the variance is better, equal and worse; p of Wilcoxon's
signed-rank test over datasets; and p after Holm's correction over all rows of the table.

{table([*head, "AUROC", "p (AUROC)"], _comparisons(results), left=3)}

## By dataset

F1 of VAAKELM minus F1 of AAKELM, mean ± standard error over the splits:

{table(["dataset", "published", *columns], body)}

![F1 of VAAKELM minus F1 of AAKELM by dataset](ablation.png)

{_released(results)}"""


def _complete(results: Results) -> bool:
    """Whether every variance has rows on every dataset."""
    return bool(results.all) and all(
        results.count(recipe, dataset, embedded(recipe, machine, embedding))
        for recipe in ("paper", "honest")
        for dataset in results.all
        for machine in ("VOCKELM", "VAAKELM")
        for embedding in EMBEDDINGS
    )


def _comparisons(results: Results) -> list[list[str]]:
    cells = [(m, r, e) for m in ("VAAKELM", "VOCKELM") for r in ("paper", "honest") for e in _NAMES]
    f1, auroc = ([embedding_effect(results, metric, r, m, e) for m, r, e in cells] for metric in ("f1", "auroc"))
    adjusted = holm(np.array([pair.p for pair in f1]))
    out = []
    for (machine, recipe, embedding), pair, ranked, p in zip(cells, f1, auroc, adjusted, strict=True):
        names = [embedded(recipe, machine, e) for e in (embedding, "none")]
        lead = results.lead("f1", recipe, results.all, *names)
        change = f"{signed(100 * lead.difference, 2)} ± {number(100 * lead.error, 2)}"
        counts = f"{pair.wins} / {pair.ties} / {pair.losses}"
        tests = [change, counts, f"{pair.p:.2g}", f"{p:.2g}", signed(100 * ranked.difference, 2), f"{ranked.p:.2g}"]
        out.append([machine, f"`{recipe}`", _NAMES[embedding], *tests])
    return out


def _by_recipe(results: Results, dataset: str) -> list[str]:
    pair = [published.f1(dataset, method) for method in ("VAAKELM", "AAKELM")]
    printed = None if pair[0] is None or pair[1] is None else pair[0] - pair[1]
    cells = [
        _mean_and_error(results.paired("f1", recipe, dataset, embedded(recipe, "VAAKELM", embedding), "AAKELM"))
        for recipe in ("paper", "honest")
        for embedding in _NAMES
    ]
    return [signed(printed, 2), *cells]


def _mean_and_error(gap: Float) -> str:
    lead = Lead.of([gap])
    return f"{signed(100 * lead.difference)} ± {number(100 * lead.error)}"


def _released(results: Results) -> str:
    """The same on the released splits, beside the released code and the published value."""
    body = []
    for machine in ("VOCKELM", "VAAKELM"):
        names = [embedded("equation", machine, embedding) for embedding in EMBEDDINGS]
        for dataset in AUTHORS_SPLITS:
            if all(results.count("equation", dataset, name) for name in names):
                ours = [100 * results.values("f1", "equation", dataset, name)[0] for name in names]
                release = 100 * results.values("f1", "authors_code", dataset, machine)[0]  # the released order
                printed = published.f1(dataset, machine)
                body.append([machine, title(dataset), *(number(v, 2) for v in (*ours, release, printed))])
    if not body:
        return ""
    head = ["machine", "split", "none", "class", "own means", "global mean (printed)", "released code", "published"]
    return f"""\
## On the released splits

F1, with parameters searched for each variance:

{table(head, body, left=2)}"""

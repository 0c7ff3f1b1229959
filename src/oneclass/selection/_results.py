"""From rows of scores to scikit-learn's `cv_results_`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ._evaluate import Row
from ._points import Params

__all__ = ["parameters", "score_columns", "table", "work_columns"]

Float = NDArray[np.float64]


def table(rows: Sequence[Row], n_candidates: int, n_folds: int, name: str) -> Float:
    """Scores of one name: a line a candidate, a column a fold."""
    scores = np.full((n_candidates, n_folds), np.nan)
    for row in rows:
        scores[row.candidate, row.fold] = row.scores[name]
    return scores


def work_columns(rows: Sequence[Row], n_candidates: int, n_folds: int) -> dict[str, Any]:
    """What the scores of each candidate took: mean and deviation of the seconds, and how they were worked out."""
    seconds = table([row._replace(scores={"": row.seconds}) for row in rows], n_candidates, n_folds, "")
    ways: list[set[str]] = [set() for _ in range(n_candidates)]
    for row in rows:
        ways[row.candidate].add(row.numerics)
    return {
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
        "numerics": np.array([" and ".join(sorted(way - {"none"}) or ["none"]) for way in ways], dtype=object),
    }


def parameters(candidates: Sequence[Params]) -> dict[str, Any]:
    """The columns `params` and ``param_<name>``, masked where a candidate does not set the parameter."""
    columns: dict[str, Any] = {"params": list(candidates)}
    for name in sorted({name for params in candidates for name in params}):
        values: Any = np.ma.MaskedArray(np.empty(len(candidates), dtype=object), mask=True)
        for i, params in enumerate(candidates):
            if name in params:
                values[i] = params[name]
        columns[f"param_{name}"] = values
    return columns


def score_columns(name: str, scores: Float, folds: slice | NDArray[np.intp] = slice(None)) -> dict[str, Any]:
    """Columns of each fold, mean and deviation over the `folds`, and rank (1 is best; what is no number comes last)."""
    mean = scores[:, folds].mean(axis=1)
    columns: dict[str, Any] = {f"split{k}_test_{name}": column for k, column in enumerate(scores.T)}
    ranks = rankdata(-np.nan_to_num(mean, nan=-np.inf), method="min").astype(np.int32)
    return columns | {
        f"mean_test_{name}": mean,
        f"std_test_{name}": scores[:, folds].std(axis=1),
        f"rank_test_{name}": ranks,
    }

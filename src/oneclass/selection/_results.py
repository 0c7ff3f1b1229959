"""From the results of candidates on folds to scikit-learn's `cv_results_`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from ..base.warnings import FewRowsWarning, warn
from ._evaluate import Result
from ._fitting import Params

__all__ = ["cv_results"]

Float = NDArray[np.float64]
Index = NDArray[np.intp]


def cv_results(
    name: str, grid: Sequence[Params], results: Sequence[Result], scorers: Sequence[str], outliers: Sequence[int]
) -> dict[str, Any]:
    """Scores, times and parameters of the candidates; a fold k has ``outliers[k]`` outliers.

    Raises the error of a candidate if all candidates failed, and warns of each that failed, in the `name` of their
    class.
    """
    n_folds = len(outliers)
    errors = {result.candidate: result.error for result in results if result.error is not None}
    failed = Counter(result.candidate for result in results if result.error is not None)
    for i, error in errors.items():
        warn(f"{name} could not be fitted with {grid[i]} on {failed[i]} of {n_folds} folds: {error}", FitFailedWarning)
    if len(errors) == len(grid):
        raise next(iter(errors.values()))

    def table(value: Callable[[Result], float]) -> Float:
        found = np.full((len(grid), n_folds), np.nan)
        for result in results:
            found[result.candidate, result.fold] = value(result)
        return found

    seconds = table(lambda result: result.seconds)
    numerics: list[set[str]] = [set() for _ in grid]
    for result in results:
        numerics[result.candidate].add(result.numerics)
    columns: dict[str, Any] = {
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
        "numerics": np.array([" and ".join(sorted(some - {"none"}) or ["none"]) for some in numerics], dtype=object),
    }
    for scorer in scorers:
        scores = table(lambda result, scorer=scorer: result.scores[scorer])  # type: ignore[misc]
        columns |= _score_columns(scorer, scores, _defined(results, scorer, outliers))
    return columns | _parameter_columns(grid)


def _defined(results: Sequence[Result], scorer: str, outliers: Sequence[int]) -> Index:
    """Folds whose score counts: a fold without outliers does not if no candidate has a score there."""
    scored = {result.fold for result in results if result.error is None and not np.isnan(result.scores[scorer])}
    without = [k for k, n in enumerate(outliers) if n == 0 and k not in scored]
    if not 0 < len(without) < len(outliers):
        return np.arange(len(outliers))
    warn(
        f"OneClassSearchCV: {len(without)} of {len(outliers)} folds hold no outlier and so have no {scorer}: it is the "
        "mean over the other folds; use fewer folds (cv=)",
        FewRowsWarning,
    )
    return np.setdiff1d(np.arange(len(outliers)), without)


def _score_columns(name: str, scores: Float, folds: Index) -> dict[str, Any]:
    """Scores of each fold, their mean and deviation over these `folds`, and the rank: 1 is best, NaN is last."""
    mean = scores[:, folds].mean(axis=1)
    columns: dict[str, Any] = {f"split{k}_test_{name}": column for k, column in enumerate(scores.T)}
    ranks = rankdata(-np.nan_to_num(mean, nan=-np.inf), method="min").astype(np.int32)
    return columns | {
        f"mean_test_{name}": mean,
        f"std_test_{name}": scores[:, folds].std(axis=1),
        f"rank_test_{name}": ranks,
    }


def _parameter_columns(grid: Sequence[Params]) -> dict[str, Any]:
    """The columns `params` and ``param_<name>``, masked where a candidate does not set the parameter."""
    columns: dict[str, Any] = {"params": list(grid)}
    for name in sorted({name for params in grid for name in params}):
        values: Any = np.ma.MaskedArray(np.empty(len(grid), dtype=object), mask=True)
        for i, params in enumerate(grid):
            if name in params:
                values[i] = params[name]
        columns[f"param_{name}"] = values
    return columns

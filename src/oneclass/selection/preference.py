"""The choice between the default parameters and the best candidate of a search, whose lead may be chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["lead_over_first", "prefer_first"]


def lead_over_first(results: Mapping[str, Any]) -> tuple[int, float, float]:
    """The best candidate, the mean of its lead over the first candidate over the folds, and the standard error.

    Folds without a score of both do not count. With less than two folds that count, the standard error is infinite.
    """
    means = np.asarray(results["mean_test_score"], dtype=float)
    if np.isnan(means).all():
        raise ValueError("prefer_first: no candidate has a score: use another scoring, or other folds")
    best = int(np.nanargmax(means))
    names = [name for name in results if name.startswith("split") and name.endswith("_test_score")]
    leads = np.array([float(results[name][best]) - float(results[name][0]) for name in names])
    leads = leads[~np.isnan(leads)]
    if np.isnan(means[0]):
        return best, math.inf, 0.0
    error = float(leads.std(ddof=1)) / math.sqrt(len(leads)) if len(leads) > 1 else math.inf
    return best, float(leads.mean()) if len(leads) else 0.0, error


def prefer_first(results: Mapping[str, Any]) -> int:
    """The number of the best candidate, or 0 if it leads the first one by at most one standard error.

    For ``OneClassSearchCV(estimator, [{}, grid], refit=prefer_first)``: the first candidate, without parameters, is the
    estimator as it is. A search with few outliers prefers parameters by chance. This rule keeps the estimator as it is
    unless the lead, over the same folds, is larger than its standard error. It needs one scorer.

    Parameters
    ----------
    results : dict
        The `cv_results_` of a search.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM
    >>> from oneclass.selection import OneClassSearchCV, prefer_first
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X[90:] += 4
    >>> y = np.repeat([1, -1], [90, 10])
    >>> search = OneClassSearchCV(VAAKELM(), [{}, {"C": [0.1, 100.0]}], scoring="auroc", refit=prefer_first)
    >>> search.fit(X, y).best_params_
    {}
    """
    best, lead, error = lead_over_first(results)
    return best if lead > error else 0

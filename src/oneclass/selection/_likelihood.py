"""Score candidates by the marginal likelihood of the targets, which needs no outliers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from ..base.protocol import Estimator
from ..base.reading import read_training_rows
from ..core.typing import Rows
from ._evaluate import Job, Result, threads_for
from ._exact_path import ExactPath
from ._families import Family, NotSharedError, families, fits_exactly, numeric_limits
from ._fitting import Params, fit_candidate

__all__ = ["likelihood_jobs"]


def likelihood_jobs(estimator: Estimator, grid: Sequence[Params], train: Rows) -> Iterator[Job]:
    """The calls that together compute the log marginal likelihood of all targets under every candidate."""
    if not fits_exactly(estimator, grid, train):
        raise ValueError(
            "OneClassSearchCV: criterion='likelihood' needs a kernel machine that fits exactly (approximation=None, "
            f"NumPy rows), got {type(estimator).__name__}"
        )
    X, _ = read_training_rows(estimator, train)
    shared, others = families(estimator, grid, X, whole=True)
    for i in others:  # a fit refuses their parameters
        fit_candidate(estimator, grid[i], train, None)
    return ((_log_likelihoods, (estimator, family, grid[min(family.candidates)], train)) for family in shared)


def _log_likelihoods(estimator: Estimator, family: Family, first: Params, train: Rows) -> list[Result]:
    start = time.perf_counter()
    X, _ = read_training_rows(estimator, train)
    try:
        with threads_for(train), numeric_limits():
            path = ExactPath.of(family, X, X)
            scores = {i: path.log_likelihood(family.candidates[i]) for some in family.by_variance() for i in some}
    except NotSharedError as error:  # no fit computes a likelihood, but a fit may raise a clearer error
        fit_candidate(estimator, first, train, None)
        raise (error.__cause__ or ValueError(f"{type(estimator).__name__}: {error}")) from None
    seconds = (time.perf_counter() - start) / len(scores)
    return [Result(i, 0, {"score": score}, seconds, numerics=path.numerics) for i, score in scores.items()]

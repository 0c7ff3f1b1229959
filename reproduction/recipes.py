"""Recipes `paper`, `equation` and `honest`: how one split and one method become results."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oneclass.selection import OneClassSearchCV

from .methods import KERNEL_MACHINES, METHODS, Method
from .metrics import VALIDATION, metrics, over_grid
from .selection import CHOICES, DELTAS, best
from .splitting import Fold, Split

__all__ = ["honest", "paper"]

Axes = dict[str, tuple[Any, ...]]
Float = NDArray[np.float64]


def paper(split: Split, method: str, *, seed: int) -> list[dict[str, Any]]:
    """The paper's protocol: choose by five folds with outliers, refit on all training targets, test.

    The choice maximises the mean of sqrt(P R) over the folds. The kernel machines also report the best choice at every
    delta alone, for the paper's figures.

    Parameters
    ----------
    split : Split
        Training targets, folds and test rows.
    method : str
        Name of a method.
    seed : int
        Seed of whatever the method draws.

    Returns
    -------
    list of dict
        Results, the best choice first.

    Examples
    --------
    >>> from reproduction.splitting import random_split
    >>> row = paper(random_split("digits_0", 0), "AAKELM", seed=0)[0]
    >>> row["params"]["delta"] in (0.01, 0.05, 0.1), 0 < row["f1"] <= 1
    (True, True)
    """
    chosen = METHODS[method]
    start = process_time()
    family = method in KERNEL_MACHINES
    axes = {**chosen.grid, "delta": DELTAS}
    folds = _by_search(split.folds, chosen, axes) if family else _by_fitting(split.folds, chosen, axes, seed)
    search = process_time() - start
    out = []
    for choice in CHOICES if family else ("best",):
        ties, validation = best([np.where(CHOICES[choice], fold, np.nan) for fold in folds])
        params = {name: values[i] for (name, values), i in zip(axes.items(), ties[0], strict=True)}
        result = _tested(split, chosen, {**chosen.fixed, **params}, seed)
        out.append({"choice": choice, "validation": validation, "search_seconds": search, **result})
    return out


def honest(split: Split, method: str, *, seed: int) -> list[dict[str, Any]]:
    """The library's defaults: no outlier is seen before the test, and the threshold comes from held-out losses.

    Parameters
    ----------
    split : Split
        Training targets and test rows; the folds are not used.
    method : str
        Name of a method.
    seed : int
        Seed of whatever the method draws.

    Returns
    -------
    list of dict
        One result.

    Examples
    --------
    >>> from reproduction.splitting import random_split
    >>> honest(random_split("digits_0", 0), "AAKELM", seed=0)[0]["auroc"] > 0.9
    True
    """
    return [{"choice": "default", **_tested(split, METHODS[method], {}, seed)}]


def _by_search(folds: Sequence[Fold], method: Method, axes: Axes) -> list[Float]:
    """Validation scores of every grid point in every fold, by the library's search."""
    parts = [part for fold in folds for part in (fold.train, fold.rows)]
    y = np.concatenate([part for fold in folds for part in (np.ones(len(fold.train)), fold.y)])
    numbers = np.split(np.arange(len(y)), np.cumsum([len(part) for part in parts])[:-1])
    search = OneClassSearchCV(
        method.make(**method.fixed),
        axes,
        criterion="labels",
        scoring=VALIDATION,
        cv=list(zip(numbers[::2], numbers[1::2], strict=True)),
        refit=False,
        target=1,
        error_score="raise",
    ).fit(np.concatenate(parts), y)
    # Points of a grid are walked in the order of its names, the last of them fastest.
    walked = sorted(axes)
    shape, order = [len(axes[name]) for name in walked], [walked.index(name) for name in axes]
    columns = (search.cv_results_[f"split{k}_test_score"] for k in range(len(folds)))
    return [column.reshape(shape).transpose(order) for column in columns]


def _by_fitting(folds: Sequence[Fold], method: Method, axes: Axes, seed: int) -> list[Float]:
    """The same by fitting and moving the threshold."""
    return [over_grid(VALIDATION, fold.y, _decisions(fold, method, axes, seed)) for fold in folds]


def _decisions(fold: Fold, method: Method, axes: Axes, seed: int) -> NDArray[np.bool_]:
    """Decisions for every grid point; one fit serves every delta where delta only moves the threshold."""
    names, values = list(axes)[:-1], list(axes.values())[:-1]
    out = []
    for point in itertools.product(*values):
        params = {**method.fixed, **dict(zip(names, point, strict=True))}
        if method.refit_for_delta:
            fits = (_fitted(method, {**params, "delta": delta}, fold.train, seed) for delta in DELTAS)
            out.append([fit.decision_function(fold.rows) >= 0 for fit in fits])
        else:
            fit = _fitted(method, params, fold.train, seed)
            scores = fit.score_samples(fold.rows)
            out.append([scores >= offset for offset in _offsets(fit)])
    return np.array(out).reshape(*map(len, values), len(DELTAS), len(fold.rows))


def _fitted(method: Method, params: dict[str, Any], train: Float, seed: int) -> Any:
    machine = method.make(**params)
    if "random_state" in machine.get_params():
        machine.set_params(random_state=seed)
    with warnings.catch_warnings():
        # A search visits corners (delta below 1/n, optimisers cut short) that deserve no word each.
        warnings.simplefilter("ignore")
        return machine.fit(train)


def _offsets(fit: Any) -> list[float]:
    """Thresholds on the scores of one fitted baseline for every delta."""
    return [fit.offset_at(delta) for delta in DELTAS]


def _tested(split: Split, method: Method, params: dict[str, Any], seed: int) -> dict[str, Any]:
    """Fit once with these parameters, timed, and judge the test rows."""
    start = process_time()
    fit = _fitted(method, params, split.train, seed)
    fitted = process_time()
    decided = fit.decision_function(split.rows)
    scored = process_time()
    shown = {name: value for name, value in params.items() if name not in method.fixed} or {"delta": fit.delta}
    times = {"fit_seconds": fitted - start, "score_seconds": scored - fitted}
    return {"params": shown, **metrics(split.y, decided >= 0, decided), **times}

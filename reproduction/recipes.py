"""Recipes `paper`, `equation`, `software` and `honest`: results of one method on one split."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from oneclass.selection import OneClassSearchCV

from .methods import EVERY, KERNEL_MACHINES, SOFTWARE, Method
from .metrics import VALIDATION, metrics, over_grid
from .selection import CHOICES, DELTAS, best
from .splitting import Fold, Split

__all__ = ["honest", "paper", "searched", "software"]

Axes = dict[str, tuple[Any, ...]]
Bool = NDArray[np.bool_]
Float = NDArray[np.float64]

#: All deltas are searched.
_BEST = {"best": CHOICES["best"]}


def paper(split: Split, method: str, *, seed: int) -> list[dict[str, Any]]:
    """The paper's protocol: choose parameters by five folds with outliers, fit to all training targets, and test.

    The chosen parameters maximise the mean of sqrt(P R) over the folds. For the kernel machines there are also results
    with the best parameters at each delta, for the paper's figures.

    Parameters
    ----------
    split : Split
        Training targets, folds and test rows.
    method : str
        Name of a method or a variant.
    seed : int
        Seed of the method's random numbers.

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
    return searched(split, EVERY[method], seed=seed, choices=CHOICES if method in KERNEL_MACHINES else _BEST)


def software(split: Split, method: str, *, seed: int) -> list[dict[str, Any]]:
    """The same protocol on unscaled rows, as in the cited software; also at each delta alone.

    Parameters
    ----------
    split : Split
        Training targets, folds and test rows.
    method : str
        One of `reproduction.methods.SOFTWARE`.
    seed : int
        Seed of the method's random numbers.

    Returns
    -------
    list of dict
        Results, the best choice first.

    Examples
    --------
    >>> from reproduction.splitting import random_split
    >>> [row["choice"] for row in software(random_split("digits_0", 0), "OCSVM", seed=0)]
    ['best', 'delta=0.01', 'delta=0.05', 'delta=0.1']
    """
    return searched(split, SOFTWARE[method], seed=seed, choices=CHOICES)


def honest(split: Split, method: str, *, seed: int) -> list[dict[str, Any]]:
    """The library's defaults: no outlier is used before the test, and the threshold comes from held-out losses.

    Parameters
    ----------
    split : Split
        Training targets and test rows; the folds are not used.
    method : str
        Name of a method or a variant.
    seed : int
        Seed of the method's random numbers.

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
    chosen = EVERY[method]
    return [{"choice": "default", **_tested(split, chosen, {**chosen.variant}, seed)}]


def searched(
    split: Split,
    method: Method,
    *,
    seed: int,
    choices: Mapping[str, Bool] = _BEST,
    deltas: tuple[float, ...] = DELTAS,
) -> list[dict[str, Any]]:
    """Search a method's grid on the folds of a split, and test the best parameters for each choice of deltas.

    Parameters
    ----------
    split : Split
        Training targets, folds and test rows.
    method : Method
        The classifier and its grid.
    seed : int
        Seed of the method's random numbers.
    choices : mapping of str to bool array
        Name of a choice -> which of the deltas it may take.
    deltas : tuple of float
        Values of delta.

    Returns
    -------
    list of dict
        Results in the order of the choices.
    """
    start = process_time()
    axes = {**method.grid, "delta": deltas}
    by_search = method.make in {EVERY[name].make for name in KERNEL_MACHINES}
    folds = _by_search(split.folds, method, axes) if by_search else _by_fitting(split.folds, method, axes, seed)
    search = process_time() - start
    out = []
    for choice, kept in choices.items():
        ties, validation = best([np.where(kept, fold, np.nan) for fold in folds])
        params = {name: values[i] for (name, values), i in zip(axes.items(), ties[0], strict=True)}
        result = _tested(split, method, {**method.fixed, **params}, seed)
        out.append({"choice": choice, "validation": validation, "search_seconds": search, **result})
    return out


def _by_search(folds: Sequence[Fold], method: Method, axes: Axes) -> list[Float]:
    """Validation score of every grid point in every fold, by the library's search."""
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
    # The search sorts the names of the grid; the last name varies fastest.
    names = sorted(axes)
    shape, order = [len(axes[name]) for name in names], [names.index(name) for name in axes]
    columns = (search.cv_results_[f"split{k}_test_score"] for k in range(len(folds)))
    return [column.reshape(shape).transpose(order) for column in columns]


def _by_fitting(folds: Sequence[Fold], method: Method, axes: Axes, seed: int) -> list[Float]:
    """The same, by a fit for every grid point and a threshold for every delta."""
    return [over_grid(VALIDATION, fold.y, _decisions(fold, method, axes, seed)) for fold in folds]


def _decisions(fold: Fold, method: Method, axes: Axes, seed: int) -> Bool:
    """Decisions for every grid point; one fit serves all deltas if delta only changes the threshold."""
    names, (*values, deltas) = list(axes)[:-1], axes.values()
    out = []
    for point in itertools.product(*values):
        params = {**method.fixed, **dict(zip(names, point, strict=True))}
        if method.refit_for_delta:
            fits = (_fitted(method, {**params, "delta": delta}, fold.train, seed) for delta in deltas)
            out.append([fit.decision_function(fold.rows) >= 0 for fit in fits])
        else:
            fit = _fitted(method, params, fold.train, seed)
            scores = fit.score_samples(fold.rows)
            out.append([scores >= fit._offset_at(delta) for delta in deltas])
    return np.array(out).reshape(*map(len, values), len(deltas), len(fold.rows))


def _fitted(method: Method, params: dict[str, Any], train: Float, seed: int) -> Any:
    machine = method.make(**params)
    if "random_state" in machine.get_params():
        machine.set_params(random_state=seed)
    with warnings.catch_warnings():
        # A grid has points with delta below 1/n, and optimisers that stop early: each would warn.
        warnings.simplefilter("ignore")
        return machine.fit(train)


def _tested(split: Split, method: Method, params: dict[str, Any], seed: int) -> dict[str, Any]:
    """Fit with these parameters, with times, and score the test rows."""
    start = process_time()
    fit = _fitted(method, params, split.train, seed)
    fitted = process_time()
    decided = fit.decision_function(split.rows)
    scored = process_time()
    known = {**method.fixed, **method.variant}
    shown = {name: value for name, value in params.items() if name not in known} or {"delta": fit.delta}
    found = {**metrics(split.y, decided >= 0, decided), "held_out_false_alarm_rate": _rejected(fit, split)}
    return {"params": shown, **found, "fit_seconds": fitted - start, "score_seconds": scored - fitted}


def _rejected(fit: Any, split: Split) -> float | None:
    """Share of test targets that the same model rejects at its delta, by a threshold on held-out losses.

    A kernel machine computes missing held-out losses in closed form. Other classifiers would need folds: None.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a delta below 1/(n + 1)
        if type(fit).__name__ in KERNEL_MACHINES and fit.calibration_ is None:
            fit = clone(fit).set_params(threshold="held_out").fit(split.train)
        if getattr(fit, "calibration_", None) is None:
            return None
        return float(np.mean(fit.predict(split.rows[split.y == 1], delta=fit.delta) == -1))

"""Reading what the user gives: rows of any array library or data frame, weights, numbers, choices."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..core.arrays import Array, device, is_foreign, namespace, ones

__all__ = ["check_choice", "check_integer", "check_number", "check_value", "read_rows", "read_weights"]


def read_rows(estimator: Any, X: Any, *, reset: bool, min_rows: int = 1) -> Array:
    """Two-dimensional, finite, floating rows; float32 stays float32, other libraries' arrays stay where they are."""
    if not is_foreign(X):
        return validate_data(
            estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=min_rows, order="C"
        )
    name = type(estimator).__name__
    xp = namespace(X)
    if X.ndim != 2:
        raise ValueError(f"{name}: X must have two dimensions (rows, features), got {X.ndim}")
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    n, d = X.shape
    if n < min_rows or d < 1:
        raise ValueError(f"{name}: X must have at least {min_rows} row(s) and one feature, got shape {(n, d)}")
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError(f"{name}: X must be finite, but holds NaN or infinity")
    if reset:
        estimator.n_features_in_ = d
    elif d != estimator.n_features_in_:
        raise ValueError(f"{name}: X has {d} features, but was fitted on {estimator.n_features_in_}")
    return X


def read_weights(estimator: Any, sample_weight: Any, X: Array) -> Array:
    """One finite, non-negative weight a row, of the rows' kind; ones when the user gives none."""
    if sample_weight is None:
        return ones(X)
    name = type(estimator).__name__
    if is_foreign(X):
        xp = namespace(X)
        w = xp.asarray(sample_weight, dtype=X.dtype, device=device(X), copy=True)
        if w.shape != (X.shape[0],):
            raise ValueError(f"{name}: sample_weight must have shape ({X.shape[0]},), got {tuple(w.shape)}")
    else:
        xp = namespace(X)
        try:
            w = _check_sample_weight(sample_weight, X, dtype=X.dtype, copy=True)
        except ValueError as error:
            raise ValueError(f"{name}: sample_weight must be one finite weight a row: {error}") from None
    if bool(xp.any(w < 0)) or not bool(xp.all(xp.isfinite(w))):
        raise ValueError(f"{name}: sample_weight must be finite and not negative, got a minimum of {float(xp.min(w))}")
    if not bool(xp.any(w > 0)):
        raise ValueError(f"{name}: sample_weight must be positive for at least one row, got only zeros")
    return w


def check_number(
    estimator: Any, parameter: str, low: float, high: float, *, closed_low: bool = False, closed_high: bool = False
) -> float:
    """The parameter's value, a number inside the interval."""
    value = vars(estimator)[parameter]
    return check_value(estimator, parameter, value, low, high, closed_low=closed_low, closed_high=closed_high)


def check_value(
    estimator: Any,
    name: str,
    value: Any,
    low: float,
    high: float,
    *,
    closed_low: bool = False,
    closed_high: bool = False,
) -> float:
    """The value of an argument called `name`, a number inside the interval."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)
    if good:
        good = (low < value or (closed_low and value == low)) and (value < high or (closed_high and value == high))
    if not good:
        interval = f"{'[' if closed_low else '('}{low:g}, {high:g}{']' if closed_high else ')'}"
        raise ValueError(f"{type(estimator).__name__}: {name} must be a number in {interval}, got {value!r}")
    return float(value)


def check_integer(estimator: Any, parameter: str, low: int) -> int:
    """The parameter's value, a whole number of at least `low`."""
    value = vars(estimator)[parameter]
    if not isinstance(value, numbers.Integral) or isinstance(value, bool | np.bool_) or value < low:
        raise ValueError(
            f"{type(estimator).__name__}: {parameter} must be a whole number of at least {low}, got {value!r}"
        )
    return int(value)


def check_choice(estimator: Any, parameter: str, choices: tuple[str, ...]) -> str:
    """The parameter's value, one of the choices."""
    value = vars(estimator)[parameter]
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{type(estimator).__name__}: {parameter} must be one of {listed}; got {value!r}")
    return str(value)

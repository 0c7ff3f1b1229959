"""Reading what the user gives: rows of any array library or data frame, weights, numbers, choices."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..core.arrays import Array, device, is_foreign, namespace, ones

__all__ = [
    "check_choice",
    "check_dimensions",
    "check_integer",
    "check_number",
    "check_value",
    "read_rows",
    "read_weights",
]


def read_rows(estimator: Any, X: Any, *, reset: bool, min_rows: int = 1) -> Array:
    """Two-dimensional, finite, floating rows; float32 stays float32, other libraries' arrays stay where they are."""
    name = type(estimator).__name__
    X = _unwrapped(name, X)
    check_dimensions(name, X)
    if not is_foreign(X):
        if any(_is_time(kind) for kind in getattr(X, "dtypes", [getattr(X, "dtype", None)])):
            raise ValueError(_blame(name, X))
        try:
            return validate_data(
                estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=min_rows, order="C"
            )
        except (TypeError, ValueError) as error:
            if blame := _blame(name, X):
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"{blame} ({str(error).splitlines()[0]})") from None
            raise
    xp = namespace(X)
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


def check_dimensions(name: str, X: Any) -> None:
    """Refuse what is no table of rows and features."""
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(
            f"{name}: X must have two dimensions (rows, features), got shape {tuple(X.shape)}. Reshape your data: "
            "X.reshape(-1, 1) has one feature, X.reshape(1, -1) is one row"
        )


def _unwrapped(name: str, X: Any) -> Any:
    """`X` as an array or a table; what would become one only by a guess is refused."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(f"{name}: X must hold rows, got a {type(X).__name__}, which has read none: pass X.collect()")
    if type(X) is dict or (isinstance(X, list | tuple) and len(X) and isinstance(X[0], dict)):
        raise TypeError(f"{name}: X must be an array or a data frame, got dicts: pass pandas.DataFrame(X)")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"{name}: X must hold a number in every cell, but {np.ma.count_masked(X)} cells of the array are masked; "
            "fill them, for example with X.filled(0), or drop their rows"
        )
    return np.asarray(X) if isinstance(X, list | tuple) else X


_DATES, _NO_NUMBERS, _MISSING = "dates or times", "no numbers", "missing values"
_REMEDIES = {
    _DATES: "turn dates into numbers, for example days since the first",
    _NO_NUMBERS: "encode what is no number, for example with sklearn.preprocessing.OneHotEncoder",
    _MISSING: "fill or drop what is missing, for example with sklearn.impute.SimpleImputer",
}
_NAMED = 5  # columns to name in one message


def _blame(name: str, X: Any) -> str:
    """The columns of a table or an untyped array that are no numbers, and what to do; empty if all are."""
    flaws = {label: flaw for label, column in _columns(X) if (flaw := _flaw(column))}
    if not flaws:
        return ""
    listed = [f"{label} holds {flaw}" for label, flaw in flaws.items()]
    more = f" and {len(listed) - _NAMED} columns more are alike" if len(listed) > _NAMED else ""
    remedies = "; ".join(remedy for flaw, remedy in _REMEDIES.items() if flaw in flaws.values())
    return f"{name}: X must hold a number in every cell, but {', '.join(listed[:_NAMED])}{more}; {remedies}"


def _columns(X: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(X, "columns"):
        for j, label in enumerate(X.columns):
            yield f"column {label!r}", X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    elif getattr(X, "dtype", None) is not None and X.dtype.kind in "OUSmM":
        for j in range(X.shape[1]):
            yield f"column {j}", X[:, j]


def _flaw(column: Any) -> str | None:
    """What keeps a column from being numbers, if anything does."""
    if _is_time(column.dtype):
        return _DATES
    values = np.asarray(column)
    gaps = getattr(column, "isna", None) or getattr(column, "is_null", None)
    missing = np.asarray(gaps()) if gaps else np.zeros(len(values), dtype=bool)
    try:
        numbers = values[~missing].astype(float)
    except (TypeError, ValueError):
        return _NO_NUMBERS
    return _MISSING if missing.any() or np.isnan(numbers).any() else None


def _is_time(kind: Any) -> bool:
    """Whether a dtype of NumPy, pandas or polars is one of dates, times or spans of time."""
    return getattr(kind, "kind", None) in ("m", "M") or bool(getattr(kind, "is_temporal", bool)())


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

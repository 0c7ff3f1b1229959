"""Checks of parameters and arguments. Errors name the estimator, the parameter, the rule and the value."""

from __future__ import annotations

import math
import numbers
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from ..core.arrays import Array
from ..core.scaling import ColumnMoments

__all__ = [
    "LARGEST_FACTOR",
    "ChoiceError",
    "check_choice",
    "check_integer",
    "check_learns_outliers",
    "check_magnitudes",
    "check_number",
    "check_size",
    "check_square",
    "read_scaling",
]

#: Largest size of a parameter that rows are multiplied or divided by, for rows in double and in single precision. The
#: product of three such numbers, or of their inverses, is finite and not zero. The smallest size is the inverse.
LARGEST_FACTOR, _LARGEST_SINGLE = 1e100, 1e12

#: Type of a choice: a string, or None.
C = TypeVar("C", bound=str | None)


class ChoiceError(ValueError):
    """A parameter or an argument has a value that is not allowed."""


def check_number(
    estimator: object,
    name: str,
    low: float,
    high: float,
    *,
    value: object = ...,
    closed_low: bool = False,
    closed_high: bool = False,
) -> float:
    """Check that the parameter `name`, or the argument `value` if given, is a number in the interval; return it."""
    value = getattr(estimator, name) if value is ... else value
    number = _as_float(value)
    inside = (low < number or (closed_low and number == low)) and (number < high or (closed_high and number == high))
    if not inside or math.isinf(number):
        interval = f"{'[' if closed_low else '('}{low:g}, {high:g}{']' if closed_high else ')'}"
        raise ChoiceError(f"{type(estimator).__name__}: {name} must be a number in {interval}, got {value!r}")
    return number


def _as_float(value: object) -> float:
    """The value as a floating number; NaN if it is no number, or beyond all of these."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def check_size(estimator: object, name: str, value: float, *, single: bool = False) -> None:
    """Refuse a parameter, positive or negative, that is too large or too small to compute with."""
    most = _LARGEST_SINGLE if single else LARGEST_FACTOR
    if not 1 / most <= abs(value) <= most:
        rows = " for rows in single precision" if single else ""
        raise ChoiceError(
            f"{type(estimator).__name__}: {name} must be from {1 / most:g} to {most:g} in size{rows}, got {value!r}"
        )


def check_integer(estimator: object, parameter: str, low: int, *, value: object = ...) -> int:
    """Check that a parameter, or the argument `value` if given, is a whole number of at least `low`; return it."""
    value = getattr(estimator, parameter) if value is ... else value
    if not isinstance(value, numbers.Integral) or isinstance(value, bool | np.bool_) or value < low:
        raise ChoiceError(
            f"{type(estimator).__name__}: {parameter} must be a whole number of at least {low}, got {value!r}"
        )
    return int(value)


def check_choice(estimator: object, name: str, choices: tuple[C, ...], *, value: object = ...) -> C:
    """Check that the parameter `name`, or the argument `value` if given, is one of the choices; return it."""
    value = getattr(estimator, name) if value is ... else value
    for choice in choices:
        if isinstance(value, str | None) and value == choice:
            return choice
    listed = ", ".join(repr(c) for c in choices)
    raise ChoiceError(f"{type(estimator).__name__}: {name} must be one of {listed}; got {value!r}")


def read_scaling(name: str, scale: object) -> str:
    """Check the parameter `scale` of the estimator called `name`, and return the scaling, one of `SCALINGS`."""
    if scale is False:
        return "none"
    if not isinstance(scale, str) or scale not in ("robust", "zscore"):
        raise ChoiceError(f"{name}: scale must be 'robust', 'zscore' or False; got {scale!r}")
    return scale


def check_square(estimator: object, K: Array) -> None:
    """Raise ValueError unless a precomputed training kernel is square."""
    if K.shape[0] != K.shape[1]:
        name = type(estimator).__name__
        raise ValueError(f"{name}: a precomputed kernel must be square at fit, got shape {tuple(K.shape)}")


def check_magnitudes(
    estimator: object, columns: ColumnMoments, names: NDArray[np.object_] | None, *, scaling: str
) -> None:
    """Raise ValueError if the squares of a column's values would overflow or underflow."""
    j = columns.out_of_range(scaling)
    if j is None:
        return
    which = f"column {j}" if names is None else f"column {names[j]!r}"
    raise ValueError(
        f"{type(estimator).__name__}: X must hold values whose squares are numbers, but {which} runs from "
        f"{float(columns.low[j]):.3g} to {float(columns.high[j]):.3g}: give it in another unit"
    )


def check_learns_outliers(owner: object, estimator: object) -> None:
    """Refuse known outliers for an estimator whose `fit` does not take them; `owner` wraps the estimator."""
    if not has_fit_parameter(estimator, "outliers"):
        raise TypeError(
            f"{type(owner).__name__}: outliers must be None, because {type(estimator).__name__} does not learn from "
            "known outliers; use a kernel machine, such as VAAKELM"
        )

"""Parameters and arguments that users give: numbers, choices, matrices; errors name machine, parameter, rule, value."""

from __future__ import annotations

import math
import numbers
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..core.scaling import ColumnMoments

__all__ = [
    "ChoiceError",
    "check_choice",
    "check_integer",
    "check_magnitudes",
    "check_number",
    "check_square",
    "read_scaling",
]

#: What may be chosen: a word, or None.
C = TypeVar("C", bound=str | None)


class ChoiceError(ValueError):
    """A parameter, or an argument, has a value that the estimator refuses."""


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
    """The parameter of that name, or the value of an argument that is called so: a number inside the interval."""
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


def check_integer(estimator: object, parameter: str, low: int) -> int:
    """The parameter's value, a whole number of at least `low`."""
    value = getattr(estimator, parameter)
    if not isinstance(value, numbers.Integral) or isinstance(value, bool | np.bool_) or value < low:
        raise ChoiceError(
            f"{type(estimator).__name__}: {parameter} must be a whole number of at least {low}, got {value!r}"
        )
    return int(value)


def check_choice(estimator: object, name: str, choices: tuple[C, ...], *, value: object = ...) -> C:
    """The parameter of that name, or the value of an argument that is called so: one of the choices."""
    value = getattr(estimator, name) if value is ... else value
    for choice in choices:
        if isinstance(value, str | None) and value == choice:
            return choice
    listed = ", ".join(repr(c) for c in choices)
    raise ChoiceError(f"{type(estimator).__name__}: {name} must be one of {listed}; got {value!r}")


def read_scaling(name: str, scale: object) -> str:
    """What the argument `scale` of who is called `name` says, one of `SCALINGS`."""
    if scale is False:
        return "none"
    if not isinstance(scale, str) or scale not in ("robust", "zscore"):
        raise ChoiceError(f"{name}: scale must be 'robust', 'zscore' or False; got {scale!r}")
    return scale


def check_square(estimator: object, K: Array) -> None:
    """A precomputed kernel is square at fit."""
    if K.shape[0] != K.shape[1]:
        name = type(estimator).__name__
        raise ValueError(f"{name}: a precomputed kernel must be square at fit, got shape {tuple(K.shape)}")


def check_magnitudes(
    estimator: object, columns: ColumnMoments, names: NDArray[np.object_] | None, *, scaling: str
) -> None:
    """Values that can be squared: neither so large nor so close together that their squares are lost."""
    j = columns.out_of_range(scaling)
    if j is None:
        return
    which = f"column {j}" if names is None else f"column {names[j]!r}"
    raise ValueError(
        f"{type(estimator).__name__}: X must hold values whose squares are numbers, but {which} runs from "
        f"{float(columns.low[j]):.3g} to {float(columns.high[j]):.3g}: give it in another unit"
    )

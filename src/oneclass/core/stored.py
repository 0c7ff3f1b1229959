"""Conditions on fields of stored values: sizes, ranges and choices, as annotations of their types.

Each class whose values are saved in files states this once, in the annotations of its fields::

    centre: Annotated[Array, Floats("d")]
    scale: Annotated[Array, Floats("d", above=0)]
    method: Annotated[str, OneOf("kappa", "delta", "gamma")]

Conditions on several fields are in a method `__check__`, which raises through `must` and may return sizes that follow
from the fields. `io/checking.py` reads all of this when a file is written or read.

The sizes of an array are named: equal names are equal sizes, within a value and the values that it holds. A name that
begins with ``_`` holds in its own class only, one that ends with ``?`` may be zero, ``*`` is any size, and a number is
that size.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated

from .arrays import Array, library_of, namespace

__all__ = [
    "APART",
    "MAYBE",
    "Count",
    "Extended",
    "Flags",
    "Floats",
    "Jobs",
    "Length",
    "Mark",
    "Names",
    "OneOf",
    "Positive",
    "Share",
    "Size",
    "Sizes",
    "Whole",
    "Within",
    "must",
]


#: The largest finite number.
_LARGEST = sys.float_info.max


def must(holds: bool, rule: str) -> None:
    """Raise a `ValueError` that states the rule, unless it holds."""
    if not holds:
        raise ValueError(rule)


class Sizes(dict[str, int]):
    """Known sizes by name."""

    def fit(self, name: str, size: int) -> bool:
        """Whether a size is the one known by this name; it is known from now on."""
        if name.isdecimal():
            return size == int(name)
        if name == "*":
            return True
        return (size > 0 or name.endswith("?")) and self.setdefault(name.removesuffix("?"), size) == size


class Mark(ABC):
    """A condition on a field, besides its type."""

    @abstractmethod
    def check(self, value: object, sizes: Sizes) -> None:
        """Raise a `ValueError` whose message continues the name of the field, as in "must be at least 0"."""


class _Note(Enum):
    APART = auto()
    MAYBE = auto()


#: Mark of a field: the sizes of its value are independent of those of the value that contains it.
APART = _Note.APART
#: Mark of a fitted attribute: an estimator may be without it.
MAYBE = _Note.MAYBE


@dataclass(frozen=True)
class Within(Mark):
    """A number from `low` to `high`, or above `above`; infinity and NaN only if `finite` is False."""

    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    finite: bool = True

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: D102
        if not self.finite and value != value:
            return
        number: float = value  # type: ignore[assignment]  # its type has been checked
        inside = self.low <= number <= self.high and (number > self.above or self.above == -math.inf)
        if inside and (not self.finite or abs(number) <= _LARGEST):
            return
        rule = f"above {self.above:g}" if self.above > -math.inf else f"in [{self.low:g}, {self.high:g}]"
        raise ValueError(f"must be a finite number {rule}, got {value!r:.40}")


Positive = Annotated[float, Within(above=0)]
Share = Annotated[float, Within(0, 1)]
#: A number that may be infinite, or NaN where it is not known.
Extended = Annotated[float, Within(finite=False)]
Count = Annotated[int, Within(0)]
#: Threads, as joblib counts them; more of them than any computer has would only exhaust it.
Jobs = Annotated[int, Within(-4096, 4096)]


@dataclass(frozen=True)
class OneOf(Mark):
    """One of these words."""

    choices: tuple[str, ...]

    def __init__(self, *choices: str) -> None:
        object.__setattr__(self, "choices", choices)

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: D102
        if value not in self.choices:
            raise ValueError(f"must be one of {', '.join(map(repr, self.choices))}, got {value!r:.40}")


@dataclass(frozen=True)
class Size(Mark):
    """A whole number that is the size of this name."""

    name: str

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: D102
        if not isinstance(value, int) or not sizes.fit(self.name, value):
            raise ValueError(_fitting(self.name, sizes, value))


@dataclass(frozen=True)
class Length(Mark):
    """A list or tuple with as many entries as the size of this name."""

    name: str

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: D102
        length = len(value)  # type: ignore[arg-type]
        if not sizes.fit(self.name, length):
            raise ValueError(_fitting(f"{self.name} entries", sizes, length))


@dataclass(frozen=True)
class Names(Mark):
    """An array of objects that are words, one for each entry of the size of this name."""

    name: str

    def check(self, value: object, sizes: Sizes) -> None:  # noqa: D102
        array: Array = value
        if array.ndim != 1 or not sizes.fit(self.name, len(array)):
            raise ValueError(_fitting(self.name, sizes, array.shape))
        must(all(isinstance(word, str) for word in array), "must hold words")


@dataclass(frozen=True)
class _Shaped(Mark):
    """An array of any library with these sizes, their names parted by spaces."""

    dims: str

    def check(self, value: object, sizes: Sizes) -> None:
        array: Array = value
        must(library_of(array) is not None, "must be an array")
        names, shape = self.dims.split(), tuple(array.shape)
        if len(names) != len(shape) or not all(map(sizes.fit, names, shape)):
            raise ValueError(_fitting(f"of shape ({', '.join(names)})", sizes, shape))
        self._check_values(array, sizes)

    def _check_values(self, array: Array, sizes: Sizes) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Floats(_Shaped):
    """Numbers in single or double precision; infinity and NaN are among them only if `finite` is False."""

    above: float = -math.inf
    finite: bool = True

    def _check_values(self, array: Array, sizes: Sizes) -> None:
        xp = namespace(array)
        must(xp.isdtype(array.dtype, "real floating"), "must hold floating numbers")
        must(not self.finite or bool(xp.all(xp.isfinite(array))), "must be finite, but holds NaN or infinity")
        if self.above > -math.inf:
            must(bool(xp.all(array > self.above)), f"must be above {self.above:g}")


@dataclass(frozen=True)
class Whole(_Shaped):
    """Whole numbers from `low` on, and `below` the size of that name, which an earlier field defines."""

    low: int = 0
    below: str = ""

    def _check_values(self, array: Array, sizes: Sizes) -> None:
        xp = namespace(array)
        must(xp.isdtype(array.dtype, "signed integer"), "must hold whole numbers")
        must(bool(xp.all(array >= self.low)), f"must be at least {self.low}")
        if self.below and not bool(xp.all(array < sizes[self.below])):
            raise ValueError(f"must be below {sizes[self.below]}")


@dataclass(frozen=True)
class Flags(_Shaped):
    """True and False."""

    def _check_values(self, array: Array, sizes: Sizes) -> None:
        must(namespace(array).isdtype(array.dtype, "bool"), "must hold True and False")


def _fitting(what: str, sizes: Sizes, got: object) -> str:
    known = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    return f"must be {what}{f' with {known}' if known else ''}, got {got!r:.60}"

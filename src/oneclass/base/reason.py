"""The contribution of one column to the loss of a row, as text and as a tuple."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.typing import Name
from ..core.wording import duration, said, seconds_of

__all__ = ["DIGITS", "Reason", "said_beside"]

#: Digits of expected values in text.
DIGITS = 4


class Reason(NamedTuple):
    """Contribution of one column to the loss of a row: the column, its value, the expected value and the share.

    `expected` is None if the expected value, to the four digits that are shown, equals the value; an example is a rare
    category that the other columns predict. `low` and `high` bound the range that holds about nine of ten values of
    normal rows that are alike in the other columns; None for a category, and where no range is known. `probability` is
    that of the expected category, and `value_probability` that of the value, among these rows; None for a number. For a
    duration, `expected`, `low` and `high` are in seconds.

    Examples
    --------
    >>> from oneclass import Reason
    >>> print(Reason("mass", 400.0, 4.5, 0.97))
    mass=400 (expected 4.5)
    >>> print(Reason("mass", 400.0, 4.5, 0.97, low=3.1, high=6.2))
    mass=400 (expected 3.1 to 6.2)
    >>> print(Reason("payment", "invoice", "card", 0.97, probability=0.92, value_probability=0.03))
    payment=invoice (expected card, 92 %; invoice 3 %)
    """

    column: Name
    value: Any
    expected: Any
    share: float
    low: Any = None
    high: Any = None
    probability: float | None = None
    value_probability: float | None = None

    def __str__(self) -> str:
        found = f"{self.column}={said(self.value)}"
        return f"{found} (expected {self.expectation})" if self.expectation else found

    @property
    def expectation(self) -> str:
        """The expected range or value as text, a category with its probability; empty if there is none."""
        if self.low is not None and self.high is not None:
            low, high = (said_beside(self.value, end) for end in (self.low, self.high))
            if low != high:
                return f"{low} to {high}"
        if self.expected is None:
            return ""
        found = said_beside(self.value, self.expected)
        if self.probability is None or self.value_probability is None:
            return found
        return f"{found}, {100 * self.probability:.0f} %; {said(self.value)} {100 * self.value_probability:.0f} %"


def said_beside(value: object, expected: object) -> str:
    """An expected value as text; beside a duration or a time of day, numbers are seconds."""
    if seconds_of(value) is not None and isinstance(expected, float):
        return duration(expected)
    return said(expected, DIGITS)

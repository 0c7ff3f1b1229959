"""Warnings that point at the user's own line, however deep in the library they are raised."""

from __future__ import annotations

import sys
import warnings

__all__ = ["DependentRowsWarning", "FewRowsWarning", "SmallRateWarning", "warn"]

_OURS = ("oneclass", "sklearn", "joblib")


class DependentRowsWarning(UserWarning):
    """Rows look as if they were not independent of one another, so that promises made on them may not hold.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import DependentRowsWarning
    >>> warnings.simplefilter("ignore", DependentRowsWarning)  # the rows are known to be independent
    """


class FewRowsWarning(UserWarning):
    """There are fewer training rows than columns, so the false-alarm rate may be higher than asked for.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import FewRowsWarning
    >>> warnings.simplefilter("error", FewRowsWarning)  # no fit to so few rows
    """


class SmallRateWarning(UserWarning):
    """A false-alarm rate, or false-discovery rate, is smaller than the number of training rows supports.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import SmallRateWarning
    >>> warnings.simplefilter("ignore", SmallRateWarning)  # the lowest held-out score is a good enough threshold
    """


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside the library and what it is called through."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

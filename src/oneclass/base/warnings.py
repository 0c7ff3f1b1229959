"""The library's warnings. Each has a class of its own, and points at the user's own line."""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "ColumnWarning",
    "DependentRowsWarning",
    "FewRowsWarning",
    "LabelWarning",
    "OneClassWarning",
    "SlowFitWarning",
    "UnreachableRateWarning",
    "warn",
]

_LIBRARIES = ("oneclass", "sklearn", "joblib")


class OneClassWarning(UserWarning):
    """Base class of all warnings of the library.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import OneClassWarning
    >>> warnings.simplefilter("error", OneClassWarning)
    """


class DependentRowsWarning(OneClassWarning):
    """Rows depend on one another, so that new rows may be rejected more often than asked for.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import DependentRowsWarning
    >>> warnings.simplefilter("ignore", DependentRowsWarning)  # the rows are known to be independent
    """


class FewRowsWarning(OneClassWarning):
    """There are too few rows for what was asked.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import FewRowsWarning
    >>> warnings.simplefilter("ignore", FewRowsWarning)
    """


class UnreachableRateWarning(FewRowsWarning):
    """There are too few training rows to keep the false-alarm rate or false-discovery rate asked for.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import UnreachableRateWarning
    >>> warnings.simplefilter("error", UnreachableRateWarning)
    """


class LabelWarning(OneClassWarning):
    """Labels leave in doubt which rows are of the target class.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import LabelWarning
    >>> warnings.simplefilter("error", LabelWarning)
    """


class ColumnWarning(OneClassWarning):
    """Columns of a table are left out, are new, are in another order, or hold values that are new.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import ColumnWarning
    >>> warnings.simplefilter("ignore", ColumnWarning)
    """


class SlowFitWarning(OneClassWarning):
    """A fit of so many rows takes minutes or hours.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import SlowFitWarning
    >>> warnings.simplefilter("error", SlowFitWarning)  # to stop before such a fit starts
    """


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside the library and the libraries that call it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

"""Warning classes of the library, and `warn`, which reports the line of the user's code as the origin.

`warnings.catch_warnings` is not used: it changes the filters of all threads, and if two threads leave its blocks in
another order than they entered them, the filters stay changed.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Lock
from typing import Any

__all__ = [
    "ColumnWarning",
    "DependentRowsWarning",
    "FewRowsWarning",
    "LabelWarning",
    "OneClassWarning",
    "SegmentWarning",
    "ShiftedBatchWarning",
    "SlowFitWarning",
    "TrainingRowsWarning",
    "UnreachableRateWarning",
    "collected",
    "ignoring",
    "warn",
]

_LIBRARIES = ("oneclass", "sklearn", "joblib")
#: Where `warn` puts the messages of some categories inside `collected`, the innermost block first.
_collectors: ContextVar[tuple[tuple[tuple[type[Warning], ...], list[str]], ...]] = ContextVar("collectors", default=())
#: Number of blocks of `ignoring` and the filter that they added, by category.
_ignoring: Counter[type[Warning]] = Counter()
_added: dict[type[Warning], object] = {}
_counting = Lock()


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
    """There are too few rows for a parameter value or a method.

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


class SegmentWarning(OneClassWarning):
    """New rows belong to a segment without training rows, so that their false-alarm rate is unknown.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import SegmentWarning
    >>> warnings.simplefilter("error", SegmentWarning)
    """


class ShiftedBatchWarning(OneClassWarning):
    """Most rows of a batch are outliers, which cannot be chance: the batch differs from the training rows as a whole.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import ShiftedBatchWarning
    >>> warnings.simplefilter("ignore", ShiftedBatchWarning)  # the rows are known outliers
    """


class TrainingRowsWarning(OneClassWarning):
    """Most rows of a batch are rows that the model was fitted to, so that mistakes in them may not be found.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import TrainingRowsWarning
    >>> warnings.simplefilter("ignore", TrainingRowsWarning)
    """


class LabelWarning(OneClassWarning):
    """Labels do not determine for certain which rows are of the target class.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import LabelWarning
    >>> warnings.simplefilter("error", LabelWarning)
    """


class ColumnWarning(OneClassWarning):
    """A table has columns that are dropped, new or in another order, or that hold new values.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import ColumnWarning
    >>> warnings.simplefilter("ignore", ColumnWarning)
    """


class SlowFitWarning(OneClassWarning):
    """A fit takes minutes or hours because of the number of rows.

    Examples
    --------
    >>> import warnings
    >>> from oneclass import SlowFitWarning
    >>> warnings.simplefilter("error", SlowFitWarning)  # to stop before such a fit starts
    """


def warn(message: str, category: type[Warning]) -> None:
    """Raise a warning for the first calling line outside this library, scikit-learn and joblib."""
    for categories, messages in _collectors.get():
        if issubclass(category, categories):
            if message not in messages:
                messages.append(message)
            return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collected(*categories: type[Warning]) -> Iterator[list[str]]:
    """A list of the messages of the library's warnings of these categories (default: all), which are not raised.

    It changes nothing for other threads.

    >>> with collected() as messages:
    ...     warn("few rows", FewRowsWarning)
    >>> messages
    ['few rows']
    """
    found: list[str] = []
    token = _collectors.set(((categories or (Warning,), found), *_collectors.get()))
    try:
        yield found
    finally:
        _collectors.reset(token)


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Ignore the warnings of this category that scikit-learn raises.

    The first of several blocks at the same time adds a filter, and the last one removes it. Where filters belong to a
    context, as in Python 3.14 without the GIL, each block has its own.
    """
    if getattr(sys.flags, "context_aware_warnings", False):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=category, module="sklearn")
            yield
        return
    with _counting:
        _ignoring[category] += 1
        if _ignoring[category] == 1:
            warnings.filterwarnings("ignore", category=category, module="sklearn")
            _added[category] = warnings.filters[0]
    try:
        yield
    finally:
        with _counting:
            _ignoring[category] -= 1
            if not _ignoring[category]:
                filters: Any = warnings.filters
                with suppress(ValueError):  # somebody else has removed it
                    filters.remove(_added.pop(category))

"""The spelling of parameters in messages: as Python keyword arguments or, on the command line, as options."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

__all__ = ["duration", "parameter", "parameters_as", "said", "seconds_of"]

_MINUTE, _DAY_SECONDS = 60, 86_400  # in seconds

#: A function from the name of a parameter and its value (None for any value) to its spelling in a message.
Spelling = Callable[[str, object], str]


def _keyword(name: str, value: object) -> str:
    return f"{name}=" if value is None else f"{name}={value!r}"


_spelling: ContextVar[Spelling] = ContextVar("spelling", default=_keyword)


def parameter(name: str, value: object = None) -> str:
    """Return the parameter with this value as the user writes it.

    >>> parameter("header", True)
    'header=True'
    """
    return _spelling.get()(name, value)


@contextmanager
def parameters_as(spelling: Spelling) -> Iterator[None]:
    """Use another spelling of parameters in messages that are composed inside the `with` block."""
    token = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(token)


def seconds_of(value: object) -> float | None:
    """Return a duration or a time of day in seconds; None for other values."""
    if isinstance(value, np.timedelta64):
        return np.nan if np.isnat(value) else int(value.astype("timedelta64[us]").astype(np.int64)) / 1e6
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return None


def said(value: object, digits: int = 6) -> str:
    """Return a cell of a table as text."""
    if value is None or value != value or value == "":
        return "missing"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[m]")).replace("T", " ")
    if isinstance(value, datetime.datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, datetime.time):
        return value.isoformat() if value.second or value.microsecond else f"{value:%H:%M}"
    if (seconds := seconds_of(value)) is not None:
        return duration(seconds)
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    return f"{number:.0f}" if 10.0**digits <= abs(number) < 1e15 else f"{number:.{digits}g}"


def duration(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds, with the days if there are any; below a minute as seconds."""
    if not abs(seconds) >= _MINUTE:
        return f"{seconds:.4g} s"
    days, rest = divmod(round(abs(seconds)), _DAY_SECONDS)
    clock = f"{rest // 3600}:{rest % 3600 // _MINUTE:02d}:{rest % _MINUTE:02d}"
    return "-" * (seconds < 0) + (f"{days} d " if days else "") + clock

"""The spelling of parameters in messages: as Python keyword arguments or, on the command line, as options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["parameter", "parameters_as"]

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

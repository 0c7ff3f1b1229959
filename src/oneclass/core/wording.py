"""How messages name a parameter: as Python's keyword argument or, in the command line, as an option."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["parameter", "parameters_as"]

#: From the name of a parameter and its value, or None for any, to the words of a message.
Spelling = Callable[[str, object], str]


def _keyword(name: str, value: object) -> str:
    return f"{name}=" if value is None else f"{name}={value!r}"


_spelling: ContextVar[Spelling] = ContextVar("spelling", default=_keyword)


def parameter(name: str, value: object = None) -> str:
    """The parameter with this value as the user would write it.

    >>> parameter("header", True)
    'header=True'
    """
    return _spelling.get()(name, value)


@contextmanager
def parameters_as(spelling: Spelling) -> Iterator[None]:
    """Name parameters in another way in messages that are composed inside the `with` block."""
    token = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(token)

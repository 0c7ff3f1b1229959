"""Cached properties of frozen values."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TypeVar

__all__ = ["cached", "preset"]

V = TypeVar("V")


def cached(value: object) -> dict[str, object]:
    """Results of the cached properties of a value that have been computed so far, by name."""
    kind: type = type(value)
    found = vars(value)
    return {name: found[name] for name in _names(kind) if name in found}


def preset(value: V, **results: object) -> V:
    """Set cached properties of a value whose results are known already; return the value."""
    kind: type = type(value)
    for name in results:
        if name not in _names(kind):
            raise TypeError(f"{kind.__name__}.{name} is not a cached property")
    vars(value).update(results)
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of the cached properties of a class."""
    return tuple(name for name in dir(kind) if isinstance(getattr(kind, name, None), cached_property))

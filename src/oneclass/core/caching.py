"""Cached properties of frozen values."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

__all__ = ["cached", "preset"]

V = TypeVar("V")


def cached(value: object) -> dict[str, object]:
    """Results of the cached properties of a value that have been computed so far, by name."""
    kind = type(value)
    return {
        name: found for name, found in vars(value).items() if isinstance(getattr(kind, name, None), cached_property)
    }


def preset(value: V, **results: object) -> V:
    """Set cached properties of a value whose results are known already; return the value."""
    for name in results:
        if not isinstance(getattr(type(value), name, None), cached_property):
            raise TypeError(f"{type(value).__name__}.{name} is not a cached property")
    vars(value).update(results)
    return value

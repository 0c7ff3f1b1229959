"""Classifiers by the names that the command line gives them."""

from __future__ import annotations

from typing import Any

from .. import baselines, machines

__all__ = ["METHODS", "classifier"]

METHODS: dict[str, Any] = {
    name.removesuffix("Detector").lower(): getattr(room, name)
    for room in (machines, baselines)
    for name in room.__all__
}


def classifier(method: str, delta: float, **options: Any) -> Any:
    """A classifier with what was asked of it."""
    kind = METHODS[method]
    known = kind().get_params()
    given = {name: value for name, value in options.items() if value is not None}
    if wrong := [name for name in given if name not in known]:
        raise ValueError(f"--method {method} has no {wrong[0]}")
    return kind(delta=delta, **given)

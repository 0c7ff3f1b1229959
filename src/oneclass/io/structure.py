"""How much the JSON of a model file may hold: what all later work on it takes time and memory for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

__all__ = ["check_structure"]

#: Lists, dicts and values inside each other: they are visited by calls inside calls, of which Python allows a thousand.
_DEEPEST = 100
#: Values may be shared. Whoever visits a value as often as others refer to it makes at most this many visits, and at
#: most so many times as many as there are places where a value stands.
_VISITS, _SHARED = 100_000, 10
#: Parts of a record that hold values.
_PARTS = {"fields", "parameters", "found"}


def check_structure(records: Sequence[Any]) -> None:
    """Refuse values that are nested too deeply, or that are shared so often that to visit them all takes for ever."""
    walk = _Walk()
    for record in records:
        walk.add(record)


class _Walk:
    """How many visits each value takes, those of the values that it refers to included, and how deep it is."""

    def __init__(self) -> None:
        self._known: list[tuple[int, int]] = []
        self._places = 0

    def add(self, record: Any) -> None:
        """Look at the next value."""
        visits = depth = 0
        for part in record.keys() & _PARTS:
            more, deeper = self._inside(record[part].values(), 0)
            visits, depth = visits + more, max(depth, deeper)
        if visits > _VISITS + _SHARED * self._places:
            raise ValueError(f"its values are shared so often that to visit them all takes {visits:,} visits")
        self._known.append((visits, depth))

    def _inside(self, nodes: Collection[Any], level: int) -> tuple[int, int]:
        visits, deepest = 1 + len(nodes), 0
        self._places += len(nodes)
        for node in nodes:
            if isinstance(node, dict | list):
                more, depth = self._measure(node, level + 1)
                visits, deepest = visits + more, max(deepest, depth)
        return visits, deepest + 1

    def _measure(self, node: dict[str, Any] | list[Any], level: int) -> tuple[int, int]:
        kind, content = next(iter(node.items()), ("", None)) if isinstance(node, dict) else ("", node)
        if kind == "value":
            if type(content) is not int or not 0 <= content < len(self._known):
                raise ValueError(f"a value refers to {content!r:.40}, which is no value before it")
            visits, depth = self._known[content]
        elif isinstance(content, list) and level <= _DEEPEST:
            visits, depth = self._inside(content, level)
        else:
            visits, depth = 1, 1
        if level + depth > _DEEPEST:
            raise ValueError(f"its values are nested more than {_DEEPEST} deep")
        return visits, depth

"""The sections of the long tests."""

from __future__ import annotations

from importlib import import_module

from .tally import Result

__all__ = ["SECTIONS", "section"]

#: The sections, with the number of tries of each for one unit of effort, in the order in which they are started.
SECTIONS = {
    "soak": 1,
    "kills": 1,
    "hostile_data": 2,
    "hostile_files": 2,
    "faults": 1,
    "concurrency": 4,
    "numerics": 10,
}


def section(name: str, tries: int, seed: int) -> list[Result]:
    """The results of a section."""
    return list(import_module(f"torture.{name}").run(tries, seed))

"""Switch compiled code off, as in an installation without the extra `fast`."""

from __future__ import annotations

from oneclass.core import compiled

_load = compiled.load


def allow_compiled(yes: bool) -> None:
    """Whether machines of this process may use compiled code, if it is installed."""
    compiled.load = _load if yes else lambda: None

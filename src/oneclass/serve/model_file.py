"""A model file that is loaded again when it changes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from ..cli.describing import described
from ..files import load

__all__ = ["Loaded", "ModelFile"]

#: What identifies the content of a file: the time of the last change, the size, and the number of the file.
Signature = tuple[int, int, int]


@dataclass(frozen=True)
class Loaded:
    """A model, its description, and the time at which it was loaded, in seconds since 1970."""

    model: Any
    description: dict[str, Any]
    at: float


class ModelFile:
    """The latest complete model of a file.

    Parameters
    ----------
    path : str
        The file, as written by `save`.

    Attributes
    ----------
    current : Loaded
        The model. A reader keeps the value that it has read, while `refresh` replaces the attribute.
    error : str or None
        Why the present content of the file could not be loaded; None if it could.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.error: str | None = None
        self._signature = _signature(path)
        self.current = _loaded(path)

    def refresh(self) -> bool:
        """Load the file if it has changed since the last try, and return whether there is a new model."""
        try:
            signature = _signature(self.path)
            if signature == self._signature:
                return False
            # First the signature: if the file changes while it is read, the next call reads it again.
            self._signature = signature
            self.current = _loaded(self.path)
        except (OSError, ValueError) as error:
            self.error = f"the model loaded before is used: {error}"
            return False
        self.error = None
        return True


def _signature(path: str) -> Signature:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size, found.st_ino


def _loaded(path: str) -> Loaded:
    model = load(path)
    if not hasattr(model, "score_table"):
        raise ValueError(f"{path}: only a classifier can be served, and this is a {type(model).__name__}")
    return Loaded(model, described(model), time.time())

"""Atomic writing of files: a temporary file is written, and then renamed."""

from __future__ import annotations

import errno
import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["replacing"]

_BUFFER = 1 << 20


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file that replaces `path` when the block ends. If the block raises an error, `path` is unchanged."""
    place = Path(os.path.realpath(path))  # a symbolic link is kept, and its target is replaced
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if place.exists() and not place.is_file():  # a pipe or a device is written directly: it cannot be replaced
        with io.BufferedWriter(_Named(place, str(path), "w"), _BUFFER) as file:
            yield file
        return
    beside = place.with_name(f".{place.name}.{secrets.token_hex(8)}.part")
    try:
        with io.BufferedWriter(_Named(beside, str(path), "x"), _BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except BaseException:  # also after KeyboardInterrupt
        beside.unlink(missing_ok=True)
        raise


class _Named(io.FileIO):
    """A file whose errors name the path given by the user, and not the temporary file."""

    def __init__(self, path: Path, known_as: str, mode: str) -> None:
        self._known_as = known_as
        with self._naming():
            super().__init__(path, mode)

    def write(self, data: ReadableBuffer) -> int:
        with self._naming():
            return super().write(data)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._known_as) from None

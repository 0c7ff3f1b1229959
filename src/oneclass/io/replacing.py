"""Atomic writing of files: a temporary file is written, and then renamed."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["replacing"]

#: Bytes that are written at a time.
_BUFFER = 1 << 20
#: Permissions of a new file, less those that the umask takes away, and of its owner alone.
_NEW, _PRIVATE = 0o666, 0o600


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file that replaces `path` when the block ends. If the block raises an error, `path` is unchanged.

    The permissions of a replaced file are kept. The umask decides those of a new file.
    """
    place = Path(os.path.realpath(path))  # a symbolic link is kept, and its target is replaced
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if place.exists() and not place.is_file():  # a pipe or a device is written directly: it cannot be replaced
        with io.BufferedWriter(_Named(place, str(path), "w"), _BUFFER) as file:
            yield file
        return
    beside = place.with_name(f".{place.name}.{secrets.token_hex(8)}.part")
    kept = _permissions(place) if place.exists() else None
    # The partial file has the permissions of the final file.
    first = _NEW if kept is None else kept & _PRIVATE
    try:
        with io.BufferedWriter(_Named(beside, str(path), "x", first), _BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if kept is not None and kept != _permissions(beside):  # some file systems have the same for all files
            beside.chmod(kept)
        beside.replace(place)
    except BaseException:  # also after KeyboardInterrupt
        beside.unlink(missing_ok=True)
        raise


def _permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class _Named(io.FileIO):
    """A file whose errors name the path given by the user, and not the temporary file."""

    def __init__(self, path: Path, known_as: str, mode: str, permissions: int = _NEW) -> None:
        self._known_as = known_as
        with self._naming():
            super().__init__(path, mode, opener=partial(os.open, mode=permissions))

    def write(self, data: ReadableBuffer) -> int:
        with self._naming():
            return super().write(data)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._known_as) from None

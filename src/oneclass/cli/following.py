"""The lines of a file that may grow, be truncated or be replaced by another while it is read."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

__all__ = ["Followed"]

#: Seconds between two reads at the end of a file, and bytes of one read.
_PAUSE, _PIECE = 0.2, 1 << 20
#: Bytes at the beginning of a file that identify its content.
_HEAD = 1024


class Followed:
    """Lines of a file until its end, or without end if the file is followed.

    Parameters
    ----------
    file : Path or binary file
        A path, or an open file for standard input.
    follow : bool
        Whether to wait for more lines at the end.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    head : bytes
        First bytes of the content that is being read.
    change : str or None
        Why `lines` ended before the end of the file; None if the file has ended.
    """

    def __init__(self, file: Path | BinaryIO, *, follow: bool) -> None:
        # Unbuffered: a buffer would hold bytes from before the last check of the file.
        self._file = file.open("rb", buffering=0) if isinstance(file, Path) else cast(io.BufferedReader, file)
        self._path = file if isinstance(file, Path) and file.is_file() else None  # a pipe cannot be read again
        self.follow = follow
        self.name = file.name if isinstance(file, Path) else "standard input"
        self._part = b""
        self.head = b""
        self.change: str | None = None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def begins_as(self, head: bytes) -> bool:
        """Whether the file begins with these bytes, or these bytes begin with all of the file."""
        return self._path is None or head.startswith(self._bytes(0, len(head)))

    def lines(self) -> Iterator[str]:
        """Complete lines that are not empty, and an empty line if no more are available at present.

        The iterator ends at the end of a file that is not followed. It also ends if a followed file was truncated or
        replaced: then `change` says so, and the next call begins with the first line of the new content.
        """
        self.change = None
        while True:
            replaced = self._is_replaced()  # checked before the read, so that a replaced file is read to its end
            position = self._file.tell() if self._path else 0
            data = self._file.read(_PIECE) if isinstance(self._file, io.RawIOBase) else self._file.read1(_PIECE)
            truncated = self._is_truncated(position)
            if truncated and data == self._bytes(position, len(data)):
                data = b""  # it belongs to the new content, which will be read from its first line
            elif position == len(self.head) < _HEAD:
                self.head += data[: _HEAD - position]
            *whole, self._part = re.split(rb"\r\n|\r|\n", self._part + data)
            yield from _decoded(whole)
            if truncated:
                self.change = f"was truncated{self._unfinished()}"
                self._file.seek(0)
            elif replaced and not data:
                if self._goes_on_in_new_file(position):
                    continue
                self.change = f"was replaced by another file{self._unfinished()}"
            if self.change:
                self.head = self._part = b""
                return
            if not data and not self.follow:
                yield from _decoded([self._part])
                return
            if not data:
                yield ""
                time.sleep(_PAUSE)

    def _bytes(self, place: int, size: int) -> bytes:
        """Bytes of the present content; the position for reading stays as it is."""
        position = self._file.tell()
        self._file.seek(place)
        found = self._file.read(size)
        self._file.seek(position)
        return found

    def _is_truncated(self, position: int) -> bool:
        """Whether the content before this position has changed; an empty file is not judged until it has content."""
        if not self.follow or self._path is None:
            return False
        size = os.fstat(self._file.fileno()).st_size
        return size > 0 and (size < position or self._bytes(0, len(self.head)) != self.head)

    def _is_replaced(self) -> bool:
        """Whether there is another file at the path, which is not empty."""
        if not self.follow or self._path is None:
            return False
        try:
            found = self._path.stat()
        except FileNotFoundError:  # the old file was moved, and the new one does not exist yet
            return False
        return found.st_size > 0 and not os.path.samestat(found, os.fstat(self._file.fileno()))

    def _goes_on_in_new_file(self, position: int) -> bool:
        """Open the new file, and tell whether it begins with the content that was read from the old one."""
        self._file.close()
        self._file = cast(Path, self._path).open("rb", buffering=0)
        longer = os.fstat(self._file.fileno()).st_size >= position
        if longer and self._bytes(0, len(self.head)) == self.head:
            self._file.seek(position)
            return True
        return False

    def _unfinished(self) -> str:
        return f", and its last line, which was not finished, is left out: {self._part[:80]!r}" if self._part else ""


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        try:
            text = line.decode().strip()
        except UnicodeDecodeError as error:
            raise ValueError("only plain text in UTF-8 can be watched: unpack or convert it first") from error
        if text:
            yield text

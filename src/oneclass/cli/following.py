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

#: Seconds between two looks at a file that may grow, and bytes that are read at a time.
_PAUSE, _PIECE = 0.2, 1 << 20
#: Bytes from the beginning of a file by which its content is recognized.
_HEAD = 1024


class Followed:
    """Lines of a file, until it ends or, if it is to be followed, for ever.

    Parameters
    ----------
    file : Path or binary file
        A path or, for standard input, an open file.
    follow : bool
        Whether to wait for more lines at the end.

    Attributes
    ----------
    name : str
        What messages call the file.
    head : bytes
        The beginning of the content that is read.
    change : str or None
        What ended `lines` if the file did not; None when there are no more lines.
    """

    def __init__(self, file: Path | BinaryIO, *, follow: bool) -> None:
        # Unbuffered: what a look at a file finds must not be older than what is read after it.
        self._file = file.open("rb", buffering=0) if isinstance(file, Path) else cast(io.BufferedReader, file)
        self._path = file if isinstance(file, Path) and file.is_file() else None  # a pipe has no content to go back to
        self.follow = follow
        self.name = file.name if isinstance(file, Path) else "standard input"
        self._part = b""
        self.head = b""
        self.change: str | None = None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def begins_as(self, head: bytes) -> bool:
        """Whether the file begins with these bytes, or has fewer and these begin with them."""
        return self._path is None or head.startswith(self._bytes(0, len(head)))

    def lines(self) -> Iterator[str]:
        """Lines that are not empty, and an empty one where there are no more for now.

        They end where the file ends, unless it is followed, and where its content is no longer that which was read:
        then `change` says why, and `lines` called again begin with the first line of the new content.
        """
        self.change = None
        while True:
            replaced = self._is_replaced()  # before the read: a file that was replaced is read to its end first
            position = self._file.tell() if self._path else 0
            data = self._file.read(_PIECE) if isinstance(self._file, io.RawIOBase) else self._file.read1(_PIECE)
            truncated = self._is_truncated(position)
            if truncated and data == self._bytes(position, len(data)):
                data = b""  # of the new content, and read again after its first line
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
        """Bytes of the present content, wherever reading stands."""
        position = self._file.tell()
        self._file.seek(place)
        found = self._file.read(size)
        self._file.seek(position)
        return found

    def _is_truncated(self, position: int) -> bool:
        """Whether the content before this position is no longer that which was read; not decided of an empty file."""
        if not self.follow or self._path is None:
            return False
        size = os.fstat(self._file.fileno()).st_size
        return size > 0 and (size < position or self._bytes(0, len(self.head)) != self.head)

    def _is_replaced(self) -> bool:
        """Whether the path leads to another file by now, into which something has been written."""
        if not self.follow or self._path is None:
            return False
        try:
            found = self._path.stat()
        except FileNotFoundError:  # moved away, and the new one not made yet
            return False
        return found.st_size > 0 and not os.path.samestat(found, os.fstat(self._file.fileno()))

    def _goes_on_in_new_file(self, position: int) -> bool:
        """Open the new file, and whether it holds what was read and may hold more, as one that was written anew."""
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

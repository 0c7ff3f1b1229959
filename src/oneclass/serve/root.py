"""Files below one folder, to which the names that an agent gives are limited."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Root"]

#: Largest number of bytes of a table that is read into memory.
_MAX_BYTES = 200_000_000


class Root:
    """A folder. A name that leads out of it, also by ``..`` or by a symbolic link, is an error."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).resolve(strict=True)
        if not self._folder.is_dir():
            raise NotADirectoryError(20, "the root must be a folder", folder)

    def table(self, name: str) -> str:
        """The path of a table to read."""
        place = self.file(name)
        if (size := os.path.getsize(place)) > _MAX_BYTES:
            raise ValueError(f"{name}: a table must have at most {_MAX_BYTES:,} bytes here, got {size:,}")
        return place

    def file(self, name: str) -> str:
        """The path of a file to read."""
        place = self._inside(name)
        if not place.is_file():
            raise FileNotFoundError(f"{name}: there is no such file in the folder of this server")
        return str(place)

    def new(self, name: str) -> str:
        """The path of a file to write, which must not exist."""
        place = self._inside(name)
        if os.path.lexists(place):
            raise FileExistsError(f"{name}: the file exists already; choose another name")
        if not place.parent.is_dir():
            raise FileNotFoundError(f"{name}: there is no such folder in the folder of this server")
        return str(place)

    def files(self, most: int) -> list[dict[str, object]]:
        """Names and sizes of the files, at most so many; hidden files and links are left out."""
        found: list[dict[str, object]] = []
        for folder, folders, names in os.walk(self._folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for path in (Path(folder, name) for name in sorted(names) if not name.startswith(".")):
                if len(found) < most and path.is_file() and not path.is_symlink():
                    found.append({"name": str(path.relative_to(self._folder)), "bytes": path.stat().st_size})
        return found

    def _inside(self, name: str) -> Path:
        if not name or "\0" in name:
            raise ValueError(f"a file must have a name, got {name!r}")
        place = Path(os.path.realpath(self._folder / name))
        if self._folder not in place.parents:
            raise PermissionError(f"{name}: only files in the folder of this server can be used")
        return place

"""Verified rows of a card, from a data folder, the cache or the network."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from .card import Card, RawFile
from .errors import DatasetError
from .fetch import cache_folder, download
from .rows import Rows, fingerprint

__all__ = ["ENVIRONMENT", "data_folder", "print_of", "rows_of"]

ENVIRONMENT = "ONECLASS_DATA"


def data_folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    """The given folder, or the one that ONECLASS_DATA names, or None."""
    given = data_home or os.environ.get(ENVIRONMENT)
    return Path(given).expanduser() if given else None


def rows_of(card: Card, folder: Path | None, *, fetch: bool = True, progress: bool = True) -> Rows:
    """Verified rows of ``card``."""
    raw = card.raw
    if raw is None:
        return _verified(card, Path())
    for place in _places(raw, folder):
        if place.is_file():
            return _verified(card, place)
    if not (raw.urls and fetch):
        raise DatasetError(_absent(card, raw, folder))
    cached = cache_folder() / raw.path
    return _verified(card, cached) if cached.is_file() else _fetched(card, raw, cached, progress=progress)


def print_of(rows: Rows) -> str:
    """Fingerprint of rows, labels and groups."""
    return fingerprint(rows.X, rows.y, rows.groups, rows.certain)


def _places(raw: RawFile, folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        for place in (raw.path, f"raw/{raw.path}", *raw.also, raw.name):
            yield folder / place


def _absent(card: Card, raw: RawFile, folder: Path | None) -> str:
    where = "was not found: no data folder is given" if folder is None else f"was not found in {folder}"
    hint = "allow the download, or" if raw.urls else f"it {raw.origin} ({card.source}), so"
    return f"{card.name}: {raw.name} {where}; {hint} {_advice(raw)}"


def _advice(raw: RawFile) -> str:
    return f"save {raw.path} in a folder and name that folder in {ENVIRONMENT} or data_home."


def _fetched(card: Card, raw: RawFile, cached: Path, *, progress: bool) -> Rows:
    """Rows of the first address that has them; the file enters the cache only after its rows are verified."""
    cached.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    for url in raw.urls:
        with TemporaryDirectory(dir=cached.parent) as staging:
            try:
                path = download(raw, url, Path(staging), progress=progress)
                rows = _checked(card, path)
            except DatasetError as error:
                failures.append(f"{url}: {error}")
                continue
            os.replace(path, cached)
            return rows
    causes = "; ".join(failures)
    raise DatasetError(f"{card.name}: not downloaded ({causes}); check the network, or {_advice(raw)}")


def _verified(card: Card, path: Path) -> Rows:
    """Rows of a file on disk; if they are wrong, raise an error that says how to replace the file."""
    try:
        return _checked(card, path)
    except DatasetError as error:
        cure = f"delete {path} and load again, or replace it by the file from {card.source}."
        if card.raw is None:
            cure = "install a release of scikit-learn that ships the original rows."
        raise DatasetError(f"{card.name}: {error}; {cure}") from error


def _checked(card: Card, path: Path) -> Rows:
    """Parse the file and compare the rows by value: separators and line ends may differ."""
    sha = None if card.raw is None else hashlib.sha256(path.read_bytes()).hexdigest()
    expected = card.raw and card.raw.sha256
    try:
        rows = card.read(path)
    except Exception as error:
        # Every parser fails on a damaged file in its own way. On an undamaged file the error is a bug here.
        if sha == expected or isinstance(error, ImportError):
            raise
        raise DatasetError(f"the file cannot be parsed (sha256 {sha}, expected {expected})") from error
    if print_of(rows) != card.fingerprint:
        raise DatasetError(f"the rows are not the registered ones (sha256 {sha}, expected {expected})")
    return rows

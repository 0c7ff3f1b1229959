"""Rows in a JSON-lines file; incomplete lines and tasks, left by an interruption, are ignored."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .protocol import Row

__all__ = ["append", "done", "read", "repair", "write"]

Key = tuple[str, str, str, int]


def read(path: str | os.PathLike[str]) -> list[Row]:
    """Rows of a file (``.jsonl`` or ``.jsonl.gz``), without incomplete lines and tasks; [] if there is no file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> read("no_such_file.jsonl")
    []
    """
    file = Path(path)
    if not file.exists():
        return []
    raw = file.read_bytes()
    text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode("utf-8", errors="replace")
    unique = {(_key(row), row["choice"]): row for row in map(_parsed, text.splitlines()) if row is not None}
    counts = Counter(key for key, _ in unique)
    return [row for (key, _), row in unique.items() if counts[key] == row["of"]]


def write(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Write rows to a new file, which replaces the old one at the end; ``.gz`` compresses.

    Parameters
    ----------
    path : path
        The file.
    rows : iterable of dict
        Its rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/rows.jsonl", [])
    ...     read(f"{folder}/rows.jsonl")
    []
    """
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(map(_line, rows)).encode()
    staged = file.with_name(file.name + ".part")
    # Without a time stamp, the same rows give the same bytes.
    staged.write_bytes(gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)
    os.replace(staged, file)


def append(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Add the rows of one finished task to a file.

    Parameters
    ----------
    path : path
        The file, uncompressed.
    rows : iterable of dict
        Rows of the task.

    Examples
    --------
    >>> import tempfile
    >>> row = {"recipe": "paper", "dataset": "wine", "method": "PCA", "seed": 0, "choice": "best", "of": 1}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     append(f"{folder}/rows.jsonl", [row])
    ...     read(f"{folder}/rows.jsonl") == [row]
    True
    """
    with open(path, "a", encoding="utf-8") as file:
        file.write("".join(map(_line, rows)))


def repair(path: str | os.PathLike[str]) -> list[Row]:
    """Rows of a file; the file is rewritten without incomplete lines and tasks.

    Parameters
    ----------
    path : path
        The file, uncompressed.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "rows.jsonl")
    ...     _ = file.write_text('{"recipe": "pap')
    ...     repair(file), file.read_text()
    ([], '')
    """
    rows = read(path)
    raw = Path(path).read_bytes() if Path(path).exists() else b""
    if raw.count(b"\n") != len(rows) or not raw.endswith(b"\n"):
        write(path, rows)
    return rows


def done(rows: Iterable[Row]) -> set[Key]:
    """Keys of the tasks that have rows.

    Parameters
    ----------
    rows : iterable of dict
        Rows as `read` returns them.

    Returns
    -------
    set of tuple

    Examples
    --------
    >>> done([{"recipe": "paper", "dataset": "wine", "method": "PCA", "seed": 0}])
    {('paper', 'wine', 'PCA', 0)}
    """
    return {_key(row) for row in rows}


def _key(row: Row) -> Key:
    return row["recipe"], row["dataset"], row["method"], row["seed"]


def _parsed(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and {"recipe", "choice", "of"} <= row.keys() else None


def _line(row: Row) -> str:
    return json.dumps(_finite(row), separators=(",", ":")) + "\n"


def _finite(value: Any) -> Any:
    """The value with null for NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value

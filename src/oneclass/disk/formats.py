"""Kinds of table files by the endings of their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["COMPRESSED", "ENDINGS", "arrow", "ending"]

#: Endings of table files, each with what separates the columns of text.
ENDINGS = {".csv": None, ".tsv": "\t", ".parquet": None, ".feather": None, ".arrow": None}
#: Endings of compressed text.
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


def ending(path: str | Path) -> tuple[str, str | None]:
    """The kind of file that a name stands for, and how it is compressed, if it is."""
    name = Path(path).name.lower()
    kind, packed = Path(name).suffix, None
    if kind in COMPRESSED:
        packed = COMPRESSED[kind]
        kind = Path(Path(name).stem).suffix
    if kind not in ENDINGS or (packed and kind not in (".csv", ".tsv")):
        known = ", ".join([*ENDINGS, *(f".csv{end}" for end in COMPRESSED)])
        raise ValueError(f"a table file must end in one of {known}; got {Path(path).name}")
    return kind, packed


def arrow() -> Any:
    """PyArrow, which reads and writes tables."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("table files need PyArrow and pandas: pip install 'oneclass[chunks]'") from error
    return pyarrow

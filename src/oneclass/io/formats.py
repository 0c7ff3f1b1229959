"""Formats of table files, found from the suffix of the file name, and the import of PyArrow."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Shaped

__all__ = [
    "COMPRESSED", "ENDINGS", "JSON_LINES", "TEXT", "WRITTEN", "Batch", "DataFrame", "Schema", "arrow", "ending",
]  # fmt: skip

#: Suffixes of text files, each with the delimiter if it is fixed.
TEXT = {".csv": None, ".tsv": "\t", ".txt": None}
#: Suffixes of files with one JSON object in each line, of files that are written, and of all that are read.
JSON_LINES = (".jsonl", ".ndjson")
WRITTEN = (*TEXT, *JSON_LINES, ".parquet", ".feather", ".arrow", ".xlsx")
ENDINGS = (*WRITTEN, ".xlsm")
#: Suffixes of compressed text, each with the compression.
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


class DataFrame(Shaped, Protocol):
    """A data frame of pandas."""

    columns: Sequence[Hashable]

    def to_numpy(self) -> NDArray[np.generic]:
        """Its cells."""
        ...


class Schema(Protocol):
    """The columns of a record batch."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        ...

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None:
        """Metadata of the program that wrote the file."""
        ...


class Batch(Protocol):
    """A record batch of PyArrow: rows of a table, column by column."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def schema(self) -> Schema:
        """Names and metadata of the columns."""
        ...

    @property
    def columns(self) -> list[Any]:
        """The columns."""
        ...

    def slice(self, offset: int, length: int, /) -> Batch:
        """`length` rows, from the row `offset` on."""
        ...

    def select(self, columns: list[str], /) -> Batch:
        """Some of the columns."""
        ...

    def replace_schema_metadata(self) -> Batch:
        """The batch without metadata."""
        ...

    def to_pandas(self) -> DataFrame:
        """The batch as a pandas data frame."""
        ...

    def validate(self, *, full: bool = False) -> None:
        """Raise unless the columns are consistent."""
        ...


def ending(path: str | Path, *, written: bool = False) -> tuple[str, str | None]:
    """The suffix that gives the format of a file to read or to write, and its compression or None."""
    name = Path(path).name.lower()
    kind, packed = Path(name).suffix, None
    if kind in COMPRESSED:
        packed = COMPRESSED[kind]
        kind = Path(Path(name).stem).suffix
    endings = WRITTEN if written else ENDINGS
    if kind not in endings or (packed and kind not in (*TEXT, *JSON_LINES)):
        known = ", ".join([*endings, *(f".csv{end}" for end in COMPRESSED)])
        sheet = "; save the sheet as CSV or .xlsx" if kind in (".xls", ".ods", ".xlsb") else ""
        raise ValueError(f"a table file must end in one of {known}; got {Path(path).name}{sheet}")
    return kind, packed


def arrow() -> ModuleType:
    """Import PyArrow with the modules that read and write tables."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("table files need PyArrow and pandas: pip install 'oneclass[chunks]'") from error
    library: ModuleType = pyarrow
    return library

"""Formats of table files, found from the suffix of the file name, and the import of PyArrow."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Shaped

__all__ = ["COMPRESSED", "ENDINGS", "Batch", "DataFrame", "Schema", "arrow", "ending"]

#: Suffixes of table files, each with the delimiter of text, if it is fixed.
ENDINGS = {".csv": None, ".tsv": "\t", ".parquet": None, ".feather": None, ".arrow": None}
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


def ending(path: str | Path) -> tuple[str, str | None]:
    """The suffix that gives the format of a file, and its compression or None."""
    name = Path(path).name.lower()
    kind, packed = Path(name).suffix, None
    if kind in COMPRESSED:
        packed = COMPRESSED[kind]
        kind = Path(Path(name).stem).suffix
    if kind not in ENDINGS or (packed and kind not in (".csv", ".tsv")):
        known = ", ".join([*ENDINGS, *(f".csv{end}" for end in COMPRESSED)])
        sheet = "; save the sheet as CSV" if kind in (".xls", ".xlsx", ".ods") else ""
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

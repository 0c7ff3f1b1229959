"""Tables that commands read and write: files, or ``-`` for standard input and output."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypedDict, Unpack

from ..io.container import ModelFileError
from ..io.formats import TEXT, ending
from ..io.sinks import EscapedCSV
from ..io.table_file import TableFile
from .querying import write_query

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..core.typing import Name, Shaped

__all__ = [
    "CellOptions",
    "Reading",
    "about",
    "first_rows",
    "names_of",
    "on_terminal",
    "read_all",
    "read_table",
    "sink_of",
    "source_of",
]


@contextmanager
def about(path: str) -> Iterator[None]:
    """Add the name of the table to errors about its rows."""
    name = "standard input" if path == "-" else Path(path).name
    try:
        yield
    except ValueError as error:
        if isinstance(error, UnicodeError | ModelFileError) or name in str(error):
            raise
        raise ValueError(f"{name}: {error}") from error


class Reading(TypedDict):
    """Options for reading text, in every command that reads a table."""

    delimiter: str | None
    header: bool | None
    encoding: str
    decimal: str
    newlines: bool
    sheet: str | None
    sql: str | None


class CellOptions(TypedDict, total=False):
    """Options for reading cells, in every command that fits a model."""

    date_format: str | None
    merge_variants: bool
    bad_cells: str


@contextmanager
def source_of(path: str, **reading: Unpack[Reading]) -> Iterator[TableFile]:
    """A table file. CSV from standard input and the result of a query are copied to a temporary file.

    A fit reads rows several times, and a query may give other rows each time.
    """
    options: dict[str, Any] = {**reading}
    sql = options.pop("sql")
    if sql is None and path != "-":
        with about(path):
            yield TableFile(path, text="all", **options)
        return
    with tempfile.TemporaryDirectory() as folder, about(path):
        place = Path(folder, f"{Path(path).name}.jsonl" if sql is not None else "standard input.csv")
        if sql is not None:
            write_query(path, sql, place)
        else:
            with place.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        yield TableFile(place, text="all", **options)


def sink_of(path: str, *, escape: bool = False) -> str | IO[bytes] | EscapedCSV:
    """The file or stream to write a table to; an unknown suffix is an error."""
    if path != "-" and ending(path, written=True)[0] not in TEXT and escape:
        raise ValueError(f"--escape is for .csv and .tsv files, got {path}; other formats tell text from formulas")
    sink = sys.stdout.buffer if path == "-" else path
    return EscapedCSV(sink) if escape else sink


def read_all(source: TableFile) -> DataFrame:
    """The whole table as one frame."""
    import numpy as np
    import pandas as pd

    blocks = list(source)
    if not blocks:
        raise ValueError(f"{Path(source.path).name}: the file holds no rows")
    if isinstance(blocks[0], np.ndarray):
        return pd.DataFrame(np.concatenate(blocks))
    return pd.concat(blocks, ignore_index=True)


def read_table(path: str, **reading: Unpack[Reading]) -> DataFrame:
    """The whole table in a file as one frame."""
    with source_of(path, **reading) as source:
        return read_all(source)


def first_rows(source: TableFile, limit: int = 0) -> tuple[Shaped, bool]:
    """The first block, and whether the table has no more rows than the limit."""
    blocks = iter(source)
    first = next(blocks, None)
    if first is None:
        raise ValueError(f"{Path(source.path).name}: the file holds no rows")
    rows = first.shape[0]
    while rows <= limit and (block := next(blocks, None)) is not None:
        rows += block.shape[0]
    return first, rows <= limit


def names_of(block: Shaped) -> list[Name]:
    """Names of the columns of a block, or their positions if they have no names."""
    return list(getattr(block, "columns", range(block.shape[1])))


def on_terminal() -> bool:
    """Whether standard error is a terminal, where progress is shown."""
    return sys.stderr.isatty()

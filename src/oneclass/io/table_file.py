"""TableFile: reading of CSV, Parquet, Feather and Arrow files in blocks."""

from __future__ import annotations

import codecs
import csv
import errno
import glob
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, Literal, NoReturn

from ..core.typing import Shaped
from ..core.wording import parameter
from .batches import (
    Batches,
    CountedLines,
    arrow_batches,
    gathered,
    numbered_labels,
    parquet_batches,
    rows_of_block,
    with_points,
)
from .excel import excel_records
from .formats import ENDINGS, JSON_LINES, TEXT, Batch, Schema, arrow, ending
from .messages import one_line
from .partitions import Partition, partitions_of, with_partition
from .records import Records, json_records, record_blocks
from .sniffing import cells_of, first_line, names_columns, only_delimiter

__all__ = ["TableFile"]

#: Upper bound on the bytes of a line, and lower bound on the bytes that PyArrow parses at once. PyArrow reads 36 such
#: pieces ahead.
_MAX_LINE_BYTES, _MIN_PIECE_BYTES = 4 << 20, 1 << 20
#: The name that pandas gives an unnamed index in a file.
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
#: Upper bound on the characters of a name or a cell in a message.
_MAX_SHOWN = 80


@dataclass(frozen=True)
class TableFile:
    r"""A table file for `fit_chunks` and `score_chunks`, with the options for reading it.

    A path is equivalent to ``TableFile(path)``. The rules for text files, which lose no row, are in the Notes.

    Parameters
    ----------
    path : str or Path
        Path of a file with the suffix ``.csv``, ``.tsv``, ``.txt`` or ``.jsonl`` (an object in each line), which
        ``.gz`` or ``.zst`` may follow, or ``.parquet``, ``.feather``, ``.arrow`` or ``.xlsx``. A folder of such files
        of one kind, or a pattern such as ``logs/*.parquet``, is one table: its files, in the order of their names.
        Folders such as ``year=2024`` in it hold the values of a column ``year``.
    columns : list of names or numbers, optional
        Feature columns; by default all columns except those of `keep`. Column numbers count from 0.
    keep : list of names or numbers, default=()
        Columns to copy unchanged to the output, beside the scores, such as an id or a time.
    text : list of names or numbers, or "all", default=()
        Feature columns that hold text, for a pipeline that encodes them. This is needed for CSV files, which do not
        store types. With "all", every cell is read as text, for a `TableDetector`.
    delimiter : str, optional
        Delimiter of text files. By default it is tab for ``.tsv`` if the first line has one; else the only one of
        comma, semicolon, tab and ``|`` in the first line.
    header : bool, optional
        Whether the first line of a text file holds the column names. By default this is found from the line: see Notes.
    encoding : str, default="utf-8"
        Encoding of text files: any text encoding of Python.
    decimal : str, default="."
        Decimal mark of numbers in text files. With ``text="all"`` and another mark than a point, points may separate
        thousands.
    newlines : bool, default=False
        Whether quoted values and names may hold line breaks.
    sheet : str, optional
        Name of the sheet of an Excel file, if more than one holds cells.

    Notes
    -----
    The first line of a text file holds the column names if it holds only words, or all names given in the parameters.
    It is a row if it holds only numbers. Evenly spaced whole numbers, such as 0, 1, 2 or 400, 410, 420, might be either
    and are an error without `header`.

    These are errors, whose messages name the problem and, if known, the line: a line with more or fewer cells than the
    first one, a cell that is not a number, two columns with the same name, and lines merged by an unclosed quote. Empty
    lines and lines of spaces are skipped. If the table has a single column, each of them is a row with a missing value.

    An index that pandas wrote into a Parquet, Feather or Arrow file is an ordinary column. An unnamed index, which is
    called ``__index_level_0__`` in the file, is skipped unless a parameter names it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("id;mass;height\nx1;1,5;2\nx2;3;4\n")
    ...     for block in TableFile(path, keep=["id"], decimal=","):
    ...         print(block)
       mass  height
    0   1.5     2.0
    1   3.0     4.0
    """

    path: str | Path
    columns: Sequence[str | int] | None = None
    keep: Sequence[str | int] = ()
    text: Sequence[str | int] | Literal["all"] = ()
    delimiter: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    newlines: bool = False
    sheet: str | None = None

    def __iter__(self) -> Iterator[Any]:
        """Blocks of rows with the feature columns: data frames, or arrays if the columns have no names."""
        for rows, _ in self.blocks():
            yield rows

    def blocks(self) -> Iterator[tuple[Shaped, Batch]]:
        """Blocks of rows, each with a record batch of the columns of `keep`."""
        names: list[object] | None = None
        files = self.files()
        for path, partition in zip(files, self._partitions(files), strict=True):
            for rows, kept in replace(self, path=path)._blocks(partition):
                found = [*getattr(rows, "columns", range(rows.shape[1]))]
                if names is not None and found != names:
                    before, here = (", ".join(map(str, some[:20])) for some in (names, found))
                    raise ValueError(
                        f"{path.name}: the columns must be those of the files before it, {before}; got {here}"
                    )
                names = found
                yield rows, kept

    def files(self) -> list[Path]:
        """The files of the table: one, or those of a folder or a pattern in the order of their names."""
        place = Path(self.path)
        if place.is_dir():
            found = _tables(place) or [file for folder in _partitions(place) for file in _tables(folder)]
            wanted = "the folder holds no table file"
        elif not place.exists() and glob.has_magic(str(place)):
            found, wanted = [*map(Path, glob.glob(str(place), recursive=True))], "no file matches the pattern"
        else:
            return [place]
        if not found:
            raise FileNotFoundError(errno.ENOENT, wanted, str(place))
        if len(kinds := sorted({ending(file)[0] for file in found})) > 1:
            raise ValueError(f"{place.name}: files of one table must be of one kind, got {' and '.join(kinds)}")
        return sorted(found)

    def _partitions(self, files: Sequence[Path]) -> list[Partition]:
        """The columns of each file whose values are in the names of folders: below the folder or in the pattern."""
        place = Path(self.path)
        root = Path(*takewhile(lambda part: not glob.has_magic(part), place.parts))
        if root == place and not place.is_dir():
            return [{}]
        return partitions_of(root, files)

    def _blocks(self, partition: Partition) -> Iterator[tuple[Shaped, Batch]]:
        """The blocks of one file."""
        kind, packed = ending(self.path)
        with open(self.path, "rb") as file:  # raises Python's own error if the file does not exist
            if not file.read(1):
                raise ValueError(f"{self._name}: the file is empty")
        if kind in TEXT:
            with self._text_errors():
                yield from self._text(kind, packed, partition)
        elif kind in JSON_LINES:
            with self._text_errors():
                records = json_records(self.path, lambda: self._stream(packed))
                yield from self._records(records, partition)
        elif kind in (".xlsx", ".xlsm"):
            records = excel_records(self.path, self.sheet, self.header, self._asked())
            yield from self._records(records, partition)
        else:
            with self._typed_errors():
                yield from self._typed(parquet_batches if kind == ".parquet" else arrow_batches, partition)

    def _records(self, records: Records, partition: Partition) -> Iterator[tuple[Shaped, Batch]]:
        records = records.beside({name: value.as_py() for name, value in partition.items()})
        columns, keep = self._chosen(records.names)
        text = None if self.text == "all" else self._known(self.text, records.names)
        yield from record_blocks(records, columns, keep, text=text, name=self._name)

    def _typed(
        self, opened: Callable[[str], AbstractContextManager[tuple[Schema, Batches]]], partition: Partition
    ) -> Iterator[tuple[Shaped, Batch]]:
        with opened(str(self.path)) as (schema, batches):
            columns, keep = self._chosen([*schema.names, *partition], unless=_UNNAMED_INDEX)
            labels = numbered_labels(schema)
            stored = [name for name in dict.fromkeys([*columns, *keep]) if name not in partition]
            for batch in batches(stored, rows_of_block(len(columns))):
                batch = with_partition(batch, partition)
                rows = batch.select(columns).replace_schema_metadata().to_pandas()
                if labels:
                    rows.columns = [labels.get(name, name) for name in columns]
                yield rows, batch.select(keep)

    def _text(self, kind: str, packed: str | None, partition: Partition) -> Iterator[tuple[Shaped, Batch]]:
        pa = arrow()
        delimiter = self.delimiter or TEXT[kind]
        with self._stream(packed) as stream:
            first = first_line(
                stream.read(_MAX_LINE_BYTES + 1), self._name, delimiter=delimiter, longest=_MAX_LINE_BYTES
            )
        if delimiter is None or (self.delimiter is None and delimiter not in first):
            delimiter = only_delimiter(first, self._name)
        cells = cells_of(first, delimiter)
        named = self.header
        if named is None:
            named = names_columns(cells, self._asked(), self._name, decimal=self.decimal)
        names = cells if named else [str(place) for place in range(len(cells))]
        columns, keep = self._chosen([*names, *partition])
        words = (
            {*names} if self.text == "all" else {*keep} - {*columns} | {*self._known(self.text, [*names, *partition])}
        )
        with self._stream(packed) as stream, self._refused(names, delimiter, packed):
            lines, blank = CountedLines(stream), _Blank()
            reader = pa.csv.open_csv(
                pa.PythonFile(lines, mode="r"),
                read_options=pa.csv.ReadOptions(
                    block_size=max(_MIN_PIECE_BYTES, 4 * len(first)), column_names=None if named else names
                ),
                parse_options=pa.csv.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(names) > 1,
                    invalid_row_handler=blank,
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types={name: pa.string() if name in words else pa.float64() for name in names},
                    include_columns=[name for name in dict.fromkeys([*columns, *keep]) if name not in partition],
                    decimal_point=self.decimal,
                ),
            )
            rows, open_quote = 0, False
            for batch in gathered(reader, rows_of_block(len(columns))):
                rows += batch.num_rows
                if batch.num_rows:
                    open_quote = any(str(cells[-1]).endswith(("\n", "\r")) for cells in batch.columns)
                seen = with_points(batch, self.decimal) if self.text == "all" else batch
                block = with_partition(seen, partition).select(columns).to_pandas()
                yield block if named else block.to_numpy(), with_partition(batch, partition).select(keep)
        # In a table with a single column, an empty line is a row with a missing value.
        expected = (lines.filled if len(names) > 1 else lines.count) - named - blank.lines
        if not self.newlines and rows < expected:
            raise ValueError(
                f"{self._name}: {expected:,} lines became {rows:,} rows: a quote is not closed, or values "
                f"in quotes hold line breaks, for which there is {parameter('newlines', True)}"
            )
        if not self.newlines and open_quote:
            raise ValueError(f"{self._name}: a quote in the last line is not closed")

    @contextmanager
    def _refused(self, names: list[str], delimiter: str, packed: str | None) -> Iterator[None]:
        """Rewrite PyArrow's errors for cells that are not numbers and for lines with more or fewer cells."""
        try:
            yield
        except arrow().ArrowInvalid as error:
            if "Expected" in str(error) and (uneven := self._uneven(len(names), delimiter, packed)):
                raise ValueError(f"{self._name}: {uneven}") from None
            found = re.search(r"column #(\d+): .*CSV conversion error to double: invalid value (.*)", str(error), re.S)
            if not found:
                raise
            raise ValueError(
                f"{self._name}: every cell must hold a number, but column {_shown(names[int(found[1])])} holds "
                f"{one_line(found[2], _MAX_SHOWN)}; leave it out (columns=), carry it over (keep=) or call it text="
            ) from None

    def _uneven(self, cells: int, delimiter: str, packed: str | None) -> str | None:
        """A description of the first line with more or fewer cells than `cells`; None if there is none."""
        with self._stream(packed) as stream:
            text = csv.reader(io.TextIOWrapper(stream, "utf-8", newline=""), delimiter=delimiter)
            for row in text:
                if len(row) != cells and "".join(row).strip():
                    above = "; remove the lines above the names" if cells == 1 else ""
                    said = delimiter.join(row)[:60]
                    return f"line {text.line_num:,} has {len(row)} cells, but the first has {cells}: {said!r}{above}"
        return None

    @contextmanager
    def _stream(self, packed: str | None) -> Iterator[IO[bytes]]:
        """The file's bytes in UTF-8."""
        pa = arrow()
        with pa.input_stream(str(self.path), compression=packed) as stream:
            yield stream if _is_utf8(self.encoding) else pa.transcoding_input_stream(stream, self.encoding, "utf-8")

    @property
    def _name(self) -> str:
        return Path(self.path).name

    def _asked(self) -> list[str]:
        return [
            label
            for label in (*(self.columns or ()), *self.keep, *(() if self.text == "all" else self.text))
            if isinstance(label, str)
        ]

    def _chosen(self, names: Sequence[str], *, unless: re.Pattern[str] | None = None) -> tuple[list[str], list[str]]:
        """Names of the feature columns and of the columns of `keep`.

        Columns whose names match `unless` are included only if a parameter names them.
        """
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise ValueError(
                f"{self._name}: columns must have names of their own, but more than one is {_shown(twice[0])}"
            )
        keep = self._known(self.keep, names)
        if self.columns is not None:
            chosen = self._known(self.columns, names)
        else:
            kept = set(keep)
            chosen = [name for name in names if name not in kept and not (unless and unless.fullmatch(name))]
        if not chosen:
            raise ValueError(f"{self._name}: no column is left to look at")
        return chosen, keep

    def _known(self, labels: Sequence[str | int], names: Sequence[str]) -> list[str]:
        """Names of the columns that are given by name or number."""
        known: dict[str | int, str] = {name: name for name in names}
        known.update(enumerate(names))
        for label in labels:
            if label not in known:
                listed = ", ".join(map(_shown, names[:20])) + ", ..." * (len(names) > 20)
                raise ValueError(f"{self._name}: there is no column {_shown(label)} among the {len(names)}: {listed}")
        return [known[label] for label in labels]

    @contextmanager
    def _text_errors(self) -> Iterator[None]:
        """Rewrite PyArrow's errors about text files so that they name the file, the problem and a remedy."""
        pa = arrow()
        try:
            yield
        except UnicodeError as error:
            reason = getattr(error, "reason", error)
            raise ValueError(
                f"{self._name}: the file is not in {self.encoding} ({reason}); {self._other_encoding()}"
            ) from None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError, csv.Error) as error:
            raise ValueError(f"{self._name}: {self._in_words(one_line(error))}") from None
        except OSError as error:
            self._refuse(error)  # damaged compressed data, for example

    @contextmanager
    def _typed_errors(self) -> Iterator[None]:
        """Rewrite errors about Parquet, Feather and Arrow files so that they name the file."""
        try:
            yield
        except OSError as error:
            self._refuse(error)
        except Exception as error:  # damaged metadata makes PyArrow and pandas raise errors of any class
            if str(error).startswith(f"{self._name}: "):
                raise
            raise ValueError(f"{self._name}: the table cannot be read: {one_line(error)}") from error

    def _refuse(self, error: OSError) -> NoReturn:
        """Raise an error of the operating system unchanged, and any other error with the name of the file."""
        if error.errno is not None:
            raise error
        raise ValueError(f"{self._name}: {one_line(error)}") from None

    def _in_words(self, error: str) -> str:
        if "invalid UTF8" in error:
            return f"the file is not in {self.encoding}; {self._other_encoding()}"
        if "include_columns" in error:
            return "the names of the columns cannot be read; remove the lines above them"
        if "straddling" in error:
            return "a line is far longer than the first, or a quote is not closed"
        return "the file holds no rows" if "Empty CSV file" in error else error

    def _other_encoding(self) -> str:
        with open(self.path, "rb") as file:
            wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # as Excel writes "Unicode text"
        return f"use for example {parameter('encoding', 'utf-16' if wide else 'latin-1')}"


def _tables(folder: Path) -> list[Path]:
    """The files in a folder that have the suffix of a table."""
    files = (file for file in folder.iterdir() if file.name[0] not in "._" and file.is_file())
    return [file for file in files if any(end in ENDINGS for end in file.suffixes[-2:])]


def _partitions(folder: Path) -> list[Path]:
    """The folders at any depth whose names hold values of columns, such as ``year=2024``."""
    found = [place for place in folder.iterdir() if place.is_dir() and place.name.find("=") > 0]
    return [place for part in found for place in (part, *_partitions(part))]


class _Blank:
    """PyArrow's handler of lines with a wrong number of cells: skip and count lines of spaces, refuse others."""

    lines = 0

    def __call__(self, row: Any) -> str:
        blank = not row.text.strip()
        self.lines += blank
        return "skip" if blank else "error"


def _shown(name: str | int) -> str:
    """A name as it is shown in messages."""
    return one_line(repr(name), _MAX_SHOWN)


def _is_utf8(encoding: str) -> bool:
    try:
        "".encode(encoding)  # raises LookupError for codecs that are not of text, such as zlib
        codecs.getincrementaldecoder(encoding)().decode(arrow().py_buffer(b""))  # as PyArrow does: not for punycode
        return codecs.lookup(encoding).name in ("utf-8", "ascii")
    except (AttributeError, LookupError, ValueError):
        raise ValueError(f"encoding must be a text encoding that Python knows, got {_shown(encoding)}") from None

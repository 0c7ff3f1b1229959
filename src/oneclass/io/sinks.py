"""Tables that are written block by block, whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

from .formats import Batch, Schema, arrow, ending
from .replacing import replacing

__all__ = ["Sink", "writing"]

#: What a table may be written to: a file by name, or one that is open for bytes.
Sink: TypeAlias = str | Path | IO[bytes] | IO[str]


@contextmanager
def writing(sink: Sink) -> Iterator[Callable[[Batch], None]]:
    """What writes record batches, one after the other, to a path or, as CSV, to an open file."""
    kind, packed = ending(sink) if isinstance(sink, str | Path) else (".csv", None)
    with replacing(sink) if isinstance(sink, str | Path) else nullcontext(_binary(sink)) as file:
        stream = arrow().PythonFile(_LeftOpen(file), mode="w")
        stream = stream if packed is None else arrow().CompressedOutputStream(stream, packed)
        writer: Any = None

        def write(batch: Batch) -> None:
            nonlocal writer
            writer = writer or _writer(kind, stream, batch.schema)
            writer.write_batch(batch)

        try:
            yield write
        except BaseException:
            with suppress(Exception):  # what is written is thrown away; a writer left open would complain later
                writer.close()
            raise
        if writer is not None:
            writer.close()
        stream.close()


def _writer(kind: str, stream: IO[bytes], schema: Schema) -> Any:
    pa = arrow()
    if kind == ".parquet":
        return pa.parquet.ParquetWriter(stream, schema)
    if kind in (".feather", ".arrow"):
        return pa.ipc.new_file(stream, schema)
    delimiter = "\t" if kind == ".tsv" else ","
    names = io.StringIO()
    csv.writer(names, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    stream.write(names.getvalue().encode())  # PyArrow would put every name in quotes
    options = pa.csv.WriteOptions(include_header=False, delimiter=delimiter)
    return pa.csv.CSVWriter(stream, schema, write_options=options)


def _binary(sink: object) -> IO[bytes]:
    file: Any = getattr(sink, "buffer", sink) if isinstance(sink, io.TextIOBase) else sink
    if not hasattr(file, "write") or isinstance(file, io.TextIOBase):
        raise TypeError(f"a sink must be a path or a binary file that is open, got {type(file).__name__}")
    binary: IO[bytes] = file
    return binary


class _LeftOpen:
    """A file that PyArrow does not close."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        self.flush()

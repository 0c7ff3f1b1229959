"""Small tables in every kind of file that the library reads, written by pandas and PyArrow."""

import decimal
import gzip

import numpy as np
import pandas as pd
import pyarrow as pa

__all__ = ["FILES", "N"]

N = 40
FRAME = pd.DataFrame(
    {
        "id": [f"k{i}é" for i in range(N)],
        "number": np.random.default_rng(0).normal(size=N),
        "count": np.arange(N),
        "when": pd.date_range("2024-01-01", periods=N, tz="UTC"),
        "kind": pd.Categorical(["x", "yy"] * (N // 2)),
        "truth": [True, False] * (N // 2),
    }
)
FRAME.loc[3, "number"] = np.nan
FRAME.loc[5, "id"] = None


def nested():
    """Columns of types that pandas does not write by itself."""
    return pa.table(
        {
            "id": FRAME["id"],
            "lists": [[1.0] * (i % 4) for i in range(N)],
            "records": [{"x": i, "y": str(i)} for i in range(N)],
            "views": pa.array([f"a text of more than twelve bytes, {i}" for i in range(N)], pa.string_view()),
            "decimals": [decimal.Decimal(i) for i in range(N)],
            "bytes": [b"q" * (i % 7) for i in range(N)],
            "fixed": pa.array([b"abcd"] * N, pa.binary(4)),
        }
    )


def arrow_file(path, table=None, compression=None):
    table = pa.Table.from_pandas(FRAME) if table is None else table
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=15)


def arrow_stream(path):
    table = pa.Table.from_pandas(FRAME)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=15)


FILES = {
    "file.arrow": arrow_file,
    "packed.arrow": lambda path: arrow_file(path, compression="zstd"),
    "nested.arrow": lambda path: arrow_file(path, nested()),
    "stream.arrow": arrow_stream,
    "packed.feather": lambda path: FRAME.to_feather(path),
    "plain.feather": lambda path: FRAME.to_feather(path, compression="uncompressed"),
    "rows.parquet": lambda path: FRAME.to_parquet(path, row_group_size=15),
    "rows.csv": lambda path: FRAME.to_csv(path, index=False),
    "rows.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode())),
    "rows.csv.zst": lambda path: path.write_bytes(pa.Codec("zstd").compress(FRAME.to_csv().encode(), asbytes=True)),
    "rows.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True, date_format="iso"),
}

"""Damaged table files of every kind: each is read or refused in one sentence, and none ends the process."""

import decimal
import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import oneclass

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

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
}
#: Reads damaged copies of files completely, and prints the outcome of each.
READ = """
import io, resource, sys
from pathlib import Path
from damage import damaged
from oneclass import TableFile
from oneclass.io.sinks import writing

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for name in sys.argv[2:]:
    whole, path = Path(name).read_bytes(), Path("damaged", name)
    for seed in range(int(sys.argv[1])):
        path.write_bytes(damaged(whole, f"{name} {seed}"))
        print(name, seed, end=": ", flush=True)
        try:
            for rows, kept in TableFile(path, keep=["id"], text="all").blocks():
                rows.to_numpy(object)
                with writing(io.BytesIO()) as write:
                    write(kept)
            print("read")
        except ValueError as error:
            said = str(error)
            print("refused" if said.startswith(name) and said.isprintable() and len(said) < 450 else repr(error))
        except Exception as error:
            print(repr(error))
"""


def outcomes(folder, times):
    (folder / "damaged").mkdir()
    for name, write in FILES.items():
        write(folder / name)
    path = os.pathsep.join([str(Path(oneclass.__file__).parents[1]), str(Path(__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ, str(times), *FILES],
        **{"cwd": folder, "env": os.environ | {"PYTHONPATH": path}, "capture_output": True, "text": True},
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, ""), lines[-1:]
    return lines


def test_a_damaged_table_is_read_or_refused_in_one_sentence(tmp_path):
    lines = outcomes(tmp_path, 100)
    assert [line for line in lines if not line.endswith((": read", ": refused"))] == []
    assert len(lines) == 100 * len(FILES)
    for name in FILES:
        ends = {line.rpartition(": ")[2] for line in lines if line.startswith(f"{name} ")}
        assert ends == ({"refused"} if name.endswith(".gz") else {"read", "refused"})  # gzip has a checksum


@pytest.mark.slow
def test_no_damage_among_two_thousand_for_each_kind_of_file_ends_the_process(tmp_path):
    assert {line.rpartition(": ")[2] for line in outcomes(tmp_path, 2000)} == {"read", "refused"}

"""Damaged table files of every kind: each is read or refused in one sentence, and none ends the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import oneclass

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
FILES = pytest.importorskip("table_files").FILES

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

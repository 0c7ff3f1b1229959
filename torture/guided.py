"""Fuzzing that is guided by coverage: changed files that reach new lines of the library are changed further.

It needs atheris, which no other part of the project uses, in an environment of its own (`pip install atheris`, then
`pip install -e '.[test,cli,excel]'`). From the root, for five minutes each::

    PYTHONPATH=.:tests python -m torture.guided models /tmp/models -max_total_time=300
    PYTHONPATH=.:tests python -m torture.guided tables /tmp/tables -max_total_time=300

The folder keeps the inputs that reached new lines. An input that fails is written beside as `crash-...`; give its path
after the subject to repeat it. Each failure becomes a test in tests/files or tests/io.
"""

from __future__ import annotations

import sys
import warnings
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import atheris
import numpy as np

with atheris.instrument_imports(include=["oneclass"]):
    import oneclass

    for part in ("files", "io", "tabular", "stream", "baselines", "machines", "selection"):
        import_module(f"oneclass.{part}")

from damage import damaged
from forging import mutated
from oneclass import ModelFileError, TableFile
from saved import FRESH, KINDS, WIDE, ask, notations, table

from .hostile_files import TABLES, _folder, _is_sentence, _model, _repacked, _table

#: Rows to ask a loaded model about, by their number of columns.
ROWS: dict[int | None, Any] = {3: FRESH, 12: WIDE[:15], 2: table()[:9], 6: notations()[:9]}


def _forged(content: bytes) -> bytes:
    """The file with a right size, and a right checksum."""
    start = bytearray(content[:64].ljust(64, b"\0"))
    start[16:24] = max(len(content), 64).to_bytes(8, "little")
    start[32:64] = sha256(bytes(start[:32]) + content[64:]).digest()
    return bytes(start) + content[64:]


def _check(error: Exception, path: Path) -> None:
    if not _is_sentence(error, path):
        raise AssertionError(f"said {error!r}")


def _load(content: bytes) -> None:
    path = _folder() / "model.oneclass"
    path.write_bytes(_forged(content))
    try:
        model = oneclass.load(path)
    except ModelFileError as error:
        return _check(error, path)
    rows = ROWS.get(getattr(model, "n_features_in_", None))
    if rows is not None:
        ask(model, rows)


def _read(content: bytes) -> None:
    """Read a table whose kind is the first byte."""
    name = TABLES[content[0] % len(TABLES)] if content else TABLES[0]
    path = _folder() / f"damaged.{name}"
    path.write_bytes(content[1:])
    try:
        for rows, _ in TableFile(path, keep=["id"], text="all").blocks():
            np.asarray(rows, dtype=object)
    except (ValueError, OSError) as error:
        _check(error, path)


def _change_a_model(content: bytes, most: int, seed: int) -> bytes:
    """Change a node or an array, or else any byte."""
    if seed % 4:
        try:
            return bytes(mutated(_forged(content), np.random.default_rng(seed)))[:most]
        except Exception:  # what is no model file any more has no nodes
            pass
    return bytes(atheris.Mutate(content, most))


def _change_a_table(content: bytes, most: int, seed: int) -> bytes:
    """Change what is inside a packed file, or else any byte."""
    name = TABLES[content[0] % len(TABLES)] if content else TABLES[0]
    if Random(seed).random() < 0.5:
        try:
            return content[:1] + (_repacked if seed % 2 else damaged)(*_of(name, content[1:], seed))[: most - 1]
        except Exception:  # what cannot be unpacked has no content
            pass
    return bytes(atheris.Mutate(content, most))


def _of(name: str, content: bytes, seed: int) -> tuple[Any, ...]:
    return (name, content, str(seed)) if seed % 2 else (content, seed)


def main(arguments: list[str]) -> None:
    """Fuzz models or tables, with the options of libFuzzer."""
    warnings.simplefilter("ignore")
    subject, folder, *options = arguments
    check, change = {"models": (_load, _change_a_model), "tables": (_read, _change_a_table)}[subject]
    if not Path(folder).is_file():
        Path(folder).mkdir(parents=True, exist_ok=True)
        for i, name in enumerate(KINDS if subject == "models" else TABLES):
            whole = _model(name)[0] if subject == "models" else bytes([i]) + _table(name)
            (Path(folder) / f"whole-{i}").write_bytes(whole)
    limits = ["-timeout=30", "-rss_limit_mb=2048", "-max_len=100000"]
    atheris.Setup([sys.argv[0], *limits, *options, folder], check, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])

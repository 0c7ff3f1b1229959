"""Hostile files: each is refused in one sentence, or answers as any other; no crash, hang, code or path outside."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import oneclass
from awkward import huge_rows
from classifiers import BASELINES, MACHINES, quick
from damage import damaged
from forging import mutated
from oneclass import Fourier, ModelFileError, Nystrom, TableFile, to_onnx
from saved import KINDS, ask, made
from table_files import FILES, FRAME

from .child import in_child, unwatched
from .tally import Refused, Result, counted

__all__ = ["prepare", "run"]

#: Most characters of a refusal, but for the name of the file.
SENTENCE = 450


@cache
def _folder() -> Path:
    """A folder of this process."""
    return Path(tempfile.mkdtemp(prefix="torture"))


@cache
def _model(kind: str) -> tuple[bytes, Any]:
    """The model file of a kind, and rows to ask about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, fresh = made(kind)
        path = _folder() / "whole.oneclass"
        model.save(path, force=True)
    return path.read_bytes(), fresh


@cache
def _table(name: str) -> bytes:
    """The content of a table file of a kind."""
    path = _folder() / name
    FILES.get(name, lambda path: FRAME.drop(columns="when").to_excel(path, index=False))(path)
    return path.read_bytes()


def prepare() -> None:
    """Write and read every file once, so that all modules are imported."""
    warnings.simplefilter("ignore")
    for kind in KINDS:
        _model(kind)
        _ask_a_model((kind, -1))
    for name in TABLES:
        with suppress(Refused):
            _read_a_table((name, -1))


def _is_sentence(error: Exception, path: Path) -> bool:
    said = str(error)
    return str(path.name) in said and said.isprintable() and len(said) < len(str(path)) + SENTENCE


def _ask_a_model(case: tuple[str, int]) -> str | None:
    """Load a model file with a change and a right checksum, or with a damage, and ask it."""
    kind, seed = case
    whole, fresh = _model(kind)
    path = _folder() / "model.oneclass"
    rng = np.random.default_rng((KINDS.index(kind), abs(seed)))
    forged = whole if seed < 0 else mutated(whole, rng) if seed % 4 else damaged(whole, f"{case}")
    _put(path, forged)
    try:
        model = oneclass.load(path)
    except ModelFileError as error:
        return None if _is_sentence(error, path) else f"said {error}"
    ask(model, fresh)
    return None


TABLES = [*FILES, "rows.xlsx"]


def _repacked(name: str, whole: bytes, seed: str) -> bytes:
    """A packed file whose content is damaged, and whose checksums are right."""
    if name.endswith(".gz"):
        return gzip.compress(damaged(gzip.decompress(whole), seed), 1)
    if name.endswith(".zst"):
        content = pa.CompressedInputStream(pa.BufferReader(whole), "zstd").read()
        return bytes(pa.Codec("zstd").compress(damaged(content, seed), asbytes=True))
    if not name.endswith(".xlsx"):
        return bytes(damaged(whole, seed))
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = names[sum(seed.encode()) % len(names)]
        for part in names:
            new.writestr(part, damaged(old.read(part), seed) if part == chosen else old.read(part))
    return written.getvalue()


def _put(path: Path, content: bytes) -> None:
    """Write a file while nothing is watched."""
    with unwatched():
        path.write_bytes(content)


def _read_a_table(case: tuple[str, int]) -> str | None:
    """Read a damaged table completely."""
    name, seed = case
    path, whole = _folder() / f"damaged.{name}", _table(name)
    change = damaged if seed % 2 else lambda content, seed: _repacked(name, content, seed)
    _put(path, whole if seed < 0 else change(whole, f"{name} {seed}"))
    try:
        for rows, _ in TableFile(path, keep=["id"], text="all").blocks():
            np.asarray(rows, dtype=object)
    except (ValueError, OSError) as error:
        return None if _is_sentence(error, path) else f"said {error!r}"
    return None


# ONNX: graphs of every classifier that has one, asked about rows at the ends of what there is.

ROWS = np.random.default_rng(0).normal(size=(90, 3)) * [1.0, 10.0, 0.1]


def _graph(case: tuple[str, str, str]) -> str | None:
    import onnxruntime

    name, mode, dtype = case
    modes: dict[str, Any] = {"nystrom": {"approximation": Nystrom(20)}, "fourier": {"approximation": Fourier(20)}}
    extra = modes.get(mode, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quick(name, **extra).fit(ROWS)
        try:
            graph = to_onnx(model, dtype=dtype)
        except (NotImplementedError, TypeError, ValueError) as error:
            if str(error).startswith(("to_onnx", name)):
                raise Refused from None
            raise
        rows = np.concatenate([ROWS[:9], huge_rows(ROWS[:9].astype(dtype)), 1e-310 * ROWS[:3], 0 * ROWS[:1]])
        rows = rows.astype(dtype)
        session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        found = dict(zip(names, session.run(None, {"rows": rows}), strict=True))
        expected, decided = model.predict(rows), np.asarray(model.decision_function(rows), dtype=float)
    if not np.isfinite(found["score"]).all():
        return "a score is not finite"
    clear = np.abs(decided) > (1e-9 if dtype == "float64" else 1e-4) * np.abs(model.offset_)
    return None if (found["label"] == expected)[clear].all() else "another label"


# Names that an agent gives for files of one folder.

PARTS = (
    "..",
    ".",
    "",
    "a",
    "b.csv",
    "inner",
    "link",
    "out",
    "\0",
    "~",
    "a\nb",
    "é",
    "C:",
    "\\..\\",
    "/etc/passwd",
    " ",
)


def _path(seed: int) -> str | None:
    from oneclass.serve.root import Root

    place = _folder() / "root"
    if not place.exists():
        (place / "inner").mkdir(parents=True)
        (place / "inner" / "b.csv").write_text("a\n1\n")
        (place / "link").symlink_to("/etc")
        (place / "out").symlink_to(place.parent)
    rng = np.random.default_rng(seed)
    name = "/".join(rng.choice(PARTS, rng.integers(1, 7)))
    for verb in ("file", "new", "table"):
        try:
            found = getattr(Root(str(place)), verb)(name)
        except (ValueError, OSError):
            continue
        if not Path(os.path.realpath(found)).is_relative_to(place.resolve()):
            return f"{verb}({name!r}) is {found}"
    return None


def run(tries: int, seed: int = 0) -> Iterator[Result]:
    """`tries` files of each kind."""
    at = range(seed, seed + tries)
    yield in_child(
        "model and stream files, changed, with right checksums", [(k, i) for i in at for k in KINDS], _ask_a_model
    )
    yield in_child("table files, damaged inside and out", [(name, i) for i in at for name in TABLES], _read_a_table)
    yield counted("names of files for an agent", range(seed, seed + 20 * tries), _path)
    graphs = [(name, "exact", dtype) for name in (*MACHINES, *BASELINES) for dtype in ("float64", "float32")]
    graphs += [(name, mode, "float64") for name in ("AAKELM", "VAAKELM") for mode in ("nystrom", "fourier")]
    yield counted("ONNX graphs on rows of any size", graphs if tries >= 10 else graphs[:6], _graph)

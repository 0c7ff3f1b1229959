"""Faults: full disks, read-only folders, closed pipes, a lost worker of a cluster."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oneclass import AAKELM, KNNDetector, Nystrom, OneClassWarning
from oneclass.cli.commands import oneclass as command
from oneclass.cli.errors import BROKEN_PIPE, leave

from .processes import FRAME, new_folder, report, scoring
from .tally import Refused, Result, counted

__all__ = ["run"]

#: The user that may write nowhere.
NOBODY = 65534


def _save_with_little_room(place: Path, done: Path, size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    _try_to_save(place, done)


def _save_as_nobody(place: Path, done: Path) -> None:
    os.setuid(NOBODY)
    _try_to_save(place, done)


def _save_here(place: Path, done: Path) -> None:
    _try_to_save(place, done)


def _try_to_save(place: Path, done: Path) -> None:
    model = KNNDetector().fit(np.tile(FRAME.to_numpy(), (3, 20)))
    sinks = {".oneclass": lambda: model.save(place, force=True), ".csv": lambda: _scores_to(place)}
    try:
        sinks[place.suffix]()
        said = "saved"
    except OSError as error:
        said = f"{error.errno} {error.filename}"
    except Exception as error:
        said = repr(error)
    os.write(int(str(done)), said.encode())


def _scores_to(place: Path) -> None:
    model = KNNDetector().fit(FRAME.to_numpy())
    model.score_chunks([np.tile(FRAME.to_numpy(), (30, 1)) for _ in range(3)], place)


def _refuses(place: Path, codes: set[int], target: Callable[..., None], *given: object) -> str | None:
    """Write to a place where it cannot succeed: an error that names the file, the older file, and nothing beside it."""
    before, beside = place.read_bytes() if place.exists() else None, sorted(place.parent.iterdir())
    read, write = os.pipe()
    os.set_inheritable(write, True)
    pid = os.fork()
    if pid == 0:
        try:
            target(place, write, *given)
        finally:
            os._exit(0)
    os.close(write)
    with open(read) as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    if said == "saved":
        raise Refused  # there was room
    if said not in {f"{code} {place}" for code in codes}:
        return f"said {said!r}"
    if (place.read_bytes() if place.exists() else None) != before:
        return "the older file changed"
    return "a file was left" if sorted(place.parent.iterdir()) != beside else None


def _full_disk(case: tuple[str, int]) -> str | None:
    end, seed = case
    rng, place = np.random.default_rng(seed), new_folder() / f"file{end}"
    if rng.random() < 0.7:
        place.write_bytes(b"older")
    return _refuses(place, {errno.EFBIG}, _save_with_little_room, int(rng.integers(1, 200_000)))


def _full_volume(seed: int) -> str | None:
    """A small file system that is full."""
    folder, rng = new_folder(), np.random.default_rng(seed)
    if os.system(f"mount -t tmpfs -o size={4 * int(rng.integers(3, 20))}k tmpfs {folder} 2>/dev/null"):
        raise Refused  # only root can make one
    try:
        place = folder / f"file{rng.choice(['.oneclass', '.csv'])}"
        place.write_bytes(b"older")
        return _refuses(place, {errno.ENOSPC}, _save_here)
    finally:
        os.system(f"umount {folder}")


def _read_only(seed: int) -> str | None:
    folder = new_folder()
    folder.chmod(0o555)
    place = folder / ("file.oneclass" if seed % 2 else "file.csv")
    if os.getuid():
        return _refuses(place, {errno.EACCES}, _save_here)
    return _refuses(place, {errno.EACCES}, _save_as_nobody)


def _write_to_pipe(arguments: list[str], end: int, errors: Path) -> None:
    os.dup2(end, 1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    code = leave(lambda: command.main(arguments, prog_name="oneclass", standalone_mode=False))
    sys.stdout.flush()
    os._exit(code)


def _closed_pipe(seed: int) -> str | None:
    """A reader that takes some bytes of the scores and leaves."""
    model = scoring()[0]
    folder, rng = new_folder(), np.random.default_rng(seed)
    big = folder / "big.csv"
    pd.concat([FRAME] * 40).to_csv(big, index=False)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        _write_to_pipe(["score", str(model), str(big), "-o", "-"], write, folder / "errors")
    os.close(write)
    os.read(read, int(rng.integers(1, 5000)))
    os.close(read)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    said = (folder / "errors").read_text()
    return None if code == BROKEN_PIPE and "Traceback" not in said else f"exit code {code}: {said[-200:]}"


# A cluster.


def _lost_worker(seed: int) -> str | None:
    import dask.array as da
    from distributed import Client, LocalCluster

    rows, folder = np.random.default_rng(seed).normal(size=(1000, 3)), new_folder()

    def read(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        place = block_info[0]["chunk-location"][0]
        if place == seed % 6:
            report(folder / "reads", place)
            if len((folder / "reads").read_text().split()) == 2 + seed % 2:
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    machine = AAKELM(approximation=Nystrom(50), random_state=0)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        data = da.from_array(rows, chunks=(170, -1)).map_blocks(read, dtype=float, meta=np.empty((0, 3)))
        found = machine.fit(data).score_samples(rows)
    expected = AAKELM(approximation=Nystrom(50), random_state=0).fit_chunks(
        [rows[i : i + 170] for i in range(0, 1000, 170)]
    )
    apart = np.abs(found - expected.score_samples(rows)).max() / np.abs(found).max()
    return None if apart < 1e-9 else f"scores differ by {apart:.1g}"


def run(tries: int, seed: int = 0) -> Iterator[Result]:
    """`tries` faults of each kind; fewer where one takes long."""
    at, few = range(seed, seed + tries), range(seed, seed + max(1, tries // 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)
        yield counted("file size limit", [(end, i) for i in at for end in (".oneclass", ".csv")], _full_disk)
        yield counted("full volume", at, _full_volume)
        yield counted("read-only folder", range(seed, seed + min(tries, 4)), _read_only)
        yield counted("closed pipe", few, _closed_pipe)
        if tries >= 10:
            yield counted("a worker of Dask lost during a fit", range(seed, seed + max(1, tries // 20)), _lost_worker)

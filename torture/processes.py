"""Processes that are killed or that fail, their folders, and a table and a model for them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oneclass import KNNDetector, TableDetector, TableFile, TrainingRowsWarning
from oneclass.cli.commands import oneclass as command
from oneclass.cli.errors import leave

__all__ = ["FRAME", "OTHER", "child_of", "killed_within", "new_folder", "report", "reported", "run_command", "scoring"]

#: Children begin as copies of a process that has this module imported, and so within milliseconds.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["torture.kills", "torture.faults"])

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(400, 2)), columns=["a", "b"])
OTHER = pd.DataFrame(RNG.normal(size=(400, 2)), columns=["a", "b"])


def new_folder() -> Path:
    """A new folder for temporary files."""
    return Path(tempfile.mkdtemp(prefix="torture"))


def _quietly(target: Callable[..., None], *given: object) -> None:
    warnings.simplefilter("ignore")
    target(*given)


def child_of(target: Callable[..., None], *given: object) -> Any:
    """A process that runs a function."""
    child = CONTEXT.Process(target=_quietly, args=(target, *given), daemon=True)
    child.start()
    return child


def killed_within(child: Any, seconds: float) -> bool:
    """Kill the child, and say whether it was still running."""
    child.join(seconds)
    child.kill()
    child.join()
    return bool(child.exitcode == -signal.SIGKILL)


def report(path: Path, number: int) -> None:
    """Note that something is done, in one call to the system."""
    with open(path, "ab", buffering=0) as file:
        file.write(f"{number}\n".encode())


def reported(path: Path) -> int:
    """The last number that was noted; 0 if there is none."""
    return int(path.read_text().split()[-1]) if path.exists() else 0


@cache
def scoring() -> tuple[Path, list[Path], list[bytes]]:
    """A model, two tables, and the file of scores of each."""
    folder = new_folder()
    model, tables, scores = TableDetector(KNNDetector()).fit(FRAME), [], []
    for i, frame in enumerate((FRAME, OTHER)):
        frame.to_csv(folder / f"{i}.csv", index=False)
        tables.append(folder / f"{i}.csv")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingRowsWarning)
            model.score_chunks(TableFile(tables[-1]), folder / f"scored{i}.csv")
        scores.append((folder / f"scored{i}.csv").read_bytes())
    model.save(folder / "model.oneclass")
    return folder / "model.oneclass", tables, scores


def run_command(arguments: list[str], output: Path) -> None:
    """Run the command line, with its output added to a file."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    os.dup2(os.open(str(output) + ".errors", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    code = leave(lambda: command.main(arguments, prog_name="oneclass", standalone_mode=False))
    sys.stdout.flush()
    os._exit(code)

"""Run tasks in parallel, store the rows of each, skip tasks that are stored or lack data, and report progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter

from joblib import Parallel, delayed

from . import store
from .datasets import DatasetError
from .protocol import Row, Task, evaluate, split_of

__all__ = ["Failure", "run"]

Failure = tuple[Task, str]


def run(
    tasks: Iterable[Task],
    path: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    say: Callable[[str], None] | None = None,
) -> list[Failure]:
    """Run the tasks whose rows are not in the file yet and whose data can be loaded.

    Parameters
    ----------
    tasks : iterable of Task
        What to run.
    path : path
        JSON-lines file of rows. It is created if absent, and repaired if an interruption left a part of a line.
    n_jobs : int
        Number of processes.
    say : callable, optional
        Receives lines about progress; None prints some of them to standard error.

    Returns
    -------
    list of (Task, str)
        Tasks that failed, and why. The next run tries these again, and those without data.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/rows.jsonl"
    ...     failed = run([Task("honest", "digits_0", "PCA", 0)], file, say=lambda line: None)
    ...     len(store.read(file)), failed
    (1, [])
    """
    say = say or _Progress()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    known = store.done(store.repair(path))
    wanted = list(dict.fromkeys(tasks))
    todo = [task for task in wanted if task.key not in known]
    say(f"{len(wanted) - len(todo)} of {len(wanted)} tasks are stored, {len(todo)} to run")
    absent = _absent(todo)
    for source, why in absent.items():
        say(f"skipped {sum(task.source == source for task in todo)} tasks: {why}")
    todo = [task for task in todo if task.source not in absent]
    failures: list[Failure] = []
    start = perf_counter()
    work = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for count, (task, rows, error) in enumerate(work(delayed(_attempt)(task) for task in todo), start=1):
        if rows:
            store.append(path, rows)
        else:
            failures.append((task, error))
            say(f"failed: {task.key}: {error}")
        elapsed = perf_counter() - start
        say(f"{count}/{len(todo)} {_clock(elapsed)} elapsed, {_clock(elapsed / count * (len(todo) - count))} left")
    return failures


def _absent(tasks: Iterable[Task]) -> dict[tuple[bool, str], str]:
    """Sources that cannot be loaded, and why; each is tried once, before the first task."""
    absent = {}
    for task in {task.source: task for task in tasks}.values():
        try:
            split_of(task.dataset, task.recipe, task.seed)
        except Exception as error:  # other errors are reported by the tasks
            if isinstance(error, DatasetError):
                absent[task.source] = str(error)
    return absent


def _attempt(task: Task) -> tuple[Task, list[Row], str]:
    try:
        return task, evaluate(task.dataset, task.method, task.recipe, task.seed), ""
    except Exception as error:  # a task that fails must not end a long run
        return task, [], f"{type(error).__name__}: {error}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


class _Progress:
    """Print failures, and at most two other lines a second."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, line: str) -> None:
        now = perf_counter()
        if now - self._last > 0.5 or not line[0].isdigit():
            self._last = now
            print(line, file=sys.stderr, flush=True)

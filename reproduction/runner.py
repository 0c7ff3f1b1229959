"""Run tasks in parallel, store each one's rows as it ends, skip what is stored or has no data, say when it ends."""

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
    """Evaluate the tasks whose rows are not in the file yet and whose data can be had.

    Parameters
    ----------
    tasks : iterable of Task
        What to evaluate.
    path : path
        JSON-lines file of rows; made if absent, repaired if an interruption left half a line.
    n_jobs : int
        Processes.
    say : callable, optional
        Told about progress; None prints a line to standard error now and then.

    Returns
    -------
    list of (Task, str)
        Tasks that failed and why; neither these nor those without data are stored, so that the next run tries again.

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
        say(f"{count}/{len(todo)} {_clock(elapsed)} gone, {_clock(elapsed / count * (len(todo) - count))} to go")
    return failures


def _absent(tasks: Iterable[Task]) -> dict[tuple[bool, str], str]:
    """Sources that cannot be had, and why; each is asked for once, before the work begins."""
    absent = {}
    for task in {task.source: task for task in tasks}.values():
        try:
            split_of(task.dataset, task.recipe, task.seed)
        except Exception as error:  # of another kind: its tasks will tell
            if isinstance(error, DatasetError):
                absent[task.source] = str(error)
    return absent


def _attempt(task: Task) -> tuple[Task, list[Row], str]:
    try:
        return task, evaluate(task.dataset, task.method, task.recipe, task.seed), ""
    except Exception as error:  # one task's failure must not end a long run
        return task, [], f"{type(error).__name__}: {error}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


class _Progress:
    """Print every line at most twice a second, failures always."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, line: str) -> None:
        now = perf_counter()
        if now - self._last > 0.5 or not line[0].isdigit():
            self._last = now
            print(line, file=sys.stderr, flush=True)

"""Command line: ``python -m reproduction run`` computes rows, ``report`` writes the pages from them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import plan
from .methods import EVERY
from .protocol import RECIPES, Task
from .runner import run

__all__ = ["main"]

ROWS = "results/rows.jsonl"
QUICK_ROWS = "results/quick.jsonl"
KEPT = "docs/reproduction/rows.jsonl.gz"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line; by default that of the process.

    Returns
    -------
    int
        Exit status: 1 if a task failed.

    Examples
    --------
    >>> main(["run", "--recipe", "paper", "--dataset", "wine", "--method", "PCA", "--splits", "2", "--dry-run"])
    paper wine PCA 0
    paper wine PCA 1
    0
    """
    options = _parser().parse_args(arguments)
    command: int = options.command(options)
    return command


def _run(options: argparse.Namespace) -> int:
    tasks = _tasks(options)
    if options.dry_run:
        print("\n".join(" ".join(map(str, task.key)) for task in tasks))
        return 0
    import pooch

    # The runner itself prints one line for each dataset that cannot be loaded.
    pooch.get_logger().setLevel("WARNING")
    rows = options.rows or (QUICK_ROWS if options.quick else ROWS)
    failures = run(tasks, rows, n_jobs=options.jobs)
    for task, error in failures:
        print(" ".join(map(str, task.key)), error, sep=": ", file=sys.stderr)
    return int(bool(failures))


def _tasks(options: argparse.Namespace) -> list[Task]:
    """Tasks of the quick or the full plan that match the options; with --dataset or --splits, tasks of their own."""
    seeds = None if options.splits is None else range(options.splits)
    if options.dataset or seeds is not None:
        recipes = options.recipe or ["honest", "paper"]
        return [task for r in recipes for task in plan.tasks(r, options.dataset, options.method, seeds)]
    return [
        task
        for task in (plan.quick() if options.quick else plan.full())
        if task.recipe in (options.recipe or RECIPES) and task.method in (options.method or EVERY)
    ]


def _report(options: argparse.Namespace) -> int:
    from .page import write_pages

    print(f"wrote {write_pages(options.rows or (ROWS if Path(ROWS).exists() else KEPT), options.page)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="run | report")
    do = commands.add_parser("run", help="run the tasks that are not stored yet; may be interrupted")
    do.add_argument("--recipe", action="append", choices=list(RECIPES), help="only this recipe (repeatable)")
    do.add_argument("--dataset", action="append", help="only this dataset (repeatable)")
    do.add_argument("--method", action="append", choices=list(EVERY), help="only this method (repeatable)")
    do.add_argument("--splits", type=int, help="number of splits")
    do.add_argument("--quick", action="store_true", help="five datasets and three splits")
    do.add_argument("--jobs", type=int, default=-1, help="number of processes; -1, the default, is one per core")
    do.add_argument("--rows", help=f"file of rows (default: {ROWS}; with --quick, {QUICK_ROWS})")
    do.add_argument("--dry-run", action="store_true", help="list the tasks and do not run them")
    do.set_defaults(command=_run)
    draw = commands.add_parser("report", help="write the pages and figures from stored rows")
    draw.add_argument("--rows", help=f"file of rows (default: {ROWS}, else {KEPT})")
    draw.add_argument("--page", help="the front page; other files go to a folder of its name")
    draw.set_defaults(command=_report)
    return parser


if __name__ == "__main__":
    sys.exit(main())

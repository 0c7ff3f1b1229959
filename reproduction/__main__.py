"""Command line: ``python -m reproduction run`` makes rows, ``report`` draws the page from them."""

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
    """Run or report.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line; None takes the process's own.

    Returns
    -------
    int
        Exit status: 1 when a task failed.

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

    # What cannot be had gets one line of the runner's.
    pooch.get_logger().setLevel("WARNING")
    rows = options.rows or (QUICK_ROWS if options.quick else ROWS)
    failures = run(tasks, rows, n_jobs=options.jobs)
    for task, error in failures:
        print(" ".join(map(str, task.key)), error, sep=": ", file=sys.stderr)
    return int(bool(failures))


def _tasks(options: argparse.Namespace) -> list[Task]:
    """The quick or the full plan, narrowed; naming a dataset or a number of splits makes a plan of its own."""
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
    from .page import write_page

    print(f"wrote {write_page(options.rows or (ROWS if Path(ROWS).exists() else KEPT), options.page)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="run | report")
    do = commands.add_parser("run", help="evaluate whatever is not stored yet; interrupt and resume at will")
    do.add_argument("--recipe", action="append", choices=list(RECIPES), help="only this recipe (repeatable)")
    do.add_argument("--dataset", action="append", help="only this dataset (repeatable)")
    do.add_argument("--method", action="append", choices=list(EVERY), help="only this method (repeatable)")
    do.add_argument("--splits", type=int, help="this many splits")
    do.add_argument("--quick", action="store_true", help="five datasets, three splits")
    do.add_argument("--jobs", type=int, default=-1, help="processes; -1, the default, is one a core")
    do.add_argument("--rows", help=f"file of rows (default: {ROWS}; with --quick, {QUICK_ROWS})")
    do.add_argument("--dry-run", action="store_true", help="list the tasks and stop")
    do.set_defaults(command=_run)
    draw = commands.add_parser("report", help="write the page, its tables and figures from stored rows")
    draw.add_argument("--rows", help=f"file of rows (default: {ROWS}, else {KEPT})")
    draw.add_argument("--page", help="the page; figures and compressed rows go to a folder of its name")
    draw.set_defaults(command=_report)
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""Command line: ``python -m reproduction.datasets list`` shows the datasets, ``fetch`` writes one as CSV files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .loading import load
from .registry import cards

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line; by default that of the process.

    Examples
    --------
    >>> main(["list"])  # doctest: +ELLIPSIS
    biomed                    194     5  download
    ...
    digits_9                 1797    64  bundled
    """
    parser = argparse.ArgumentParser(prog="python -m reproduction.datasets", description="The paper's datasets.")
    commands = parser.add_subparsers(required=True, metavar="list | fetch")
    commands.add_parser("list", help="name, rows, features and origin of each").set_defaults(command=_list)
    fetch = commands.add_parser("fetch", help="write targets and outliers of a dataset as CSV files")
    fetch.add_argument("name", help="name of the dataset")
    fetch.add_argument("-o", "--output", required=True, metavar="CSV", help="file for the targets")
    fetch.add_argument("--outliers", metavar="CSV", help="file for the outliers")
    fetch.set_defaults(command=_fetch)
    options = parser.parse_args(arguments)
    try:
        options.command(options)
    except (OSError, ValueError, ImportError) as error:
        parser.error(str(error))


def _list(_: argparse.Namespace) -> None:
    for card in cards():
        print(f"{card.name:<22}{card.rows:>7}{card.features:>6}  {card.access}")


def _fetch(options: argparse.Namespace) -> None:
    wanted = {1: options.output} | ({-1: options.outliers} if options.outliers else {})
    if len({Path(path).resolve() for path in wanted.values()}) < len(wanted):
        raise ValueError(f"fetch: --output and --outliers must be two files, both are {options.output}")
    found = load(options.name, progress=sys.stderr.isatty())
    for label, path in wanted.items():
        rows = found.X[found.y == label]
        rows.to_csv(path, index=False)
        print(f"{path}: {len(rows)} rows")


if __name__ == "__main__":
    main()

"""The command group ``oneclass``."""

from __future__ import annotations

import click

import oneclass as library

from .demo import demo
from .fit import fit
from .info import info
from .reporting import report
from .scoring import explain, score, screen
from .tuning import compare, tune
from .watch import watch

__all__ = ["oneclass"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(library.__version__, prog_name="oneclass")
def oneclass() -> None:
    """Fit a model on a table of normal rows; find the unusual rows of other tables, with p-values and reasons.

    \b
    Examples:
      oneclass fit normal.csv -o model.oneclass
      oneclass score model.oneclass new.csv -o scored.csv

    \b
    Exit codes: 0 success, 2 wrong usage, 3 a table that cannot be used, 4 a model file that cannot be read,
    5 a file that cannot be opened or written, 130 interrupted, 141 the output was closed by its reader.
    """


for command in (fit, score, explain, report, screen, watch, tune, compare, info, demo):
    oneclass.add_command(command)

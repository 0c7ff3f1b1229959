"""The commands, under one name."""

from __future__ import annotations

import click

import oneclass as library

from .datasets import data
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
    """Learn what is normal from a table of normal rows; say which new rows are not, how sure that is, and why.

    \b
    Examples:
      oneclass fit normal.csv -o model.oneclass
      oneclass score model.oneclass new.csv -o scored.csv

    \b
    Exit codes: 0 done, 2 wrong usage, 3 a table that cannot be used, 4 a model file that cannot be read,
    5 a file that cannot be opened or written, 130 interrupted, 141 the reader of the output has gone.
    """


for command in (fit, score, explain, report, screen, watch, tune, compare, info, data, demo):
    oneclass.add_command(command)

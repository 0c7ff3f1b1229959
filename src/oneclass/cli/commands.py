"""The command group ``oneclass``."""

from __future__ import annotations

import click

import oneclass as library

from .batch import compare_batch
from .demo import demo
from .feedback import feedback
from .fit import fit
from .info import info
from .reporting import report
from .scoring import explain, score, screen
from .serving import mcp, serve
from .tuning import compare, tune
from .watch import watch

__all__ = ["oneclass"]


class _InOrder(click.Group):
    """A group whose help lists the commands in the order of the work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands]


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(library.__version__, prog_name="oneclass")
def oneclass() -> None:
    """Fit a model on a table of normal rows; find the unusual rows of other tables, with p-values and reasons.

    \b
    Examples:
      oneclass fit normal.csv -o model.oneclass
      oneclass score model.oneclass new.csv -o scored.csv

    \b
    Exit codes: 0 success, 2 wrong usage, 3 a table that cannot be used,
    4 a model file that cannot be read, 5 a file that cannot be opened or written,
    130 interrupted, 141 the output was closed by its reader.
    """


for command in (
    demo, screen, fit, info, score, explain, feedback, report, compare_batch, compare, tune, watch, serve, mcp,
):  # fmt: skip
    oneclass.add_command(command)

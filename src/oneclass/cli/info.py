"""Description of a model file: ``oneclass info``."""

from __future__ import annotations

from pathlib import Path

import click

import oneclass as library

from .describing import described
from .options import as_json, plan_table, say, segment_table
from .terminal import number, prose

__all__ = ["info"]


@click.command()
@click.argument("model")
@as_json
def info(model: str, as_json: bool) -> None:
    """Describe MODEL: classifier, threshold, kinds of columns.

    \b
    Examples:
      oneclass info model.oneclass
    """
    known = library.load(model)
    fields = described(known) | {"bytes": Path(model).stat().st_size}
    plan = [plan_table(known), segment_table(known)] if isinstance(known, library.TableDetector) else []
    said = [prose(f"{name}: {number(value)}") for name, value in fields.items() if name not in ("columns", "segments")]
    say(fields, as_json, "\n".join(filter(None, said + plan)))

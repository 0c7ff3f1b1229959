"""Description of a model file: ``oneclass info``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import oneclass as library

from .options import as_json, plan_rows, plan_table, say
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
    detector = known.estimator_ if isinstance(known, library.TableDetector) else known
    fields: dict[str, Any] = {
        "kind": type(known).__name__,
        "detector": " ".join(repr(detector).split()),
        "bytes": Path(model).stat().st_size,
    }
    if isinstance(known, library.TableDetector):
        fields["columns"] = plan_rows(known)
    if isinstance(known, library.Stream):
        fields["rows"] = known.n_seen_
    else:
        fields |= {"delta": known.decision_.delta, "threshold": known.decision_.rule}
        if known.calibration_ is not None:
            fields["held_out"] = float(known.calibration_.total)
        if known.decision_.held_out:
            fields["rate_95"] = [*known.false_alarm_interval()]
    plan = [plan_table(known)] if isinstance(known, library.TableDetector) else []
    said = [prose(f"{name}: {number(value)}") for name, value in fields.items() if name != "columns"]
    say(fields, as_json, "\n".join(said + plan))

"""``oneclass demo``: the main commands on a small table of parcels."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path

import click
import numpy as np

__all__ = ["demo"]

#: The commands, on tables that this module writes.
_STEPS = (
    "fit normal.csv -o model.oneclass --delta 0.02",
    "score model.oneclass new.csv -o scored.csv --keep parcel",
    "explain model.oneclass new.csv --row 2",
)


def _parcels(n: int, seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    grams = rng.gamma(4, 300, n)
    price = 3 + grams / 400 + rng.normal(0, 0.3, n)
    town = rng.choice(["Bonn", "Graz", "Lyon"], n, p=[0.5, 0.3, 0.2])
    at = np.datetime64("2024-03-04") + (rng.integers(0, 28, n) * 1440 + rng.normal(840, 90, n)).astype("timedelta64[m]")
    return [
        [f"p{seed}-{i}", f"{grams[i]:.0f}", f"{price[i]:.2f}", str(town[i]), str(at[i]).replace("T", " ")]
        for i in range(n)
    ]


def _written(path: Path, rows: list[list[str]]) -> None:
    path.write_text("\n".join(",".join(row) for row in [["parcel", "grams", "price", "town", "sent"], *rows]) + "\n")


@click.command()
@click.pass_context
def demo(context: click.Context) -> None:
    """Show fit, score and explain on a small table.

    Runs each command on a table that it generates. All files are in a temporary folder.

    \b
    Examples:
      oneclass demo
    """
    root = context.find_root()
    _show(str(root.info_name), root.command)


def _show(name: str, group: click.Command) -> None:
    """Print and run each command."""
    with tempfile.TemporaryDirectory() as folder:
        back = Path.cwd()
        os.chdir(folder)
        try:
            _written(Path("normal.csv"), _parcels(300, 0))
            new = _parcels(4, 1)
            new[1][2], new[2][3], new[3][4] = "19.90", "Oslo", "2024-03-20 03:10"
            _written(Path("new.csv"), new)
            for step in _STEPS:
                click.echo(f"$ {name} {step}")
                group.main(shlex.split(step), prog_name=name, standalone_mode=False)
                click.echo()
            click.echo("$ cut -d, -f1,3- scored.csv")
            for line in Path("scored.csv").read_text().splitlines():
                first, _, *rest = line.split(",")
                click.echo(",".join([first, *rest]))
        finally:
            os.chdir(back)

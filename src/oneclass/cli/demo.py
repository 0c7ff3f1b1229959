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
#: What the demo leaves in the folder.
_FILES = ("normal.csv", "new.csv", "model.oneclass", "scored.csv")


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
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.pass_context
def demo(context: click.Context, folder: Path | None) -> None:
    """Show fit, score and explain on a small table.

    Runs each command on a table that it generates, in FOLDER, where all files stay, or in a temporary folder.

    \b
    Examples:
      oneclass demo
      oneclass demo parcels
    """
    root = context.find_root()
    name, group = str(root.info_name), root.command
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            _show(name, group, temporary)
    else:
        _refuse_to_replace(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _show(name, group, folder)
        click.echo(f"\nFiles in {folder}: {', '.join(_FILES)}")


def _refuse_to_replace(folder: Path) -> None:
    if held := [name for name in _FILES if (folder / name).exists()]:
        raise click.UsageError(
            f"FOLDER must not hold {held[0]}, which the demo writes, got {folder}: name another folder"
        )


def _show(name: str, group: click.Command, folder: str | Path) -> None:
    """Print and run each command."""
    back = Path.cwd()
    os.chdir(folder)
    try:
        _written(Path("normal.csv"), _parcels(300, 0))
        new = _parcels(200, 1)
        new[1][2], new[2][3], new[3][4] = "19.90", "Oslo", "2024-03-20 03:10"
        _written(Path("new.csv"), new)
        for step in _STEPS:
            click.echo(f"$ {name} {step}")
            group.main(shlex.split(step), prog_name=name, standalone_mode=False)
            click.echo()
        click.echo("$ cut -d, -f1,3- scored.csv | head -5")
        for line in Path("scored.csv").read_text().splitlines()[:5]:
            first, _, *rest = line.split(",")
            click.echo(",".join([first, *rest]))
    finally:
        os.chdir(back)

"""Fit, score, report on and screen a large table of mixed columns by commands: seconds and peak memory.

python benchmarks/command_line.py [--rows 1000000]
Writes a table of docs/speed.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from _table import markdown, write_between_markers

BLOCK = 50_000


def block(rng: np.random.Generator, start: int, n: int) -> pd.DataFrame:
    """Rows of twenty columns: twelve numbers, four categories, two flags, a date and an id."""
    hidden = rng.normal(size=(n, 4))
    numbers = hidden[:, np.arange(12) % 4] + 0.5 * rng.normal(size=(n, 12))
    table = pd.DataFrame(numbers.round(4), columns=[f"x{j}" for j in range(12)])
    table.loc[rng.random(n) < 0.02, "x0"] = np.nan
    for j, size in enumerate((3, 8, 30, 200)):
        table[f"c{j}"] = np.char.add("v", rng.zipf(1.6, n).clip(max=size).astype(str))
    table["f0"], table["f1"] = rng.random(n) < 0.5, rng.random(n) < 0.1
    table["at"] = np.datetime64("2024-01-01") + rng.integers(0, 525_600, n).astype("timedelta64[m]")
    table["id"] = np.arange(start, start + n)
    return table


def measured(*arguments: str) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak gigabytes of one command."""
    begun = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "oneclass", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"oneclass {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        for start in range(0, rows, BLOCK):
            part = block(rng, start, min(BLOCK, rows - start))
            part.to_csv(path, mode="a", header=start == 0, index=False)
        size = path.stat().st_size / 1e6
        model, scored = f"{folder}/model.oneclass", f"{folder}/scored.csv"
        body = []
        commands = {
            "fit": (str(path), "-o", model),
            "score": (model, str(path), "-o", scored),
            "report": (model, str(path), "-o", f"{folder}/report.html"),
            "screen": (str(path), "-o", f"{folder}/cells.csv"),
        }
        for name, arguments in commands.items():
            seconds, busy, memory = measured(name, *arguments)
            body.append([name, f"{seconds:.0f}", f"{busy:.0f}", f"{memory:.2f}"])
            print(*body[-1], flush=True)
    head = [f"command, {rows:,} rows x 20, {size:.0f} MB", "seconds", "processor seconds", "peak GB"]
    write_between_markers(Path(__file__).parents[1] / "docs" / "speed.md", "command-line", markdown(head, body))


if __name__ == "__main__":
    main()

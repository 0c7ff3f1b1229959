"""Run measurements, each in its own process: ``python benchmarks [part ...] [--long]``.

Without parts, those of speed: half an hour on two idle cores. ``--long`` adds those about many cores, and the
studies of quality. "uncertainty", "search_speed" and "scale" read the paper's datasets: set ONECLASS_DATA to their
folder. Each part writes its tables to the docs and stores them in ``benchmarks/stored``; ``python
benchmarks/_table.py`` writes the stored tables to the docs again.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
#: Parts, which are scripts with their arguments.
SPEED = (
    "fit_cost", "fit_parts", "small_fits", "exact_fit", "city_block", "scoring", "rates", "screening_cost",
    "uncertainty", "importing", "search_speed", "baselines", "files", "command_line", "serving", "growth", "scale",
)  # fmt: skip
LONG = ("cores", "clusters")
QUALITY = (
    "false_alarm", "few_rows", "defaults", "criteria", "delivered", "peers", "groups", "false_discovery", "dirty",
    "explanations", "difficult_rows", "drift", "known",
)  # fmt: skip


def main() -> int:
    """Run the parts; the exit code says whether one failed."""
    asked = [part for part in sys.argv[1:] if part != "--long"]
    long, failed = "--long" in sys.argv, []
    for part in asked or (*SPEED, *((LONG + QUALITY) if long else ())):
        begun = time.perf_counter()
        code = subprocess.run(
            [sys.executable, str(HERE / f"{part}.py"), *(["--long"] if part == "rates" and long else [])]
        ).returncode
        print(f"{part}: {time.perf_counter() - begun:.0f} s{f', exit code {code}' if code else ''}", flush=True)
        failed += [part] if code else []
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

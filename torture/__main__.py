"""Run the sections, print one table, and with `--page` write it to docs/reliability.md. `python -m torture --help`."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _table import markdown, write_between_markers

from .sections import SECTIONS, section

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"


def main(arguments: list[str]) -> int:
    """Run what the arguments ask for; 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of {', '.join(SECTIONS)} (default: all)")
    effort = "tries, in units of each section (default: 50, about 20 minutes on two cores)"
    parser.add_argument("--effort", type=int, default=50, help=effort)
    parser.add_argument("--seed", type=int, default=0, help="another seed tries other cases (default: 0)")
    parser.add_argument("--processes", type=int, default=2, help="sections at a time (default: 2)")
    parser.add_argument("--page", action="store_true", help="write the table to docs/reliability.md")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.sections) - set(SECTIONS):
        parser.error(f"there is no section {min(unknown)}; sections are {', '.join(SECTIONS)}")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    rows, failed = [], 0
    with ProcessPoolExecutor(asked.processes, max_tasks_per_child=1) as pool:
        running = {
            name: pool.submit(section, name, asked.effort * SECTIONS[name], asked.seed)
            for name in asked.sections or SECTIONS
        }
        for name, job in running.items():
            for result in job.result():
                rows.append(
                    (name.replace("_", " "), result.what, f"{result.tried:,}", len(result.failed), result.found)
                )
                failed += len(result.failed)
                print(f"{name}: {result}", flush=True)
                for fault in result.failed[:20]:
                    print(f"    {fault}", flush=True)
    table = markdown(("section", "tried", "times", "failed", "measured"), rows)
    print(table)
    if asked.page:
        write_between_markers(PAGE, "torture", table)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Markdown tables and their places in the docs; tables are stored with the date and the machine."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

#: The stored tables of each page, by name: lines of text, the date, and the machine.
STORED = Path(__file__).with_name("stored")
PAGES = Path(__file__).parents[1] / "docs"


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write_between_markers(page: Path, name: str, text: str, *, of_cores: bool = False, beside: str = "") -> None:
    """Store the text, and replace the text between ``<!-- name -->`` and ``<!-- /name -->`` on the page.

    A table `of_cores` shows what more cores do: that of a machine with more cores than this one is kept. `beside` tells
    what else the machine has.
    """
    place = STORED / f"{page.stem}.json"
    stored = json.loads(place.read_text()) if place.exists() else {}
    if of_cores and name in stored and int(stored[name]["machine"].split()[0]) > cores():
        print(f"{page.name} keeps the table {name!r}, of a machine with more cores")
        return
    made = {"date": f"{datetime.date.today():%-d %B %Y}", "machine": machine() + beside}
    stored[name] = {**made, "lines": text.split("\n")}
    STORED.mkdir(exist_ok=True)
    place.write_text(json.dumps(dict(sorted(stored.items())), indent=1, ensure_ascii=False) + "\n")
    publish(page)


def publish(page: Path) -> None:
    """Write all stored tables of a page to it."""
    page.write_text(published(page))


def published(page: Path) -> str:
    """The page with all its stored tables, each with the date and the machine."""
    text = page.read_text()
    for name, table in json.loads((STORED / f"{page.stem}.json").read_text()).items():
        before, begun, rest = text.partition(f"<!-- {name} -->\n")
        _, ended, after = rest.partition(f"<!-- /{name} -->")
        if not ended:
            raise ValueError(f"{page.name} has no place for the stored table {name!r}")
        made = f"*Measured on {table['date']}: {table['machine']}.*"
        text = "\n".join([f"{before}{begun}" + "\n".join(table["lines"]), "", f"{made}", f"{ended}{after}"])
    return text


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> str:
    """The machine in words: its cores, processor and memory, and versions."""
    known = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", known.read_text()) if known.exists() else None
    model = re.sub(r"\((R|TM)\)|CPU|Processor", "", found[1]) if found else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = f"Python {platform.python_version().rpartition('.')[0]}, NumPy {np.__version__}"
    return f"{cores()} cores of {' '.join(model.split())}, {memory:.0f} GB, {platform.system()}, {versions}"


if __name__ == "__main__":
    for stored in sorted(STORED.glob("*.json")):
        publish(PAGES / f"{stored.stem}.md")

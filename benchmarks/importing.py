"""Processor time of importing the library, without that of the packages that it needs.

Writes a table of docs/speed.md.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from _table import markdown, write_between_markers

REPEATS = 5
STATEMENTS = ("import oneclass", "from oneclass import VAAKELM", "from oneclass import *")
LISTED = "import sys\n{statement}\nprint(*[name for name in sys.modules if name.partition('.')[0] != 'oneclass'])"
MEASURED = """
import importlib, time
start = time.process_time()
for name in {names!r}.split():
    try:
        importlib.import_module(name)
    except Exception:  # modules that only their package can import
        pass
needed = time.process_time()
{statement}
print(needed - start, time.process_time() - needed)
"""


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def main() -> None:
    body = []
    for statement in STATEMENTS:
        names = run(LISTED.format(statement=statement))
        code = MEASURED.format(names=names, statement=statement)
        pairs = [tuple(map(float, run(code).split())) for _ in range(REPEATS)]
        needed, own = (statistics.median(column) for column in zip(*pairs, strict=True))
        body.append([f"`{statement}`", f"{needed:.2f}", f"{own:.2f}"])
        print(*body[-1], flush=True)
    table = markdown(["statement", "packages it needs, s", "oneclass itself, s"], body)
    write_between_markers(Path(__file__).parents[1] / "docs" / "speed.md", "importing", table)


if __name__ == "__main__":
    main()

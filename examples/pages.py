"""Run the Python blocks of a page in order; `python -m examples.pages understand` draws its pictures.

A block is typed (``>>>``, and then shows what it prints) or plain. Each runs after the blocks before it, as a reader
pastes them. A block that cannot run has ``<!-- not run: reason -->`` above it.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```python\n(?P<code>.*?)^```", re.S | re.M)


def table_rows(page: str, mark: str) -> Iterator[tuple[str, list[str]]]:
    """Rows of the tables between the marks of this name: the first cell, and the others."""
    text = (DOCS / f"{page}.md").read_text().split(f"<!-- {mark} -->")[1].split(f"<!-- /{mark} -->")[0]
    for line in text.splitlines():
        if line.startswith("|"):
            first, *others = (cell.strip() for cell in line.strip()[1:-1].split("|"))
            yield first, others


def run(page: Path) -> dict[str, object]:
    """Run all blocks of a page in one namespace, in the current folder; return the names that they define."""
    text, names = page.read_text(), dict[str, object](__name__="__main__")
    for block in BLOCK.finditer(text):
        if block["reason"] is None:
            _run_block(block["code"], names, page, text.count("\n", 0, block.start("code")))
    return names


def _run_block(source: str, names: dict[str, object], page: Path, line: int) -> None:
    """Run plain code, or typed code and compare what it prints."""
    if ">>>" not in source:
        exec(compile("\n" * line + source, page, "exec"), names)
        return
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(source, names, page.name, str(page), line)
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF | doctest.ELLIPSIS)
    failed = runner.run(test, out=said.append, clear_globs=False).failed
    names.update(test.globs)
    if failed:
        raise AssertionError("".join(said))


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in sys.argv[1:]:
            run(DOCS / f"{name}.md")
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, DOCS)

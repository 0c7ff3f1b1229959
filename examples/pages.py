"""Run the Python blocks of a page in order; `python -m examples.pages start understand` draws their pictures.

A block is typed (``>>>``, and then shows what it prints) or plain. Names that plain blocks take for granted stand in a
comment before them, ``<!-- given: ... -->``; a block that cannot run has ``<!-- not run: reason -->`` above it.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PIECE = re.compile(
    r"^<!-- given:\n(?P<given>.*?)^-->|(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```python\n(?P<code>.*?)^```",
    re.S | re.M,
)


def run(page: Path) -> None:
    """Run all blocks of a page in one namespace, in the current folder."""
    text, names = page.read_text(), dict[str, object](__name__="__main__")
    for piece in PIECE.finditer(text):
        if piece["reason"] is None:
            group = "given" if piece["code"] is None else "code"
            _run_block(piece[group], names, page, text.count("\n", 0, piece.start(group)))


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

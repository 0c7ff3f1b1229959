"""Write the output of `oneclass demo` to docs/from_a_file.md: python -m examples.transcript."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "from_a_file.md"
#: Characters of a line that fit on a page.
WIDTH = 80


def transcript(said: str) -> str:
    """The output as a block of the page: tables are cut at its width, and sentences are wrapped."""
    lines = [line for row in said.strip().splitlines() for line in _fitted(row)]
    return "<!-- demo -->\n```\n" + "\n".join(lines) + "\n```\n<!-- /demo -->"


def _fitted(line: str) -> list[str]:
    if len(line) <= WIDTH:
        return [line]
    if "  " in line.strip() or line.startswith('"'):  # columns, or a line of CSV
        return [line[: WIDTH - 3] + "..."]
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def main() -> None:
    """Run the demo and replace its transcript."""
    demo = [sys.executable, "-m", "oneclass", "demo"]
    said = subprocess.run(demo, capture_output=True, text=True, check=True).stdout
    page = PAGE.read_text()
    PAGE.write_text(re.sub(r"<!-- demo -->.*<!-- /demo -->", lambda _: transcript(said), page, flags=re.S))


if __name__ == "__main__":
    main()

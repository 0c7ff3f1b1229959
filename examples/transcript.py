"""Write the output of `oneclass demo` to README and docs/from_a_file.md: python -m examples.transcript."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
PAGES = (HERE / "README.md", HERE / "docs" / "from_a_file.md")


def main() -> None:
    """Run the demo and replace its transcripts."""
    demo = [sys.executable, "-m", "oneclass", "demo"]
    said = subprocess.run(demo, capture_output=True, text=True, check=True).stdout
    marked = f"<!-- demo -->\n```\n{said.strip()}\n```\n<!-- /demo -->"
    for page in PAGES:
        page.write_text(re.sub(r"<!-- demo -->.*<!-- /demo -->", lambda _: marked, page.read_text(), flags=re.S))


if __name__ == "__main__":
    main()

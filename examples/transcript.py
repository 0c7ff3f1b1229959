"""Put what `oneclass demo` shows into docs/from_a_file.md, between its marks: python -m examples.transcript."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "from_a_file.md"


def main() -> None:
    """Run the demo and replace the transcript."""
    demo = [sys.executable, "-m", "oneclass", "demo"]
    said = subprocess.run(demo, capture_output=True, text=True, check=True).stdout
    marked = f"<!-- demo -->\n```\n{said.strip()}\n```\n<!-- /demo -->"
    PAGE.write_text(re.sub(r"<!-- demo -->.*<!-- /demo -->", lambda _: marked, PAGE.read_text(), flags=re.S))


if __name__ == "__main__":
    main()

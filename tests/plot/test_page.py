"""The page of plots: its figures are those that are generated."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "plots.md").read_text()


def test_every_figure_is_on_the_page_and_small():
    shown = re.findall(r"\]\(plots/(.+?)\)", PAGE)
    halves = {"scores.png", "rates.png"}  # of the figure of the threshold
    assert {*shown, *halves} == {path.name for path in (DOCS / "plots").iterdir()}
    assert max(path.stat().st_size for path in (DOCS / "plots").iterdir()) < 200_000

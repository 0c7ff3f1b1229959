"""The page of plots: its figures are those that are generated, its code runs."""

import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "plots.md").read_text()


def test_every_figure_is_on_the_page_and_small():
    shown = re.findall(r"\]\(plots/(.+?)\)", PAGE)
    halves = {"scores.png", "rates.png"}  # of the figure of the threshold
    assert {*shown, *halves} == {path.name for path in (DOCS / "plots").iterdir()}
    assert max(path.stat().st_size for path in (DOCS / "plots").iterdir()) < 100_000


@pytest.mark.slow
def test_the_code_of_the_page_runs():
    known = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.S):
        exec(block, known)

"""The site's pages: every Python block runs, as examples/pages.py does it."""

import pytest

from examples.pages import DOCS, PIECE, run

PAGES = [page for page in (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))) if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    if page.stem == "gpu":
        pytest.importorskip("torch")
    pyplot.switch_backend("Agg")
    run(page)
    pyplot.close("all")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_block_of_the_page_is_overlooked(page):
    text = page.read_text()
    assert text.count("```python") == sum(piece["code"] is not None for piece in PIECE.finditer(text))

"""The site's pages: every Python block runs, as examples/pages.py does it."""

import re

import pytest

from examples.pages import BLOCK, DOCS, run

PAGES = [DOCS.parent / "README.md", DOCS / "llms.txt", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if "```python" in page.read_text()]


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
    assert text.count("```python") == len(BLOCK.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_fits_80_columns(page):
    lines = [line for block in BLOCK.finditer(page.read_text()) for line in block["code"].splitlines()]
    assert [line for line in lines if len(line) > 80] == []


def test_no_line_begins_with_a_percent_sign():  # Markdown of Sphinx takes such a line for a comment
    pages = sorted(DOCS.rglob("*.md"))
    assert [page.name for page in pages if re.search(r"^\s*%", page.read_text(), re.M)] == []


def test_the_overview_for_language_models_links_every_page_of_tasks():
    linked = {DOCS / f"{name}.md" for name in re.findall(r"\]\((\w+)\.html\)", (DOCS / "llms.txt").read_text())}
    assert all(page.is_file() for page in linked)
    tasks = re.findall(r"^(\w+)$", (DOCS / "do.md").read_text(), re.M)
    assert {DOCS / f"{name}.md" for name in tasks} <= linked

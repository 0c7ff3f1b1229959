"""Tables of measurements on the pages are those that are stored."""

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return pytest.importorskip("_table")


@pytest.mark.parametrize("stored", sorted((BENCHMARKS / "stored").glob("*.json")), ids=lambda path: path.stem)
def test_writing_stored_tables_again_changes_no_page(table, stored):
    page = table.PAGES / f"{stored.stem}.md"
    assert table.published(page) == page.read_text()


def test_a_table_of_many_cores_is_kept_on_a_machine_of_fewer(table, monkeypatch, tmp_path):
    monkeypatch.setattr(table, "STORED", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("<!-- speed -->\n<!-- /speed -->\n")
    for cores, text in ((16, "sixteen"), (2, "two"), (32, "thirty-two")):
        monkeypatch.setattr(table, "cores", lambda cores=cores: cores)
        table.write_between_markers(page, "speed", text, of_cores=True)
        assert ("sixteen" in page.read_text()) is (cores < 32)
    table.write_between_markers(page, "speed", "plain")
    assert "plain" in page.read_text()

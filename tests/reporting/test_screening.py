"""The report of a screening: what it says, and its page in a browser."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass import report, screen

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EVIL = "</script><script>document.title=1</script><img src=x onerror=document.title=2>"


def dirty(n=400):
    rng = np.random.default_rng(0)
    height = rng.normal(175, 8, n).round()
    table = pd.DataFrame(
        {
            "height": height,
            "weight": (height - 100 + rng.normal(0, 4, n)).round(),
            "country": rng.choice(["AT", "DE"], n),
            "note": rng.choice(["x", EVIL], n),
        }
    )
    table.loc[[16, 40, 77], "weight"] *= 10
    table.loc[[100, 200], "height"] = -9999.0
    return table


@pytest.fixture(scope="module")
def found():
    return screen(dirty())


@pytest.fixture(scope="module")
def made(found):
    return report(found, dirty(), title=f"Table {EVIL}")


def test_the_listed_cells_are_those_of_the_screening(found, made):
    rows = made.summary["rows"]
    assert [row["row"] - 1 for row in rows] == list(dict.fromkeys(cell.row for cell in found.cells))
    listed = [(row["row"] - 1, cell["column"], cell["value"]) for row in rows for cell in row["cells"]]
    assert listed == [(cell.row, cell.column, cell.value) for cell in found.cells]
    assert [row["named"] for row in rows] == [bool(found.odd[row["row"] - 1]) for row in rows]
    assert rows[0]["values"] == dirty().loc[rows[0]["row"] - 1].to_dict()
    assert made.summary["mistakes"]["30"] == found.mistakes[29]


def test_like_mistakes_are_one_group(made):
    groups = {group["reason"]: group["rows"] for group in made.summary["groups"]}
    assert groups["weight too high"] == 3
    assert groups["height too low"] == 2
    assert "weight too high (3 rows)" in made.summary["verdict"]["sentence"]


def test_a_table_in_which_nothing_stands_out_says_so():
    X = np.random.default_rng(1).normal(size=(200, 3))
    made = report(screen(X), X, rows=5)
    assert made.summary["verdict"]["sentence"] == "Nothing stands out among 200 rows."
    assert len(made.summary["rows"]) == 5
    assert repr(made) == "Report: Nothing stands out among 200 rows."
    assert made.to_html().startswith("<!doctype html>")


def test_markdown_and_json_hold_the_cells(found, made):
    text, first = made.to_markdown(), found.cells[0]
    assert f"| {first.row + 1} | {first.column} |" in text
    assert json.loads(made.to_json())["rows"][0]["cells"][0]["column"] == first.column


def test_another_table_and_options_of_models_are_refused(found):
    with pytest.raises(ValueError, match="the table that was screened, of 400 rows, got 399"):
        report(found, dirty()[:399])
    with pytest.raises(ValueError, match="X_train and segments must be None"):
        report(found, dirty(), X_train=dirty())


def test_frames_and_text_have_the_same_report(found, made):
    polars = pytest.importorskip("polars")
    assert report(found, polars.from_pandas(dirty())).summary == made.summary
    text = dirty().astype(str)
    assert [row["cells"][0]["value"] for row in report(screen(text), text).summary["rows"]] == [
        row["cells"][0]["value"] for row in made.summary["rows"]
    ]


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_marks_the_cells_in_their_rows(made, found, tmp_path, width, scheme):
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is opened with playwright")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="accessibility is checked by axe")
    if CHROMIUM is None:
        pytest.skip("the page is opened in Chromium, which is not installed")
    made.save(tmp_path / "page.html")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page, wrong = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme), []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((tmp_path / "page.html").as_uri())
        assert page.title() == f"Table {EVIL}"
        assert page.locator("td.wrong").count() == len(found.cells)
        first = page.locator("#flagged tbody tr").first
        assert first.locator("td.wrong").first.get_attribute("data-head") == found.cells[0].column
        assert "expected" in first.locator("td.wrong").first.inner_text()
        page.get_by_role("button", name="weight too high", exact=True).click()
        seen = page.locator("#flagged tbody th").all_inner_texts()
        assert sorted(map(int, seen)) == [17, 41, 78]
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download as CSV").click()
        waiting.value.save_as(tmp_path / "rows.csv")
        assert waiting.value.suggested_filename == "suspicious_rows.csv"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        faults = axe.Axe().run(page).response["violations"]
        assert [fault["help"] for fault in faults if fault["impact"] in ("serious", "critical")] == []
        pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4")))
        browser.close()
    assert wrong == []
    assert pages <= 2
    table = pd.read_csv(tmp_path / "rows.csv")
    assert sorted(table["row"]) == [17, 41, 78]
    assert set(table["column 1"]) == {"weight"}


def test_a_screening_by_a_classifier_has_a_report_too():
    X = np.random.default_rng(2).normal(size=(200, 4))
    X[:5] += 12
    made = report(oneclass.VAAKELM().screen(X), X)
    assert {row["row"] for row in made.summary["rows"][:5]} == {1, 2, 3, 4, 5}

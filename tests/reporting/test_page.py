"""The page of a report, in a real browser."""

import re

import numpy as np
import pandas as pd
import pytest

from oneclass import KNNDetector, TableDetector, report

pytestmark = pytest.mark.browser

#: Text that would change the title if the page executed it.
EVIL = "</script><script>document.title=1</script><img src=x onerror=document.title=2>"


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "mass": rng.gamma(4, 10, n),
            "ward": rng.choice(["A", "B"], n),
            f"col {EVIL}": rng.normal(size=n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
        }
    )


@pytest.fixture(scope="module")
def model_and_rows():
    """A model, and rows with values that are difficult to show on a page."""
    new = table(120, 1)
    new.loc[:4, "mass"] = [900.0, 1e300, -5.0, np.nan, 700.0]
    new.loc[5, "ward"] = EVIL
    new.loc[6, f"col {EVIL}"] = 50.0
    new.index = pd.Index([f"p{i}{EVIL if i == 6 else ''}" for i in range(120)], name=EVIL)
    return TableDetector().fit(table(200, 0)), new


@pytest.fixture(scope="module")
def file(model_and_rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    with pytest.warns(UserWarning, match="no training row has"):
        report(*model_and_rows, title=f"Report {EVIL}").save(path)
    return path.as_uri()


@pytest.fixture
def page(browser, file):
    """The opened page; messages, errors and requests of the page fail the test."""
    page, wrong = browser.new_page(), []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: request.url == file or wrong.append(request.url))
    page.goto(file)
    yield page
    page.close()
    assert wrong == []


def shown(page):
    """Numbers of the visible rows, after all of them are asked for."""
    while page.locator("#more").is_visible():
        page.locator("#more").click()
    seen = page.locator("#flagged tbody tr:visible th").all_inner_texts()
    return [int(text.replace(",", "")) for text in seen]


def move(page, value):
    page.locator("#budget").evaluate(
        "(slider, v) => { slider.value = v; slider.dispatchEvent(new Event('input')) }", value
    )


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_the_slider_shows_the_rows_that_predict_flags(page, model_and_rows):
    model, new = model_and_rows
    steps = report(model, new).summary["steps"]
    for i in (0, len(steps) // 2, len(steps) - 1):
        move(page, str(i))
        expected = np.flatnonzero(model.predict(new, delta=steps[i]["delta"]) == -1) + 1
        assert sorted(shown(page)) == expected.tolist()
        assert page.locator("[data-step=count]").inner_text() == str(len(expected))
    page.get_by_role("button", name="Back to the model's own setting").click()
    assert sorted(shown(page)) == (np.flatnonzero(model.predict(new) == -1) + 1).tolist()


def test_keys_move_the_slider_and_the_counts_follow(page):
    before = page.locator("#delta").inner_text()
    page.locator("#budget").focus()
    page.keyboard.press("End")
    assert page.locator("#delta").inner_text() == "50\N{NO-BREAK SPACE}%" != before
    assert page.locator("#budget").get_attribute("aria-valuetext").startswith("50\N{NO-BREAK SPACE}%, ")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "own"


def test_headings_sort_the_table_one_way_and_the_other(page):
    rank = shown(page)
    heading = page.locator("#flagged thead th").first
    heading.get_by_role("button").click()
    assert shown(page) == sorted(rank) != rank
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").press("Enter")
    assert shown(page) == sorted(rank, reverse=True)
    page.get_by_role("button", name="Normal rows at least this unusual").click()
    assert shown(page) == rank


def test_the_filter_leaves_the_rows_with_all_its_words(page):
    rows = page.locator("#flagged tbody tr:visible").all_inner_texts()
    page.get_by_label("Filter").fill("ward 700")
    expected = [text for text in rows if "ward" in text.lower() and "700" in text]
    assert len(shown(page)) == len(expected) < len(rows)
    assert page.locator("#shown").inner_text().startswith(f"{len(expected)} of {len(rows)} ")
    page.get_by_label("Filter").fill("nothing at all")
    assert shown(page) == []


def test_script_in_names_and_values_is_shown_as_text(page):
    assert page.title() == f"Report {EVIL}"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    text = page.locator("body").inner_text()
    for place in ("h1", "#flagged thead", "#flagged tbody", "#columns tbody"):
        assert EVIL in page.locator(place).first.inner_text()
    assert f"ward: {EVIL}" in text or f"ward\t{EVIL}" in text


@pytest.mark.parametrize("width", [1280, 390, 360])
def test_nothing_is_wider_than_the_window(browser, file, width):
    page = browser.new_page(viewport={"width": width, "height": 740})
    page.goto(file)
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert wide <= width


def groups_of(page):
    """The visible groups and their numbers of rows."""
    lines = page.locator("#groups-table tbody tr:visible")
    names = lines.locator("button").all_inner_texts()
    return dict(zip(names, map(int, lines.locator("[data-count]").all_inner_texts()), strict=True))


def test_groups_list_their_rows_and_follow_the_slider(page):
    before = groups_of(page)
    assert sum(before.values()) == len(shown(page))
    name = max(before, key=before.get)
    page.get_by_role("button", name=name, exact=True).click()
    assert len(shown(page)) == before[name]
    assert name in page.locator("#shown").inner_text()
    page.get_by_role("button", name="Show all groups").click()
    move(page, page.locator("#budget").get_attribute("max"))
    after = groups_of(page)
    assert sum(after.values()) == len(shown(page)) > sum(before.values())


def test_cards_time_and_threshold_follow_the_slider(page):
    def state():
        return [
            page.locator('[data-card="0"] .marks line').count(),
            page.locator("svg.times rect").evaluate_all("bars => bars.map(bar => bar.getAttribute('height'))"),
            page.locator(".scores .threshold").get_attribute("x1"),
            page.locator('[data-card="0"] [data-mean]').inner_text(),
        ]

    before = state()
    move(page, page.locator("#budget").get_attribute("max"))
    assert all(old != new for old, new in zip(before, state(), strict=True))
    page.get_by_role("button", name="Back to the model's own setting").click()
    assert state()[:1] + state()[2:] == before[:1] + before[2:]
    np.testing.assert_allclose(np.array(state()[1], dtype=float), np.array(before[1], dtype=float), atol=0.01)


def test_the_download_holds_the_rows_that_are_shown(page, tmp_path):
    page.get_by_label("Filter").fill("ward")
    numbers = shown(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").click()
    waiting.value.save_as(tmp_path / "rows.csv")
    table = pd.read_csv(tmp_path / "rows.csv")
    assert waiting.value.suggested_filename == "flagged_rows.csv"
    assert table["row"].tolist() == numbers
    assert table.columns[:3].tolist() == ["row", EVIL, "p_value"]
    assert table.columns[3:7].tolist() == ["column 1", "value 1", "expected 1", "share 1"]
    assert EVIL in set(table.filter(like="value").to_numpy().ravel())


def test_rows_are_made_on_demand(browser, tmp_path):
    rng = np.random.default_rng(0)
    found = report(KNNDetector().fit(rng.normal(size=(200, 3))), rng.normal(size=(2000, 3)) * 3)
    found.save(tmp_path / "many.html")
    text = (tmp_path / "many.html").read_text()
    assert text.count("<tr>") < 60
    page = browser.new_page()
    page.goto((tmp_path / "many.html").as_uri())
    assert page.locator("#flagged tbody tr").count() == 100
    assert len(shown(page)) == 1000
    assert "this file holds the 1,000 most unusual" in page.locator("#shown").inner_text()
    page.close()


def test_the_first_rows_can_be_read_without_javascript(browser, file):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(file)
    assert 0 < page.locator("#flagged tbody tr").count() <= 20
    page.close()


def test_the_printed_form_has_two_pages(browser, file):
    page = browser.new_page()
    page.goto(file)
    printed = page.pdf(format="A4")
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(browser, file, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="accessibility is checked by axe")
    page = browser.new_page(color_scheme=scheme)
    page.goto(file)
    # The page forbids other scripts; axe is injected by the driver.
    found = axe.Axe().run(page).response["violations"]
    page.close()
    assert [fault["help"] for fault in found if fault["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_no_number_is_broken_beside_long_names(browser, tmp_path, width):
    rng = np.random.default_rng(0)
    names = [f"average_concentration_of_substance_{i}_in_the_second_series" for i in range(8)]
    normal = pd.DataFrame(rng.normal(size=(100, 8)) * np.geomspace(1e-5, 1e9, 8), columns=names)
    new = normal[:16] * np.where(np.eye(8)[np.arange(16) % 8], -60, 1)
    report(TableDetector().fit(normal), new).save(tmp_path / "wide.html")
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((tmp_path / "wide.html").as_uri())
    lines = page.locator("#flagged td:is([data-head=Value], [data-head=Expected])").evaluate_all(
        "cells => cells.map(cell => { const all = document.createRange(); all.selectNodeContents(cell);"
        " return [cell.innerText, all.getClientRects().length] })"
    )
    page.close()
    assert len({text for text, _ in lines}) > 16
    # A range of two numbers may need two lines.
    assert [text for text, count in lines if count > 1 + (" to " in text)] == []

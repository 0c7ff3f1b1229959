"""The pages of the site in a real browser: nothing is cut, nothing overflows, and no accessibility fault is serious."""

import subprocess
import sys

import pytest

from examples.pages import DOCS

pytestmark = pytest.mark.browser

#: Windows: a screen and a phone, and the colours of each. Widths decide what fits, colours decide contrast.
WINDOWS = (({"width": 1280, "height": 900}, "light"), ({"width": 390, "height": 844}, "dark"))

#: What does not fit: the page, blocks of code, pictures, and code that wraps where 80 columns should fit.
FITS = """() => {
  const width = document.documentElement.clientWidth, blocks = [...document.querySelectorAll("article pre")]
    .filter(block => block.offsetParent)
  const first = block => block.textContent.trim().slice(0, 60)
  const wraps = block => {
    block.style.whiteSpace = "pre"
    const wrapped = block.scrollWidth > block.clientWidth + 1
    block.style.whiteSpace = ""
    return wrapped
  }
  return {
    overflow: Math.max(0, document.documentElement.scrollWidth - width),
    cut: blocks.filter(block => block.scrollWidth > block.clientWidth + 1).map(first),
    wrapped: width < 1000 ? [] : blocks.filter(wraps).map(first),
    pictures: [...document.querySelectorAll("article img")]
      .filter(img => img.offsetParent && (!img.naturalWidth || img.getBoundingClientRect().right > width))
      .map(img => img.src),
  }
}"""
#: Faults of the writers of docutils and Sphinx: a list of citations holds links.
FOREIGN = {"aria-required-children"}
FINE = {"overflow": 0, "cut": [], "wrapped": [], "pictures": []}


@pytest.fixture(scope="module")
def site(browser, tmp_path_factory):
    """The folder of the built site; the gallery's examples do not run."""
    pytest.importorskip("sphinx_copybutton", reason="the site is built with the extra docs")
    folder = tmp_path_factory.mktemp("site")
    options = ["-q", "-D", "plot_gallery=0", "-d", str(tmp_path_factory.mktemp("doctrees")), "-b", "html"]
    subprocess.run([sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder)], check=True)
    return folder


def written(site):
    """Pages with a source in docs."""
    return [site / page.relative_to(DOCS).with_suffix(".html") for page in sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize(("window", "colours"), WINDOWS, ids=["screen, light", "phone, dark"])
def test_every_page_fits_and_is_accessible(site, browser, window, colours):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page, wrong = browser.new_page(viewport=window, color_scheme=colours), {}
    for path in written(site):
        page.goto(path.as_uri())
        found = page.evaluate(FITS)
        faults = axe.run(page).response["violations"]
        serious = {fault["id"] for fault in faults if fault["impact"] in ("serious", "critical")} - FOREIGN
        if found != FINE or serious:
            wrong[path.relative_to(site).as_posix()] = found | {"faults": serious}
    page.close()
    assert wrong == {}, wrong


def test_every_page_of_the_reference_and_the_gallery_fits(site, browser):
    page, wrong = browser.new_page(), {}
    for path in sorted([*site.glob("generated/*.html"), *site.glob("gallery/*.html")]):
        page.goto(path.as_uri())
        for window, _ in WINDOWS:
            page.set_viewport_size(window)
            found = page.evaluate(FITS) | {"wrapped": []}  # methods are indented
            if found != FINE:
                wrong[path.name, window["width"]] = found
    page.close()
    assert wrong == {}, wrong


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("feature importance", "faq"),
        ("time series", "time_series"),
        ("threshold", "choose"),
        ("contamination", "faq"),
        ("fraud", "faq"),
    ],
)
def test_the_search_finds_what_people_ask_for(site, browser, words, page):
    shown = browser.new_page()
    shown.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    shown.wait_for_selector("#search-results .search a", timeout=10_000)
    shown.wait_for_function("!document.querySelector('#search-progress')?.textContent.endsWith('...')")
    links = shown.locator("#search-results .search a").evaluate_all("links => links.map(link => link.href)")
    shown.close()
    assert any(f"/{page}.html" in link for link in links[:10]), links[:10]


def test_the_button_copies_code_without_prompts_and_output(site, browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto((site / "explain.html").as_uri())
    page.locator("button.copybtn").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    context.close()
    assert copied.startswith("import numpy as np\nimport pandas as pd\n")
    assert ">>>" not in copied
    assert "expected 39.76" not in copied

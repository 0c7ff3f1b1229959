"""The README of the package page: links have addresses, and each leads to a file."""

import re
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("hatchling")

from release import __main__ as steps
from release.front import absolute

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://example.org/owner/oneclass"


def test_links_are_files_of_the_version_and_pictures_are_raw():
    text = '[a](docs/a.md#part) ![b](b.png) <img src="c.png"> <source srcset="d.png"> <a href="e.md"> '
    text += "[f](https://x.org) [g](#g)"
    assert absolute(text, REPOSITORY + "/", "1.2").split() == [
        f"[a]({REPOSITORY}/blob/v1.2/docs/a.md#part)",
        f"![b]({REPOSITORY}/raw/v1.2/b.png)",
        "<img",
        f'src="{REPOSITORY}/raw/v1.2/c.png">',
        "<source",
        f'srcset="{REPOSITORY}/raw/v1.2/d.png">',
        "<a",
        f'href="{REPOSITORY}/blob/v1.2/e.md">',
        "[f](https://x.org)",
        "[g](#g)",
    ]


def test_every_link_of_the_readme_has_an_address_and_leads_to_a_file():
    readme = (ROOT / "README.md").read_text()
    text = absolute(readme, REPOSITORY, "1.2")
    assert not re.search(r"\]\((?!https?:|#)|(?:src|srcset|href)=\"(?!https?:|#)", text)
    targets = re.findall(rf"{REPOSITORY}/(?:blob|raw)/v1\.2/([^)\"#]+)", text)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_table_of_the_paper_is_that_of_the_readme():
    paper, readme = ((ROOT / name).read_text() for name in ("paper/paper.md", "README.md"))
    cells = {
        cell.strip().strip("*") for line in paper.splitlines() if line.startswith("| ") for cell in line.split("|")
    }
    numbers = {cell for cell in cells if any(character.isdigit() for character in cell)}
    assert len(numbers) >= 8
    # The checks are counted over the detectors, and the versions stand in the names of the libraries.
    assert {cell for cell in numbers if cell not in readme} == {"0 to 2"}
    assert all((ROOT / "paper" / place).exists() for place in re.findall(r"\]\((\S+\.png)\)", paper))


def test_a_release_without_an_address_stops_with_one_sentence(monkeypatch):
    monkeypatch.setattr("sys.argv", ["release"])
    lacking = list(steps.lacking())
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert ("pyproject.toml: [project.urls] must name the Repository" in " ".join(lacking)) == (
        "Repository" not in urls
    )
    if lacking:
        with pytest.raises(SystemExit, match=re.escape(lacking[0])):
            steps.ready()
        monkeypatch.setattr("sys.argv", ["release", "--dry"])
        assert steps.ready().startswith("LACKING ")

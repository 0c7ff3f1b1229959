"""The page of datasets is what the registry says."""

from pathlib import Path

from reproduction.datasets import names
from reproduction.datasets_page import render

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction" / "datasets.md"


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert render(page) == page


def test_the_page_lists_every_dataset_once():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    listed = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert listed == list(names())

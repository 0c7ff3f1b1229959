"""The registry holds the paper's datasets, and helps with names."""

import csv
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from oneclass.datasets import card, cards, load, names


def published(beside, file):
    with beside("..", "paper", file).open() as lines:
        return list(csv.DictReader(lines))


@pytest.mark.data
def test_every_small_dataset_has_the_counts_of_table_1(beside):
    table = [
        (row["dataset"], *(int(row[key]) for key in ("samples", "target", "outlier", "features")))
        for row in published(beside, "datasets_small.csv")
    ]
    ours = [(card.title, card.rows, card.targets, card.outliers, card.features) for card in cards("small")]
    assert ours == table


@pytest.mark.data
def test_the_digit_tasks_are_those_of_the_paper(beside):
    titles = [row["dataset"] for row in published(beside, "f1_medium.csv")]
    assert [card.title for card in cards("concordia")] == [title for title in titles if title.startswith("Concordia")]


def test_the_families_split_the_registry():
    families = ("small", "concordia", "extra", "usps", "semeion", "digits")
    counts = [len(names(family)) for family in families]
    assert counts == [15, 10, 1, 10, 10, 10]
    assert len(set(names())) == len(names()) == sum(counts)


def test_an_unknown_family_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"family must be one of small, concordia, .* got 'large'"):
        names("large")


@pytest.mark.parametrize(
    ("wrong", "right"), [("vowl", "vowel"), ("Breast Cancer", "breast_cancer"), ("concordia2", "concordia_2")]
)
def test_an_unknown_name_is_answered_with_close_ones(wrong, right):
    with pytest.raises(ValueError, match=rf"no dataset is called '{wrong}'; did you mean .*\b{right}\b"):
        load(wrong)


def test_a_name_like_no_other_is_answered_without_a_guess():
    with pytest.raises(ValueError, match=r"no dataset is called 'zzz' \(oneclass"):
        load("zzz")


def test_a_card_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        card("wine").rows = 0


def test_every_download_comes_from_uci_or_statlib():
    urls = [url for card in cards() if card.raw for url in card.raw.urls]
    assert urls
    assert all(url.startswith(("https://archive.ics.uci.edu/", "https://lib.stat.cmu.edu/")) for url in urls)


def test_only_concordia_and_usps_are_local():
    assert {card.family for card in cards() if card.access == "local"} == {"concordia", "usps"}
    assert {card.family for card in cards() if card.access == "bundled"} == {"digits", "small"}


def test_importing_the_room_imports_no_pandas_and_no_pooch():
    # The package's other rooms bring modules of their own: count what this one adds.
    code = "import sys, oneclass; before = {*sys.modules}; import oneclass.datasets; print(*{*sys.modules} - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "oneclass.datasets.registry" in loaded
    assert not {"pandas", "pooch", "xlrd", "openpyxl", "sklearn.datasets"} & {*loaded}

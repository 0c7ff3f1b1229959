"""The registry holds the paper's datasets, and suggests names."""

import csv
from dataclasses import FrozenInstanceError

import pytest

from reproduction.datasets import card, cards, load, names


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


def test_an_unknown_family_is_refused_with_a_list_of_the_families():
    with pytest.raises(ValueError, match=r"family must be one of small, concordia, .* got 'large'"):
        names("large")


@pytest.mark.parametrize(
    ("wrong", "right"), [("vowl", "vowel"), ("Breast Cancer", "breast_cancer"), ("concordia2", "concordia_2")]
)
def test_an_unknown_name_is_refused_with_similar_names(wrong, right):
    with pytest.raises(ValueError, match=rf"no dataset is called '{wrong}'; did you mean .*\b{right}\b"):
        load(wrong)


def test_a_name_like_no_other_is_refused_without_a_suggestion():
    with pytest.raises(ValueError, match=r"no dataset is called 'zzz' \(reproduction"):
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

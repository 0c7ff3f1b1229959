"""Rows equal the tidy copies, cell by cell, and have the properties that the cards state."""

import hashlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from reproduction.datasets import DatasetError, card, cards, load, names, store

pytestmark = pytest.mark.data


def by_class(X, y):
    return [Counter(map(bytes, np.ascontiguousarray(X[y == label], dtype=float))) for label in (1, -1)]


@pytest.mark.parametrize("name", names("small", "extra"))
def test_rows_and_labels_equal_the_tidy_copy(name, beside):
    tidy = pd.read_csv(beside("tidy", f"{name}.csv"))
    X, y = load(name, download=False)
    pd.testing.assert_frame_equal(X, tidy.drop(columns="label").astype(float), check_exact=True)
    np.testing.assert_array_equal(y, np.where(tidy["label"] == "target", 1, -1))


@pytest.mark.parametrize("name", names())
def test_rows_have_the_counts_of_the_card(name, raw_folder):
    data = load(name, download=False)
    assert data.X.shape == (data.card.rows, data.card.features)
    assert (np.sum(data.y == 1), np.sum(data.y == -1)) == (data.card.targets, data.card.outliers)
    assert data.y.dtype == np.int64
    assert (data.groups is None) == (data.card.groups is None)


def test_checksums_are_those_of_the_raw_files(raw_folder):
    for each in cards():
        if each.raw:
            place = next(place for place in store._places(each.raw, raw_folder) if place.is_file())
            assert hashlib.sha256(place.read_bytes()).hexdigest() == each.raw.sha256, each.name


@pytest.mark.parametrize("digit", [0, 1, 5])
def test_a_concordia_task_from_the_authors_file_holds_the_rows_of_the_table_of_digits(digit, beside):
    table = pd.read_csv(beside("tidy", "concordia_digits.csv"))
    pixels = table.filter(regex="^p").to_numpy()
    X, y = load(f"concordia_{digit}")
    assert by_class(X.to_numpy(), y) == by_class(pixels, np.where(table["digit"] == digit, 1, -1))


def test_strict_drops_rows_whose_digit_was_inferred(beside):
    table = pd.read_csv(beside("tidy", "concordia_digits.csv"))
    exact = table[table["digit_source"].isin(["file", "order"])]
    X, y = load("concordia_2", strict=True)
    np.testing.assert_array_equal(X, exact.filter(regex="^p"))
    np.testing.assert_array_equal(y == 1, exact["digit"] == 2)
    assert len(load("concordia_0", strict=True).y) == 4000


def test_usps_and_semeion_tasks_share_rows_and_split_them_by_digit(raw_folder):
    for family in ("usps", "semeion", "digits"):
        tasks = [load(name) for name in names(family)]
        assert all(task.X.equals(tasks[0].X) for task in tasks)
        assert np.all(sum((task.y == 1).astype(int) for task in tasks) == 1)


def test_a_biomed_person_has_one_class_and_visits_within_three_years(raw_folder):
    data = load("biomed")
    frame = data.X.assign(y=data.y, person=data.groups).groupby("person")
    assert frame["y"].nunique().max() == 1
    assert (frame["age"].max() - frame["age"].min()).max() <= 3
    assert len(frame) == 120


def test_a_vowel_speaker_has_six_recordings_of_every_vowel(raw_folder):
    data = load("vowel")
    targets = Counter(data.groups[data.y == 1].tolist())
    assert targets == dict.fromkeys(range(8), 6)
    assert Counter(data.groups.tolist()) == dict.fromkeys(range(8), 66)


def test_groups_of_cardiotocography_are_its_352_recordings(raw_folder):
    assert len(set(load("cardiotocography_21").groups.tolist())) == 352


def test_class_reveals_the_label_of_cardiotocography(raw_folder):
    X, y = load("cardiotocography")
    leak = X["CLASS"].isin([8, 9])
    assert (leak[y == 1].sum(), leak[y == -1].sum()) == (175, 1)


def test_heart_statlog_is_part_of_heart_cleveland_with_the_classes_swapped(raw_folder):
    statlog, cleveland = (load(f"heart_{name}") for name in ("statlog", "cleveland"))
    ours, theirs = by_class(statlog.X.to_numpy(), statlog.y), by_class(cleveland.X.to_numpy(), -cleveland.y)
    assert ours[0] <= theirs[0]
    assert ours[1] <= theirs[1]


def test_the_cards_state_the_number_of_repeated_rows(raw_folder):
    assert load("breast_cancer").X.duplicated().sum() == 236
    survival = load("survival")
    assert survival.X.duplicated().sum() == 23
    assert (survival.X.assign(y=survival.y).groupby(list(survival.X))["y"].nunique() == 2).sum() == 6
    assert load("concordia_0").X.duplicated().sum() == 27


def test_imports_keeps_the_cell_of_the_raw_file(raw_folder):
    X, _ = load("imports")
    assert X.loc[8, "fuel_system"] == 5
    assert X.loc[8, "num_cylinders"] == 3
    assert X["engine_location"].nunique() == 1


@pytest.mark.parametrize(
    ("name", "rewrite"),
    [
        ("vowel", lambda text: text.replace(",", " ")),
        ("semeion", lambda text: text.replace("0", "0.0000").replace("1", "1.0000")),
        ("ecoli", lambda text: text.replace("\n", "\r\n")),
        ("survival", lambda text: text + "\n\n"),
    ],
)
def test_copies_with_other_separators_hold_the_same_rows(name, rewrite, raw_folder, tmp_path):
    task = card(f"{name}_3" if name == "semeion" else name)
    copy = tmp_path / task.raw.name
    copy.write_text(rewrite((raw_folder / task.raw.path).read_text()), newline="")
    assert hashlib.sha256(copy.read_bytes()).hexdigest() != task.raw.sha256
    assert load(task.name, data_home=tmp_path, download=False).X.equals(load(task.name).X)


def test_an_edited_copy_is_refused(raw_folder, tmp_path):
    text = (raw_folder / "imports/imports-85.data").read_text()
    (tmp_path / "imports-85.data").write_text(text.replace("?", "0"))
    with pytest.raises(
        DatasetError, match=rf"^imports: .*expected {card('imports').raw.sha256}\); delete .*85.data and"
    ):
        load("imports", data_home=tmp_path)

"""The authors' splits are read as published."""

import shutil

import numpy as np
import pytest

from reproduction.author_splits import author_split_names, load_author_split
from reproduction.datasets import DatasetError, load

SIZES = {
    "biomed": (64, 34, 63, 33, 5),
    "concordia_0": (320, 2880, 80, 720, 256),
    "concordia_1": (320, 2880, 80, 720, 256),
    "diabetic_retinopathy": (432, 489, 108, 122, 19),
    "ecoli": (42, 227, 10, 57, 7),
    "imports": (57, 70, 14, 18, 25),
    "vowel": (38, 384, 10, 96, 10),
    "dkrlvoc_biomed": (34, 64, 33, 63, 5),
    "dkrlvoc_breast_cancer": (229, 121, 229, 120, 9),
    "dkrlvoc_colposcopy": (41, 8, 41, 7, 62),
    "dkrlvoc_concordia_5": (200, 1800, 200, 1800, 256),
    "dkrlvoc_cryotherapy": (24, 21, 24, 21, 6),
    "dkrlvoc_glass_building": (38, 69, 38, 69, 9),
    "dkrlvoc_ionosphere": (63, 113, 63, 112, 34),
    "dkrlvoc_iris": (25, 50, 25, 50, 4),
    "dkrlvoc_spect_heart": (127, 48, 127, 47, 44),
}


def rows(*blocks):
    return sorted(map(tuple, np.vstack(blocks)))


def test_every_published_split_is_known():
    assert author_split_names() == tuple(SIZES)


@pytest.mark.data
@pytest.mark.parametrize("name", SIZES)
def test_a_split_has_its_published_sizes_and_folds_cut_from_its_training_rows(name, beside):
    split = load_author_split(name, beside("author_splits"))
    test = [int(np.sum(split.y == label)) for label in (1, -1)]
    assert (len(split.train), len(split.outliers), *test, split.rows.shape[1]) == SIZES[name]
    assert len(split.folds) == 5
    held_out = [rows[y == 1] for _, rows, y in split.folds]
    assert rows(*held_out) == rows(split.train)
    for fold in split.folds:
        assert len(fold.train) + np.sum(fold.y == 1) == len(split.train)


@pytest.mark.data
@pytest.mark.parametrize("name", ["biomed", "ecoli", "vowel", "diabetic_retinopathy"])
def test_a_split_holds_the_rows_of_its_dataset(name, beside):
    split, (X, y) = load_author_split(name, beside("author_splits")), load(name)
    for label, trained in ((1, split.train), (-1, split.outliers)):
        theirs = np.array(rows(trained, split.rows[split.y == label]))
        np.testing.assert_allclose(theirs, np.array(rows(X.to_numpy()[y == label])), rtol=1e-12)


@pytest.mark.data
@pytest.mark.parametrize(("name", "digit"), [("concordia_0", 0), ("dkrlvoc_concordia_5", 5)])
def test_the_authors_own_file_gives_the_same_split(name, digit, beside, raw_folder):
    ours = load_author_split(name, beside("author_splits"))
    theirs = load_author_split(name, raw_folder / f"concordia/Concordia_{digit}.mat")
    np.testing.assert_allclose(theirs.train, ours.train, atol=1e-13)
    np.testing.assert_allclose(theirs.rows, ours.rows, atol=1e-13)
    np.testing.assert_array_equal(theirs.y, ours.y)
    for mine, other in zip(ours.folds, theirs.folds, strict=True):
        np.testing.assert_allclose(other.rows, mine.rows, atol=1e-13)
        np.testing.assert_array_equal(other.y, mine.y)


@pytest.mark.data
@pytest.mark.parametrize("place", ["author_splits", "raw/../author_splits", "raw/author_splits"])
def test_a_split_is_found_in_or_beside_the_data_folder(place, beside, monkeypatch, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / place).mkdir()
    shutil.copy(beside("author_splits", "vowel.npz"), tmp_path / place)
    monkeypatch.setenv("ONECLASS_DATA", str(tmp_path / "raw"))
    assert load_author_split("vowel").rows.shape == (106, 10)


@pytest.mark.data
def test_a_split_with_another_value_is_refused(beside, tmp_path):
    with np.load(beside("author_splits", "vowel.npz")) as npz:
        arrays = dict(npz)
    arrays["test_y"] = -arrays["test_y"]
    np.savez(tmp_path / "vowel.npz", **arrays)
    with pytest.raises(DatasetError, match=r"^author split vowel: .*vowel.npz is not the published split"):
        load_author_split("vowel", tmp_path)


def test_a_damaged_split_is_refused(tmp_path):
    (tmp_path / "vowel.npz").write_bytes(b"PK not a zip")
    with pytest.raises(DatasetError, match=r"^author split vowel: .*vowel.npz cannot be parsed"):
        load_author_split("vowel", tmp_path)


def test_an_absent_split_says_where_it_comes_from(monkeypatch, tmp_path):
    monkeypatch.delenv("ONECLASS_DATA", raising=False)
    with pytest.raises(DatasetError, match=r"no data folder is given; it is published in .* only .*VAAKELM"):
        load_author_split("vowel")
    with pytest.raises(DatasetError, match=r"it is not in .*; it is published in .* only .*Deep-Kernel"):
        load_author_split("dkrlvoc_iris", tmp_path)

"""What users give by mistake is refused with what to do instead."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass import OCSVM, VAAKELM, KNNDetector, OneClassSearchCV, PCADetector, Stream, TableDetector, report

ROWS = np.random.default_rng(0).normal(size=(60, 2))
IMAGES = np.zeros((5, 8, 8))
BOTH = [VAAKELM, TableDetector]


@pytest.mark.parametrize("kind", BOTH)
def test_images_are_flattened_into_one_row_each(kind):
    with pytest.raises(ValueError, match=r"got shape \(5, 8, 8\).*X\.reshape\(len\(X\), -1\) has one row for each"):
        kind().fit(IMAGES)
    with pytest.raises(ValueError, match=r"X\.reshape\(-1, 1\) has one feature"):
        kind().fit(ROWS[:, 0])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("given", ["table.csv", b"table.csv", Path("table.csv")])
def test_a_path_is_no_table(kind, given):
    with pytest.raises(TypeError, match=r"X must hold rows, got the text .*table\.csv.*pandas\.read_csv.*fit_chunks"):
        kind().fit(given)
    with pytest.raises(TypeError, match="X must hold rows, got the text"):
        kind().fit(ROWS).predict(given)


@pytest.mark.parametrize("kind", BOTH)
def test_a_list_of_text_is_no_table(kind):
    with pytest.raises(ValueError, match=r"got a list of text.*\[\[word\] for word in X\]"):
        kind().fit(["a", "b", "c"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("contamination", r"delta= is the share of normal rows that may be rejected; screen\(\) is for tables"),
        ("nu", "delta= is the share of normal rows"),
        ("n_jobs", "threads are those of NumPy"),
        ("gamma", r"gamma = 1 / \(2 sigma²\): kernel=RBF\(sigma=\.\.\.\)"),
        ("colour", "it has .*delta"),
    ],
)
@pytest.mark.parametrize("kind", [VAAKELM, TableDetector, PCADetector, Stream])
def test_parameters_of_other_libraries_are_answered_by_ours(kind, name, hint):
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter {name!r}.*{hint}"):
        kind(**{name: 1})


def test_parameters_that_a_class_has_are_its_own():
    assert OCSVM(nu=0.1).nu == 0.1
    assert OneClassSearchCV(VAAKELM(), {"C": [1.0]}, n_jobs=1).n_jobs == 1


def test_a_report_of_swapped_arguments_names_the_order():
    model = KNNDetector().fit(ROWS)
    with pytest.raises(
        TypeError, match=r"model must be a fitted classifier, got a ndarray; the order is report\(model"
    ):
        report(ROWS, model)
    with pytest.raises(TypeError, match=r"must be a fitted classifier, got a str$"):
        report("model", ROWS)


@pytest.mark.parametrize("kind", BOTH)
def test_complex_numbers_are_refused_in_one_line(kind):
    with pytest.raises(ValueError, match=f"^{kind.__name__}: Complex data not supported: X must hold real numbers$"):
        kind().fit(ROWS * 1j)


def test_equal_rows_are_told_of():
    with pytest.warns(oneclass.ColumnWarning, match="VAAKELM: all training rows are equal"):
        VAAKELM().fit(np.ones((30, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VAAKELM().fit(np.column_stack([np.ones(60), ROWS]))


@pytest.mark.parametrize("seed", ["a", 1.5, -1])
@pytest.mark.parametrize("kind", [VAAKELM, oneclass.OCRF])
def test_a_seed_that_is_none_is_refused_also_where_no_number_is_drawn(kind, seed):
    with pytest.raises(ValueError, match=f"{kind.__name__}: random_state must be None, a whole number of at least 0"):
        kind(random_state=seed).fit(pd.DataFrame(ROWS))

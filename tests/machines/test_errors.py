import re
from datetime import date, timedelta

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning, NotFittedError

from oneclass import AAKELM, OCKELM, RBF, VAAKELM, VOCKELM, KNNDetector, Nystrom
from oneclass.core.cholesky import SingularSystemError
from oneclass.selection import OneClassSearchCV
from oracle.comparison import assert_agree

NOT_NUMBERS = [float("nan"), float("inf"), "1", True, None, [1.0], np.array([1.0, 2.0]), 1j]
OPEN_INTERVAL = [0, -1, *NOT_NUMBERS]
BAD = {
    "C": OPEN_INTERVAL,
    "delta": [-0.1, 1, 1.5, *NOT_NUMBERS],
    "sigma": [0, -1, float("nan"), float("inf"), "auto", True, None, [1.0], np.array([1.0, 2.0]), 1j],
    "kernel": ["gauss", 3, None, RBF(sigma=-1.0), RBF(sigma="auto")],
    "scale": ["yes", True, 1, None],
    "threshold": ["LOO", "", 3, None, ["held_out"]],
}
BAD_CONSTANT = {"r": [0, *NOT_NUMBERS]}
BAD_REBUILDER = {"loss": ["error", None, 3]}
BAD_VARIANCE = {
    "variance": [
        "classes",
        3,
        None,
        np.ones(3),
        np.ones((3, 3)),
        np.full((60, 60), np.nan),
        np.triu(np.eye(60) + 1),
    ],
    "lam": OPEN_INTERVAL,
    "n_clusters": [0, -1, 2.5, "5", True, None],
    "centering": ["mine", None, 3],
}


def cases(table):
    return pytest.mark.parametrize(("name", "value"), [(n, v) for n, bad in table.items() for v in bad], ids=repr)


def assert_named(error, machine, parameter, value):
    """The machine, the parameter, the rule and the value."""
    message = str(error.value)
    assert message.startswith(f"{machine.__name__}: ")
    blamed = "sigma" if isinstance(value, RBF) else parameter
    assert re.search(rf"\b{blamed} must\b", message)
    shown = value.sigma if isinstance(value, RBF) else value
    if not isinstance(value, np.ndarray):
        assert repr(shown) in message


def refuse(machine, rows, name, value):
    with pytest.raises(ValueError) as error:
        machine(**{name: value}).fit(rows)
    assert_named(error, machine, name, value)


@cases(BAD)
def test_a_bad_value_is_named(machine, rows, name, value):
    refuse(machine, rows, name, value)


@cases(BAD_CONSTANT)
@pytest.mark.parametrize("constant", [VOCKELM], ids=["VOCKELM"])
def test_a_bad_target_is_named(constant, rows, name, value):
    refuse(constant, rows, name, value)


@cases(BAD_REBUILDER)
def test_a_bad_score_is_named(rows, name, value):
    refuse(AAKELM, rows, name, value)


@cases(BAD_VARIANCE)
@pytest.mark.parametrize("embedded", [VOCKELM, VAAKELM], ids=["VOCKELM", "VAAKELM"])
def test_a_bad_variance_is_named(embedded, rows, name, value):
    refuse(embedded, rows, name, value)


@pytest.mark.parametrize("size", [-0.5, -50.0])
def test_a_variance_matrix_with_a_negative_eigenvalue_is_refused(rows, size):
    M = np.eye(60)
    M[0, 0] = size
    with pytest.raises(ValueError, match="VAAKELM: variance must be symmetric positive semi-definite"):
        VAAKELM(variance=M).fit(rows)


def test_the_mean_rule_belongs_to_vockelm(rows):
    with pytest.raises(ValueError, match="AAKELM: threshold must be one of 'held_out', 'train', 'authors'; got 'mean'"):
        AAKELM(threshold="mean").fit(rows)
    assert np.isfinite(VOCKELM(threshold="mean").fit(rows).offset_)


@pytest.mark.parametrize("value", [np.int64(2), np.float32(2.0), 2])
def test_numbers_of_every_kind_are_numbers(machine, rows, fresh, value):
    expected = machine(C=2.0, sigma=2.0).fit(rows).score_samples(fresh)
    np.testing.assert_array_equal(machine(C=value, sigma=value).fit(rows).score_samples(fresh), expected)


BAD_WEIGHTS = {
    "negative": np.r_[-1.0, np.ones(59)],
    "nan": np.r_[np.nan, np.ones(59)],
    "infinite": np.r_[np.inf, np.ones(59)],
    "zeros": np.zeros(60),
    "short": np.ones(59),
    "matrix": np.ones((60, 2)),
}


@pytest.mark.parametrize("kind", BAD_WEIGHTS)
def test_bad_weights_are_named(machine, xp, rows, kind):
    with pytest.raises(ValueError, match=rf"^{machine.__name__}: sample_weight must"):
        machine().fit(xp.asarray(rows), sample_weight=xp.asarray(BAD_WEIGHTS[kind]))


def broken(rows, value):
    X = rows.copy()
    X[3, 1] = value
    return X


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(machine, xp, rows, value):
    with pytest.raises(ValueError, match=r"(?i)X.*(NaN|infinity)"):
        machine().fit(xp.asarray(broken(rows, value)))
    model = machine().fit(xp.asarray(rows))
    with pytest.raises(ValueError, match=r"(?i)X.*(NaN|infinity)"):
        model.score_samples(xp.asarray(broken(rows, value)))


@pytest.mark.parametrize("verb", ["score_samples", "decision_function", "predict", "p_value"])
def test_an_unfitted_machine_says_so(machine, rows, verb):
    with pytest.raises(NotFittedError, match=machine.__name__):
        getattr(machine(), verb)(rows)


@pytest.mark.parametrize("features", [3, 5])
def test_another_number_of_features_is_refused(machine, xp, rows, features):
    model = machine().fit(xp.asarray(rows))
    with pytest.raises(ValueError, match=rf"{features} features.*4|X has {features} features"):
        model.predict(xp.ones((2, features), dtype=xp.float64))


@pytest.mark.parametrize("shape", [(60,), (60, 2, 2), (1, 4), (60, 0)])
def test_rows_of_a_wrong_shape_are_refused(machine, xp, shape):
    with pytest.raises(ValueError, match=r"(?i)dim|row|sample|feature"):
        machine().fit(xp.ones(shape, dtype=xp.float64))


def frames(column):
    """The same table in two libraries: numbers, and a column named `odd`."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = {"fine": np.arange(30.0), "odd": column}
    return [pd.DataFrame(table), pl.DataFrame(table)]


DAYS = [date(2020, 1, 1) + timedelta(days=k) for k in range(30)]
ODD = {
    "dates": (np.array(DAYS, dtype="datetime64[ms]"), "dates or times; turn dates into numbers"),
    "spans of time": (np.diff(np.array([*DAYS, date(2021, 1, 1)], dtype="datetime64[ms]")), "dates or times"),
    "words": (
        ["a", "b", "c"] * 10,
        "no numbers; encode the other values as numbers, for example with sklearn.*OneHotEncoder",
    ),
    "gaps": ([1.0, None, 3.0] * 10, "missing values; fill or drop what is missing.*SimpleImputer"),
    "not a number": ([1.0, np.nan, 3.0] * 10, "missing values; fill or drop what is missing"),
}
ALL = [OCKELM, VOCKELM, AAKELM, VAAKELM, KNNDetector]


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("classifier", ALL, ids=lambda c: c.__name__)
def test_columns_that_are_no_numbers_are_named_with_a_remedy(classifier, kind):
    column, flaw = ODD[kind]
    for X in frames(column):
        for table in (X, X[["odd"]]):
            fits = [lambda table=table: classifier().fit(table)]
            if hasattr(classifier, "fit_chunks"):
                fits.append(lambda table=table: classifier().fit_chunks([table, table]))
            for fit in fits:
                rule = f"^{classifier.__name__}: X must hold a number in every cell, but column 'odd' holds {flaw}"
                with pytest.raises(ValueError, match=rule):
                    fit()


@pytest.mark.parametrize("classifier", ALL, ids=lambda c: c.__name__)
def test_columns_that_are_numbers_in_disguise_are_read(classifier):
    pd = pytest.importorskip("pandas")
    numbers = np.random.default_rng(0).integers(2, size=(30, 2))
    expected = classifier(delta=0.1).fit(numbers.astype(float)).score_samples(numbers)
    for X in (pd.DataFrame(numbers).astype(kind) for kind in ("bool", "boolean", "Int64", object, "category")):
        assert_agree(classifier(delta=0.1).fit(X).score_samples(numbers), expected, 0)


MANY = np.random.default_rng(0).normal(size=(30, 2))
NO_ROWS = {
    "dicts": ([{"a": 1.0}] * 30, TypeError, "got dicts: pass pandas.DataFrame"),
    "a dict": ({"a": [1.0] * 30}, TypeError, "got dicts: pass pandas.DataFrame"),
    "gaps": (np.where(MANY > 1.5, np.nan, MANY), ValueError, "column 0 holds missing values.* or use oneclass.Table"),
    "a masked array": (np.ma.masked_array(MANY, MANY > 1.5), ValueError, "3 cells of the array are masked; fill them"),
    "dates": (np.array([DAYS, DAYS], dtype="datetime64[D]").T, ValueError, "column 0 holds dates or times, column 1"),
    "a list of dates": ([[np.datetime64(day)] for day in DAYS], ValueError, "column 0 holds dates or times"),
    "words": (np.array([["a", "1"]] * 30), ValueError, "column 0 holds no numbers; encode"),
    "objects": (np.array([[1.0, {}]] * 30, dtype=object), TypeError, "column 1 holds no numbers; encode"),
    "one dimension": (MANY[:, 0], ValueError, r"two dimensions \(rows, features\), got shape \(30,\)"),
}


@pytest.mark.parametrize("kind", NO_ROWS)
@pytest.mark.parametrize("classifier", ALL, ids=lambda c: c.__name__)
def test_what_holds_no_rows_of_numbers_is_refused_with_a_remedy(classifier, kind):
    X, error, rule = NO_ROWS[kind]
    with pytest.raises(error, match=f"^{classifier.__name__}: X must .*{rule}"):
        classifier(delta=0.1).fit(X)
    with pytest.raises(error, match=f"^{classifier.__name__}: X must .*{rule}"):
        classifier(delta=0.1).fit(MANY).predict(X)


@pytest.mark.parametrize("classifier", ALL, ids=lambda c: c.__name__)
def test_a_frame_that_is_not_read_yet_is_refused_with_advice(classifier):
    lazy = pytest.importorskip("polars").DataFrame({"a": np.arange(30.0)}).lazy()
    with pytest.raises(TypeError, match=f"{classifier.__name__}: X must hold rows, got a LazyFrame.*pass X.collect"):
        classifier().fit(lazy)


def test_only_some_of_many_odd_columns_are_named():
    X = np.full((30, 9), "word")
    with pytest.raises(ValueError, match="column 4 holds no numbers and 4 more columns have such values; encode"):
        AAKELM().fit(X)


def test_a_precomputed_kernel_must_be_square(machine, rows):
    with pytest.raises(ValueError, match=rf"{machine.__name__}: a precomputed kernel must be square.*\(60, 4\)"):
        machine(kernel="precomputed").fit(rows)


def test_a_precomputed_kernel_has_no_uncertainty(rows):
    with pytest.raises(ValueError, match=r"AAKELM: .*precomputed"):
        AAKELM(kernel="precomputed", loss="uncertainty").fit(rows @ rows.T)


def test_a_callable_kernel_of_the_wrong_shape_is_named(machine, rows):
    def similarity(X, Y):
        return np.ones((2, 2))

    with pytest.raises(ValueError, match=f"{machine.__name__}: kernel similarity must return a matrix of shape"):
        machine(kernel=similarity).fit(rows)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_callable_kernel_that_is_no_number_somewhere_is_named(machine, rows, value):
    def similarity(X, Y):
        K = np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2))
        K[K.mean() > K] = value
        return K

    with pytest.raises(ValueError, match=f"{machine.__name__}: kernel similarity must return finite values"):
        machine(kernel=similarity).fit(rows)


def test_a_hopeless_system_names_likely_causes(machine, rows):
    with pytest.raises(SingularSystemError) as error:
        machine(kernel=lambda X, Y: -(X @ Y.T), C=64.0).fit(rows)
    message = str(error.value)
    assert message.startswith(f"{machine.__name__}: ")
    for cause in ("not positive semi-definite", "NaN", "C / lam", "overflow", "C=64.0"):
        assert cause in message


@pytest.mark.parametrize(
    ("model", "dtype", "rule"),
    [
        (OCKELM(C=1e-12), "float64", "OCKELM: C must be at least 7.3e-11, .* in 64-bit precision; got 1e-12"),
        (VOCKELM(C=1e-6), "float32", "VOCKELM: C must be at least 4.8e-05, .* in 32-bit precision; got 1e-06"),
        (AAKELM(C=1e-12, loss="uncertainty"), "float64", "AAKELM: C must be at least 7.3e-11, .*; got 1e-12"),
        (
            AAKELM(C=1e-12, loss="uncertainty", approximation=Nystrom(20)),
            "float64",
            "AAKELM: C must be at least 7.3e-11",
        ),
        (VAAKELM(C=1e-15, loss="uncertainty"), "float64", "VAAKELM: C must be at least 3.6e-15, .*; got 1e-15"),
        (VAAKELM(C=1e-13, lam=1e3, loss="uncertainty"), "float64", "VAAKELM: C must be at least 3.6e-12"),
        (AAKELM(C=1e8, approximation=Nystrom(20)), "float32", "AAKELM: C must be at most 8.4e[+]04, .*; got 1e[+]08"),
    ],
)
def test_a_C_at_which_losses_are_made_of_rounding_is_refused_with_its_bound(rows, model, dtype, rule):
    with pytest.raises(ValueError, match=rule):
        model.fit(rows.astype(dtype))


def test_one_C_that_is_refused_fails_no_other_point_of_a_search(rows):
    X, y = np.concatenate([rows, rows + 1e3]), np.repeat([1, -1], 60)
    for approximation in (None, Nystrom(20)):
        search = OneClassSearchCV(
            AAKELM(loss="uncertainty", approximation=approximation), {"C": [1e-13, 1.0]}, error_score=np.nan
        )
        with pytest.warns(FitFailedWarning):
            search.fit(X, y)
        assert search.best_params_ == {"C": 1.0}
        np.testing.assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), [True, False])

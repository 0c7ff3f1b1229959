"""Answers to alarms: equal to refits, in any order, and without a change of the false-alarm rate."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from oneclass import (
    AAKELM,
    OCELM,
    OCKELM,
    VAAKELM,
    VOCKELM,
    Nystrom,
    TableDetector,
    load,
    make_one_class_pipeline,
    scatter_laplacian,
)

RNG = np.random.default_rng(0)
N = 80
X = RNG.normal(size=(N, 3)) * [1, 10, 0.1] + [0, 5, 0]
NORMAL = RNG.normal(size=(4, 3)) * [1, 10, 0.1] + [3, 5, 0]
ODD = RNG.normal(size=(3, 3)) * [1, 10, 0.1] + [-3, 5, 0]
ROWS, LABELS = np.concatenate([NORMAL, ODD]), np.repeat([1, -1], [4, 3])
FRESH = RNG.normal(size=(40, 3)) * [2, 20, 0.2] + [0, 5, 0]
EACH = pytest.mark.parametrize("make", [AAKELM, VAAKELM, OCKELM, VOCKELM], ids=lambda make: make.__name__)


def assert_same(model, other):
    np.testing.assert_allclose(model.score_samples(FRESH), other.score_samples(FRESH), rtol=1e-8, atol=1e-8)
    assert model.offset_ == pytest.approx(other.offset_, rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(model.held_out_scores_, other.held_out_scores_, rtol=1e-8, atol=1e-8)


@EACH
def test_outliers_among_answers_are_those_of_a_fit_with_them(make):
    model = make().fit(X, outliers=ODD[:1]).learn_from(ODD[1:], [-1, -1])
    assert_same(model, make().fit(X, outliers=ODD))


@EACH
def test_answers_that_are_normal_change_the_model_as_a_fit_with_them_and_set_no_threshold(make):
    model = make().fit(X).learn_from(NORMAL, np.ones(4))
    refit = make().fit(np.concatenate([X, NORMAL]))
    np.testing.assert_allclose(model.score_samples(FRESH), refit.score_samples(FRESH), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.held_out_scores_, refit.held_out_scores_[:N], rtol=1e-8, atol=1e-8)
    assert model.calibration_.total == N
    assert np.sum(model.held_out_scores_ < model.offset_) <= 0.05 * (N + 1)


def test_fits_by_landmarks_learn_from_answers():
    model = AAKELM(approximation=Nystrom(200)).fit(X, outliers=ODD[:1]).learn_from(ROWS, LABELS)
    exact = AAKELM().fit(X, outliers=ODD[:1]).learn_from(ROWS, LABELS)
    np.testing.assert_allclose(model.score_samples(FRESH), exact.score_samples(FRESH), rtol=1e-5, atol=1e-5)


@EACH
@pytest.mark.parametrize("groups", [None, np.arange(N) // 3], ids=["rows", "groups"])
@pytest.mark.parametrize("weights", [None, 0.5 + RNG.random(N)], ids=["plain", "weights"])
def test_the_order_of_answers_and_their_batches_does_not_matter(make, groups, weights):
    def fitted():
        return make().fit(X, groups=groups, sample_weight=weights, outliers=ODD[:1])

    at_once = fitted().learn_from(ROWS, LABELS)
    one_by_one = fitted()
    for i in RNG.permutation(len(ROWS)):
        one_by_one.learn_from(ROWS[i : i + 1], LABELS[i : i + 1])
    assert_same(at_once, one_by_one)
    assert at_once.calibration_.total == pytest.approx(fitted().calibration_.total)


def test_rows_without_an_answer_are_not_used():
    y = np.array([*LABELS, np.nan])
    assert_same(VAAKELM().fit(X).learn_from(np.r_[ROWS, FRESH[:1]], y), VAAKELM().fit(X).learn_from(ROWS, LABELS))


def test_the_same_fit_learns_the_same_from_a_file(tmp_path):
    model = VAAKELM().fit(X, outliers=ODD[:1]).learn_from(ROWS, LABELS)
    model.save(tmp_path / "model.oneclass")
    loaded = load(tmp_path / "model.oneclass")
    assert_same(model, loaded)
    assert_same(model.learn_from(FRESH[:3], [1, 0, 0]), loaded.learn_from(FRESH[:3], [1, 0, 0]))


def test_wrappers_learn_from_answers():
    expected = VAAKELM().fit(X).learn_from(ROWS, LABELS).score_samples(FRESH)
    pipe = make_one_class_pipeline(VAAKELM()).fit(X)
    np.testing.assert_array_equal(pipe.learn_from(ROWS, LABELS).score_samples(FRESH), expected)
    table, rows, fresh = (pd.DataFrame(of, columns=list("abc")) for of in (X, ROWS, FRESH))
    detector = TableDetector(VAAKELM()).fit(table)
    np.testing.assert_allclose(detector.learn_from(rows, LABELS).score_samples(fresh), expected, rtol=1e-10)


def test_a_false_alarm_does_not_come_back_and_the_rate_is_kept():
    before, after, alarms, found = [], [], [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        train, fresh, shift = rng.normal(size=(300, 4)), rng.normal(size=(500, 4)), np.array([4.0, 0, 0, 0])
        rare, odd = 0.7 * rng.normal(size=(100, 4)) + shift, rng.normal(size=(200, 4)) - shift
        model = AAKELM().fit(train)
        before.append(np.mean(model.predict(rare) == -1))
        answered = 0.7 * rng.normal(size=(10, 4)) + shift
        model.learn_from(answered, np.ones(10))
        assert (model.predict(answered) == 1).all()
        after.append(np.mean(model.predict(rare) == -1))
        alarms.append(np.mean(model.predict(fresh) == -1))
        found.append(np.mean(model.predict(odd) == -1))
    assert np.mean(before) > 0.9
    assert np.mean(after) < 0.35
    assert 0.03 < np.mean(alarms) < 0.07
    assert np.mean(found) > 0.85


@pytest.mark.parametrize(
    ("model", "y", "said"),
    [
        (VAAKELM().fit(X), [1], r"VAAKELM: y must be one label a row, of shape \(3,\), got \(1,\)"),
        (VAAKELM().fit(X), ["cat", "dog", "cat"], "VAAKELM: y must hold answers, .* got 'cat', 'dog'"),
        (VAAKELM().fit(X), [None, None, np.nan], "VAAKELM: y must hold answers, .* got missing labels only"),
        (VAAKELM(known_outliers="ignore").fit(X), [1, 0, 0], "VAAKELM: y must not hold outliers"),
        (OCELM().fit(X), [1, 1, 1], "OCELM: learn_from needs a fit that keeps its training rows"),
        (VAAKELM().fit_chunks([X, X]), [1, 1, 1], "VAAKELM: learn_from needs a fit that keeps its training rows"),
        (AAKELM(threshold="train", loss="reconstruction").fit(X), [1, 1, 1], "AAKELM: learn_from needs a fit"),
        (
            VAAKELM(variance=scatter_laplacian(np.arange(N) % 2)).fit(X),
            [1, 1, 1],
            "VAAKELM: learn_from needs a fit that keeps its training rows",
        ),
    ],
    ids=lambda what: what if isinstance(what, str) else None,
)
def test_answers_that_cannot_be_learned_are_refused(model, y, said):
    with pytest.raises(ValueError, match=said):
        model.learn_from(ODD, y)


def test_rows_to_ask_about_are_those_with_the_lowest_scores():
    model, table = VAAKELM().fit(X), TableDetector(VAAKELM()).fit(pd.DataFrame(X))
    order = np.argsort(model.score_samples(FRESH))
    np.testing.assert_array_equal(model.suggest(FRESH, k=5), order[:5])
    np.testing.assert_array_equal(table.suggest(pd.DataFrame(FRESH), k=5), order[:5])
    np.testing.assert_array_equal(model.suggest(FRESH, k=1000), order)
    for k in (0, 2.5, True, None):
        with pytest.raises(ValueError, match=f"VAAKELM: k must be a whole number of at least 1, got {k}"):
            model.suggest(FRESH, k=k)


def test_answers_about_suggested_rows_find_more_outliers_than_the_same_number_of_alarms():
    found, plain = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        train, odd = rng.normal(size=(200, 4)), rng.normal(size=(30, 4)) + np.array([2.0, 2.0, 0, 0])
        pool, y = np.concatenate([rng.normal(size=(600, 4)), odd]), np.repeat([1, -1], [600, 30])
        model, left = AAKELM().fit(train), np.arange(630)
        plain.append(np.sum(y[model.suggest(pool, k=40)] == -1))
        for _ in range(8):
            rows = left[model.suggest(pool[left], k=5)]
            model.learn_from(pool[rows], y[rows])
            left = np.setdiff1d(left, rows)
        found.append(30 - np.sum(y[left] == -1))
    assert np.mean(found) > 1.2 * np.mean(plain)


def test_answers_of_several_threads_add_up():
    model = VAAKELM().fit(X)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: model.learn_from(ROWS[i : i + 1], LABELS[i : i + 1]), range(len(ROWS))))
    assert_same(model, VAAKELM().fit(X).learn_from(ROWS, LABELS))


def test_a_screened_model_learns_from_answers_about_rows_that_it_left_out():
    dirty = np.concatenate([X, ODD + np.array([-30, 0, 0])])
    model = VAAKELM()
    found = model.screen(dirty)
    before = model.calibration_
    model.learn_from(dirty[found.odd], np.zeros(found.odd.sum()))
    assert found.odd.any()
    assert (model.calibration_.total, model.calibration_.removed) == pytest.approx((before.total, before.removed))
    np.testing.assert_array_equal(np.isnan(model.held_out_scores_), found.odd)

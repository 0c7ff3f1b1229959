"""Held-out scores and p-values of the training rows, in their order."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from oneclass import AAKELM, OCKELM, SVDD, VAAKELM, KMeansDetector, KNNDetector, Nystrom, PCADetector, load
from oneclass.core.hold_out import fold_rows
from oracle.comparison import assert_agree

ROWS = np.random.default_rng(0).normal(size=(40, 3))
OWNER = np.random.default_rng(1).integers(0, 12, size=40)
PLAIN = {"C": 4.0, "sigma": 1.5, "scale": False, "delta": 0.2}

pytestmark = pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")


def refitted(model, X, parts):
    """Scores of the rows in each part under the model fitted without them."""
    scores = np.empty(len(X))
    for part in parts:
        rest = np.setdiff1d(np.arange(len(X)), part)
        scores[part] = type(model)(**model.get_params()).fit(X[rest]).score_samples(X[part])
    return scores


EXACT = [
    OCKELM(**PLAIN),
    AAKELM(**PLAIN, loss="reconstruction"),
    KNNDetector(n_neighbors=3, scale=False, delta=0.2),
    PCADetector(n_components=1, scale=False, delta=0.2),
]


@pytest.mark.parametrize("model", EXACT, ids=lambda m: type(m).__name__)
def test_held_out_scores_are_those_of_refitting_without_the_row(model):
    assert_agree(model.fit(ROWS).held_out_scores_, refitted(model, ROWS, np.arange(40)[:, None]), 1e-9)


def test_held_out_scores_by_folds_are_those_of_refitting_without_the_fold():
    model = KMeansDetector(n_clusters=2, scale=False, delta=0.2)
    folds = [unseen for _, unseen in fold_rows(ROWS, None, folds=5)]
    assert_agree(model.fit(ROWS).held_out_scores_, refitted(model, ROWS, folds), 1e-9)


@pytest.mark.parametrize("model", EXACT[:2], ids=lambda m: type(m).__name__)
def test_held_out_scores_with_groups_are_those_of_refitting_without_the_group(model):
    scores = model.fit(ROWS, groups=OWNER).held_out_scores_
    assert_agree(scores, refitted(model, ROWS, [np.flatnonzero(g == OWNER) for g in np.unique(OWNER)]), 1e-9)


def test_the_calibration_is_the_held_out_scores_ranked(classifier):
    model = classifier(delta=0.2).fit(ROWS)
    np.testing.assert_array_equal(np.sort(-model.held_out_scores_), model.calibration_.losses)


def test_held_out_p_values_are_ranks_among_the_other_rows(classifier):
    model = classifier(delta=0.2).fit(ROWS)
    scores = model.held_out_scores_
    # Scores that differ by rounding alone tie.
    expected = np.mean(scores[None, :] <= scores[:, None] + 1e-9 * np.ptp(scores), axis=1)
    assert_agree(model.held_out_p_values_, expected, 1e-12)


def test_held_out_p_values_with_groups_are_ranks_among_the_other_groups():
    model = KNNDetector(delta=0.2).fit(ROWS, groups=OWNER)
    scores, share = model.held_out_scores_, 1 / np.bincount(OWNER)[OWNER]
    others = OWNER[None, :] != OWNER[:, None]
    above = (others * (scores[None, :] <= scores[:, None])) @ share
    assert_agree(model.held_out_p_values_, (1 + above) / len(np.unique(OWNER)), 1e-12)


@pytest.mark.parametrize("groups", [None, OWNER], ids=["rows", "groups"])
def test_held_out_answers_are_the_same_on_every_array_library(xp, groups):
    expected = AAKELM(**PLAIN).fit(ROWS, groups=groups)
    model = AAKELM(**PLAIN).fit(xp.asarray(ROWS), groups=groups)
    assert_agree(model.held_out_scores_, expected.held_out_scores_, 1e-8)
    assert_agree(model.held_out_p_values_, expected.held_out_p_values_, 1e-8)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.parametrize("approximation", [None, Nystrom(60)], ids=str)
def test_a_row_of_weight_two_is_scored_like_two_rows(approximation):
    w = np.tile([1, 2], 20)
    params = PLAIN | {"approximation": approximation}
    weighted = AAKELM(**params).fit(ROWS, sample_weight=w)
    repeated = AAKELM(**params).fit(np.repeat(ROWS, w, axis=0))
    first = np.cumsum(w) - w
    assert_agree(weighted.held_out_scores_, repeated.held_out_scores_[first], 1e-6)
    assert_agree(weighted.held_out_p_values_, repeated.held_out_p_values_[first], 1e-9)


@pytest.mark.parametrize("groups", [None, OWNER], ids=["rows", "groups"])
def test_all_rows_as_landmarks_hold_out_the_same(groups):
    exact = VAAKELM(**PLAIN).fit(ROWS, groups=groups)
    many = VAAKELM(**PLAIN, approximation=Nystrom(40)).fit(ROWS, groups=groups)
    assert_agree(many.held_out_scores_, exact.held_out_scores_, 1e-6)
    assert_agree(many.held_out_p_values_, exact.held_out_p_values_, 1e-9)


@pytest.mark.parametrize("make", [VAAKELM, KNNDetector, SVDD], ids=lambda m: m.__name__)
def test_held_out_scores_are_missing_for_unused_rows_and_in_row_order_for_others(make):
    y = np.where(np.arange(40) % 4 == 1, -1, 1)
    model = make(delta=0.2).fit(ROWS, y)
    for values in (model.held_out_scores_, model.held_out_p_values_):
        np.testing.assert_array_equal(np.isnan(values), y == -1)
    if make not in (SVDD, VAAKELM):  # which learn from outliers too
        alone = make(delta=0.2).fit(ROWS[y == 1])
        assert_agree(model.held_out_scores_[y == 1], alone.held_out_scores_, 1e-12)


def test_fits_that_do_not_score_every_row_say_so():
    model = VAAKELM(approximation=Nystrom(10), delta=0.2)
    with pytest.raises(NotFittedError):
        _ = model.held_out_scores_
    assert model.fit(ROWS).held_out_scores_.shape == (40,)
    model.fit_chunks(ROWS)
    for name in ("held_out_scores_", "held_out_p_values_"):
        assert not hasattr(model, name)
        with pytest.raises(
            AttributeError, match=f"VAAKELM: {name} needs the held-out loss of every row, but fits on chunks"
        ):
            getattr(model, name)


def test_a_threshold_that_needs_no_held_out_scores_leaves_none_behind():
    model = KMeansDetector(n_init=1).fit(ROWS)
    assert model.held_out_scores_.shape == (40,)
    model.set_params(threshold="train").fit(ROWS)
    with pytest.raises(AttributeError, match=r"KMeansDetector: held_out_scores_ .* threshold='held_out'"):
        _ = model.held_out_scores_
    # Of the fit that was, and not of the parameter as it is.
    model.set_params(threshold="held_out")
    with pytest.raises(AttributeError, match=r"a fit with threshold='train' computes none"):
        _ = model.held_out_scores_
    with pytest.raises(ValueError, match=r"KMeansDetector: .* a fit with threshold='train' does not compute"):
        model.p_value(ROWS)


def test_files_keep_what_was_held_out(tmp_path):
    y = np.where(np.arange(40) % 4 == 1, -1, 1)
    for make in (VAAKELM, KNNDetector):
        model = make(delta=0.2).fit(ROWS, y, groups=OWNER)
        model.save(tmp_path / "model.oneclass")
        again = load(tmp_path / "model.oneclass")
        np.testing.assert_array_equal(again.held_out_scores_, model.held_out_scores_)
        np.testing.assert_array_equal(again.held_out_p_values_, model.held_out_p_values_)


def test_held_out_scores_take_one_number_a_row():
    model = VAAKELM(delta=0.2).fit(ROWS)
    assert model.held_out_.losses.nbytes == 40 * 8
    assert model.held_out_.w is None

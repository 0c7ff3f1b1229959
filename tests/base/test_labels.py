"""Labels at fit: targets are learnt from, outliers never in silence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score

from oneclass import OCSVM, SVDD, VAAKELM, KNNDetector, Nystrom, OneClassKFold
from oneclass.selection import SCORERS

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(60, 3)), RNG.normal(size=(12, 3)) + 4])
IS_TARGET = np.arange(72) < 60
Y = np.where(IS_TARGET, 1, -1)
FRESH = RNG.normal(size=(10, 3))

pytestmark = pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")


def test_outliers_that_labels_name_are_not_learnt_from(classifier):
    model = classifier()
    if isinstance(model, SVDD):
        pytest.skip("learns what to leave outside of the ball from them")
    if "known_outliers" in model.get_params():
        model.set_params(known_outliers="ignore")
    model.fit(X, Y)
    alone = classifier().fit(X[IS_TARGET])
    np.testing.assert_array_equal(model.score_samples(FRESH), alone.score_samples(FRESH))
    assert model.offset_ == alone.offset_


@pytest.mark.parametrize(
    "y",
    [IS_TARGET, IS_TARGET.astype(int), np.where(IS_TARGET, "normal", "odd"), pd.Series(Y), Y[:, None], Y.tolist()],
    ids=["bool", "0 and 1", "words", "series", "column", "list"],
)
@pytest.mark.parametrize("make", [VAAKELM, KNNDetector], ids=lambda m: m.__name__)
def test_labels_of_every_plain_kind_say_the_same(make, y):
    assert make().fit(X, y).offset_ == make().fit(X, Y).offset_


@pytest.mark.parametrize("y", [np.ones(72), np.zeros(72), np.full(72, "cat"), np.full(72, None)], ids=str)
@pytest.mark.parametrize("make", [VAAKELM, KNNDetector], ids=lambda m: m.__name__)
def test_labels_of_one_class_change_nothing(make, y):
    assert make().fit(X, y).offset_ == make().fit(X).offset_


@pytest.mark.parametrize("y", [np.arange(72) % 3, np.where(IS_TARGET, "cat", "dog"), X[:, 0]], ids=str)
@pytest.mark.parametrize("make", [VAAKELM, KNNDetector, SVDD], ids=lambda m: m.__name__)
def test_labels_that_do_not_name_the_target_class_are_warned_about(make, y):
    with pytest.warns(UserWarning, match=f"{make.__name__}: y holds several labels, .* all rows are training rows"):
        model = make().fit(X, y)
    assert model.offset_ == make().fit(X).offset_


@pytest.mark.parametrize("none", [np.nan, None])
@pytest.mark.parametrize("make", [VAAKELM, KNNDetector, SVDD], ids=lambda m: m.__name__)
def test_rows_without_a_label_are_left_out_and_said_to_be(make, none):
    y = np.array([*Y[:50], *[none] * 10, *Y[60:]], dtype=object if none is None else float)
    with pytest.warns(UserWarning, match=f"{make.__name__}: 10 of 72 rows have no label and are left out"):
        model = make().fit(X, y)
    labelled = np.r_[:50, 60:72]
    np.testing.assert_allclose(model.score_samples(FRESH), make().fit(X[labelled], Y[labelled]).score_samples(FRESH))
    with pytest.raises(ValueError, match="y must name the target class if some labels are missing"):
        make().fit(X, np.array(["cat", *["dog"] * 70, none], dtype=object))


def test_fewer_targets_than_outliers_give_a_warning():
    with pytest.warns(UserWarning, match="VAAKELM: 12 of 72 rows are labelled as targets.*pass the rows of the target"):
        VAAKELM(delta=0.1).fit(X, (~IS_TARGET).astype(int))


@pytest.mark.parametrize("make", [VAAKELM, KNNDetector, SVDD], ids=lambda m: m.__name__)
def test_labels_must_mark_two_targets_and_every_row(make):
    with pytest.raises(ValueError, match=f"{make.__name__}: y must mark at least two rows as targets, 1, got 0"):
        make().fit(X, -np.ones(72))
    with pytest.raises(ValueError, match=rf"{make.__name__}: y must be one label a row, of shape \(72,\), got \(5,\)"):
        make().fit(X, np.ones(5))


def test_weights_groups_and_approximations_follow_the_labels():
    w, owner = RNG.integers(0, 3, size=72).astype(float), RNG.integers(0, 20, size=72)
    for params in ({}, {"approximation": Nystrom(20)}):
        params["known_outliers"] = "ignore"
        model = VAAKELM(delta=0.2, **params).fit(X, Y, sample_weight=w, groups=owner)
        alone = VAAKELM(delta=0.2, **params).fit(X[:60], sample_weight=w[:60], groups=owner[:60])
        assert model.offset_ == alone.offset_
    assert KNNDetector(delta=0.2).fit(X, Y, groups=owner).offset_ == pytest.approx(
        KNNDetector(delta=0.2).fit(X[:60], groups=owner[:60]).offset_, rel=1e-12
    )


def test_weights_that_leave_no_target_are_refused():
    with pytest.raises(
        ValueError, match="VAAKELM: sample_weight must be positive for at least two rows of the target class, got 0"
    ):
        VAAKELM().fit(X, Y, sample_weight=~IS_TARGET)


def test_labels_of_kernel_values_leave_out_columns_or_are_refused():
    K = rbf_kernel(X, gamma=0.2)
    params = {"kernel": "precomputed", "loss": "reconstruction", "known_outliers": "ignore"}
    model, alone = VAAKELM(**params).fit(K, Y), VAAKELM(**params).fit(K[:60, :60])
    np.testing.assert_allclose(model.score_samples(K), alone.score_samples(K[:, :60]), rtol=1e-12)
    with pytest.raises(ValueError, match="OCSVM: labelled outliers need a kernel of rows, got kernel='precomputed'"):
        OCSVM(kernel="precomputed").fit(K, Y)


def test_no_fold_of_any_splitter_learns_from_outliers():
    """`OneClassKFold` leaves them out; with any other splitter a classifier that ignores them does."""
    for folds in (OneClassKFold(4), KFold(4, shuffle=True, random_state=0)):
        expected = []
        for train, test in folds.split(X, Y):
            model = VAAKELM().fit(X[train[Y[train] == 1]])
            expected.append(SCORERS["auroc"](model, X[test], Y[test]))
        ignoring = VAAKELM(known_outliers="ignore")
        np.testing.assert_allclose(cross_val_score(ignoring, X, Y, cv=folds, scoring=SCORERS["auroc"]), expected)

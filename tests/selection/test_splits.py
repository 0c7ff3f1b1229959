import numpy as np
import pytest

from oneclass.selection import OneClassGroupKFold, OneClassKFold, RepeatedOneClassKFold

X = np.zeros((53, 2))
Y = np.repeat([1, -1], [40, 13])
GROUPS = np.random.default_rng(0).integers(0, 9, 53)
SPLITTERS = [OneClassKFold(4), RepeatedOneClassKFold(4, n_repeats=3), OneClassGroupKFold(4)]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda s: type(s).__name__)
def test_outliers_are_validated_but_never_trained_on(splitter):
    validated = np.zeros(53)
    folds = list(splitter.split(X, Y, GROUPS))
    for train, test in folds:
        assert (Y[train] == 1).all()
        assert not np.intersect1d(train, test).size
        validated[test] += 1
    assert len(folds) == splitter.get_n_splits()
    np.testing.assert_array_equal(validated, len(folds) / 4)


@pytest.mark.parametrize("splitter", SPLITTERS[:2], ids=lambda s: type(s).__name__)
def test_every_fold_has_its_share_of_outliers(splitter):
    assert {int(np.sum(Y[test] == -1)) for _, test in splitter.split(X, Y)} <= {3, 4}


def test_without_labels_all_rows_are_targets():
    for train, test in OneClassKFold(4).split(X):
        assert len(train) + len(test) == 53


def test_folds_are_the_same_every_time_unless_asked_otherwise():
    once, again = (list(OneClassKFold().split(X, Y)) for _ in range(2))
    other = list(OneClassKFold(random_state=1).split(X, Y))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(once, again, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(once, other, strict=True))


def test_repetitions_differ():
    folds = [test.tolist() for _, test in RepeatedOneClassKFold(2, n_repeats=2).split(X, Y)]
    assert folds[:2] != folds[2:]


def test_no_group_is_on_both_sides():
    for train, test in OneClassGroupKFold(4).split(X, Y, GROUPS):
        assert not np.intersect1d(GROUPS[train], GROUPS[test]).size


def test_labels_of_any_kind_are_understood():
    words = np.where(Y == 1, "cat", "dog")
    expected = [test.tolist() for _, test in OneClassKFold().split(X, Y)]
    assert [test.tolist() for _, test in OneClassKFold(target="cat").split(X, words)] == expected


@pytest.mark.parametrize("n_splits", [1, 41, 2.5, True])
def test_a_number_of_folds_that_the_targets_cannot_fill_is_refused(n_splits):
    with pytest.raises(
        ValueError,
        match=rf"OneClassKFold: n_splits must be .* to the number of targets, 40 of n_samples=53; got {n_splits}",
    ):
        next(OneClassKFold(n_splits).split(X, Y))


def test_groups_must_be_given_and_enough():
    with pytest.raises(ValueError, match="OneClassGroupKFold: groups must be given"):
        next(OneClassGroupKFold().split(X, Y))
    with pytest.raises(ValueError, match="number of groups of targets 2, got 5"):
        next(OneClassGroupKFold().split(X, Y, np.arange(53) % 2))

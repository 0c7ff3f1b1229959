import tracemalloc
from itertools import product

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from oneclass import OCRF
from oneclass.baselines import ocrf
from oneclass.baselines.ocrf import _Seen
from oneclass.core.outliers import OutlierGenerator
from oracle.held_out import losses_held_out


def test_the_marginal_histogram_is_the_complement_of_the_targets():
    random = np.random.default_rng(0)
    Z = np.column_stack([random.normal(size=500), random.exponential(size=500)])
    generator = OutlierGenerator.of(Z, enlargement=1.2, n_bins=50)
    drawn = generator.draw(200_000, np.array([0, 1]), np.random.RandomState(0))
    for j in range(2):
        low, high = Z[:, j].min(), Z[:, j].max()
        reach = 0.6 * (high - low)
        edges = np.linspace((low + high) / 2 - reach, (low + high) / 2 + reach, 51)
        counts = np.histogram(Z[:, j], edges)[0]
        chances = (counts.max() - counts) / (counts.max() - counts).sum()
        assert drawn[:, j].min() >= edges[0]
        assert drawn[:, j].max() <= edges[-1]
        observed = np.histogram(drawn[:, j], edges)[0]
        spread = np.sqrt(200_000 * chances * (1 - chances))
        assert (np.abs(observed - 200_000 * chances) <= 5 * spread + 1e-9).all()
        assert observed[counts.argmax()] == 0


def test_values_are_uniform_inside_a_bin():
    generator = OutlierGenerator(np.array([[0.0, 1.0, 3.0]]), np.array([[0.0, 1.0]]))
    drawn = generator.draw(20_000, np.array([0]), np.random.RandomState(0))[:, 0]
    np.testing.assert_allclose(np.quantile(drawn, [0.25, 0.5, 0.75]), [1.5, 2.0, 2.5], atol=0.03)


def test_features_are_drawn_independently():
    t = np.random.default_rng(0).normal(size=(400, 1))
    generator = OutlierGenerator.of(np.hstack([t, t]), enlargement=1.2, n_bins=50)
    drawn = generator.draw(20_000, np.array([0, 1]), np.random.RandomState(0))
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.03


def test_a_constant_feature_has_outliers_beside_its_value():
    generator = OutlierGenerator.of(np.full((20, 1), 7.0), enlargement=1.2, n_bins=50)
    drawn = generator.draw(1000, np.array([0]), np.random.RandomState(0))[:, 0]
    assert 6.4 <= drawn.min() < 6.5
    assert 7.5 < drawn.max() <= 7.6
    assert (np.abs(drawn - 7.0) > 1e-9).all()


def test_targets_everywhere_alike_have_outliers_everywhere_alike():
    generator = OutlierGenerator.of(np.arange(50.0)[:, None], enlargement=1.0, n_bins=50)
    np.testing.assert_allclose(generator.chances, 1 / 50)


@pytest.fixture
def grown(monkeypatch):
    """The trees that scikit-learn grows, as it grows them."""
    trees = []

    class Recorded(DecisionTreeClassifier):
        def fit(self, X, y):
            trees.append(super().fit(X, y))
            return self

    monkeypatch.setattr(ocrf, "DecisionTreeClassifier", Recorded)
    return trees


def vote(tree, rows):
    """The share of outliers in each row's leaf, and a millionth of its size where there are no others in it."""
    share, size = tree.predict_proba(rows)[:, 1], tree.tree_.n_node_samples
    return share + (share == 1) * 1e-6 * size[tree.apply(rows)] / size[0]


def test_trees_look_at_subspaces_and_bootstrap_samples(grown):
    X = np.random.default_rng(0).normal(size=(40, 15))
    model = OCRF(n_estimators=8, random_state=0).fit(X)
    assert {len(tree.features) for tree in model.trees_} == {10}
    assert len({tuple(sorted(tree.features)) for tree in model.trees_}) > 1
    assert all(len(tree.bag) == 40 for tree in model.trees_)
    assert [tree.tree_.n_node_samples[0] for tree in grown] == [440] * 8


@pytest.mark.parametrize("leaf", [1, 5])
def test_trees_vote_as_the_trees_that_scikit_learn_has_grown(grown, leaf):
    X = np.random.default_rng(0).normal(size=(60, 12)).astype(np.float32)
    model = OCRF(n_estimators=5, scale=False, min_samples_leaf=leaf).fit(X)
    for tree, own in zip(grown, model.trees_, strict=True):
        rows = np.repeat(np.random.default_rng(1).normal(size=(500, 12)).astype(np.float32), 2, axis=0)
        splits = np.flatnonzero(tree.tree_.children_left >= 0)[:300]
        # Values that are the thresholds themselves, or the next ones above.
        edges = tree.tree_.threshold[splits].astype(np.float32)
        columns = own.features[tree.tree_.feature[splits]]
        rows[np.arange(len(splits)), columns] = edges
        rows[np.arange(len(splits)) + 500, columns] = np.nextafter(edges, np.float32(np.inf))
        np.testing.assert_array_equal(own.votes(rows), vote(tree, rows[:, own.features]))


def test_a_row_is_scored_by_the_trees_that_did_not_learn_from_it(grown):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = OCRF(n_estimators=30, scale=False, random_state=0).fit(X)
    held_out = losses_held_out(model, X)
    for i, x in enumerate(X):
        pairs = zip(grown, model.trees_, strict=True)
        votes = [vote(tree, x[None, own.features])[0] for tree, own in pairs if i not in own.bag]
        assert held_out[i] == pytest.approx(np.mean(votes))
        assert -model.score_samples(x[None])[0] == pytest.approx(np.mean(votes))


def test_new_rows_are_scored_by_all_trees(grown, rows, fresh):
    model = OCRF(n_estimators=10, scale=False, random_state=0).fit(rows)
    votes = [vote(tree, fresh[:, own.features]) for tree, own in zip(grown, model.trees_, strict=True)]
    np.testing.assert_allclose(-model.score_samples(fresh), np.mean(votes, axis=0))


def test_half_is_the_majority_of_unpruned_trees(grown, rows, fresh):
    model = OCRF(threshold="half", n_estimators=25, scale=False, random_state=0).fit(rows)
    pairs = zip(grown, model.trees_, strict=True)
    votes = np.mean([tree.predict(fresh[:, own.features]) for tree, own in pairs], axis=0)
    assert model.offset_ == -0.5
    assert np.array_equal(model.predict(fresh) == -1, votes > 0.5)
    assert all((tree.tree_.impurity[tree.tree_.children_left < 0] == 0).all() for tree in grown)


def test_oob_is_another_word_for_loo(rows):
    thresholds = [
        OCRF(threshold=word, n_estimators=10, random_state=0).fit(rows).offset_ for word in ("oob", "held_out")
    ]
    assert thresholds[0] == thresholds[1]


def test_the_forest_does_not_depend_on_the_number_of_threads(rows, fresh):
    scores = [OCRF(n_estimators=10, n_jobs=j, random_state=0).fit(rows).score_samples(fresh) for j in (1, 2)]
    assert np.array_equal(scores[0], scores[1])


def test_the_corner_between_two_stripes_is_rejected():
    # Each feature alone is unsuspicious at (0, 0): only the joint view of a tree can tell.
    random = np.random.default_rng(0)
    side = random.choice([-2.0, 2.0], size=(300, 1))
    X = np.hstack([side, side]) + 0.2 * random.normal(size=(300, 2))
    model = OCRF(n_estimators=50, random_state=0).fit(X)
    assert model.predict([[2.0, 2.0], [2.0, -2.0]]).tolist() == [1, -1]


def test_training_rows_are_recognised_by_equality_only():
    X = np.array(list(product([-1.0, 0.0, 1.0, 2.0], repeat=5)))
    bags = [np.array([0, 3, 3]), np.arange(500, 1000), np.arange(0, 1024, 7)]
    expected = np.stack([np.isin(np.arange(1024), bag) for bag in bags])
    assert np.array_equal(_Seen.of(X, bags)(X), expected)
    assert np.array_equal(_Seen.of(X, bags)(np.where(X == 0, -0.0, X)), expected)
    assert not _Seen.of(X, bags)(X + 1e-15).any()


@pytest.mark.parametrize("scale", ["zscore", "robust", False])
def test_values_beyond_single_precision_are_scored_like_its_largest(rows, scale):
    model = OCRF(n_estimators=20, scale=scale, random_state=0).fit(rows)
    Z = np.repeat(rows[:1], 4, axis=0)
    Z[:, 1] = [1e30, 1e39, 1e200, -1e39]
    scores = model.score_samples(Z)
    assert (scores[1:3] == scores[0]).all()


def test_scoring_takes_a_few_blocks_of_memory_however_many_rows_there_are(rows, monkeypatch):
    monkeypatch.setattr("oneclass.core.arrays._HOST_PRODUCT", 1 << 20)
    model = OCRF(n_estimators=40, random_state=0).fit(rows)
    Z = np.random.default_rng(0).normal(size=(20_000, 3))
    expected = np.concatenate([model.score_samples(Z[a : a + 7000]) for a in range(0, 20_000, 7000)])
    tracemalloc.start()
    try:
        scores = model.score_samples(Z)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(scores, expected)
    assert peak < (4 << 20) + 4 * Z.nbytes < 40 * 20_000 * 8


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_all_trees_vote_out_do_not_tie_with_held_out_ones(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 200)
    ring = 3 * np.c_[np.cos(angle), np.sin(angle)] + 0.3 * rng.normal(size=(200, 2))
    model = OCRF(n_estimators=60, delta=0.02, random_state=seed).fit(ring)
    assert np.mean(model.held_out_scores_ <= -1) > 0.02  # as many targets as may be rejected, or more
    assert (model.predict([[0.0, 0.0], [8.0, 8.0], [9.0, -9.0]]) == -1).any()
    half = OCRF(n_estimators=60, threshold="half", random_state=seed).fit(ring)
    assert half.score_samples([[8.0, 8.0]]) == -1  # votes alone, as in the original method


def test_no_forest_is_grown_that_the_threshold_does_not_need(rows, monkeypatch):
    grown = []
    learn = OCRF._learn
    monkeypatch.setattr(OCRF, "_learn", lambda self, training: grown.append(len(training.Z)) or learn(self, training))
    groups = np.arange(len(rows)) // 4
    model = OCRF(n_estimators=3, delta=0.2, threshold="train", random_state=0).fit(rows, groups=groups)
    assert grown == [len(rows)]
    with pytest.raises(ValueError, match="fit with threshold='held_out'"):
        model.p_value(rows)
    assert model.set_params(threshold="held_out").fit(rows, groups=groups).p_value(rows).shape == (len(rows),)
    assert len(grown) == 1 + 1 + 5


@pytest.mark.parametrize("scale", ["zscore", "robust", False])
def test_one_huge_value_among_many_columns_has_the_smallest_p_value(scale):
    X = np.random.default_rng(0).normal(size=(150, 12))
    model = OCRF(n_estimators=10, scale=scale).fit(X)
    far = np.concatenate([X[:12] + 1e5 * np.eye(12), X[:12] - 1e300 * np.eye(12)])
    np.testing.assert_allclose(model.p_value(far), 1 / 151)


def test_heavy_tails_have_next_to_no_rows_beyond_the_reach_of_votes():
    rng = np.random.default_rng(0)
    forest = OCRF(n_estimators=1).fit(rng.standard_cauchy((100, 3)))
    fresh = rng.standard_cauchy((100_000, 3))
    assert np.mean(forest.score_samples(fresh) < -1 - 1e-6) < 1e-3

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oneclass.core.arrays import to_numpy
from oneclass.core.clusters import Splits, assign, kmeans, lloyd, one_hot
from oracle.comparison import assert_agree
from oracle.equations import euclidean, repeat
from oracle.problems import problems


def partition(labels):
    """Which rows share a cluster, independent of the cluster numbers."""
    labels = to_numpy(labels)
    return labels[:, None] == labels[None, :]


def clustered(X, w, k):
    return assign(X, kmeans(X, w, k))


@given(problem=problems())
def test_every_row_is_nearest_to_its_centre_and_every_centre_is_the_mean_of_its_rows(xp, problem):
    X, w = xp.asarray(problem.X), xp.asarray(problem.w)
    centres = to_numpy(kmeans(X, w, 3))
    labels = to_numpy(assign(X, xp.asarray(centres)))
    for x, label in zip(problem.X, labels, strict=True):
        assert euclidean(x, centres[label]) == pytest.approx(min(euclidean(x, c) for c in centres))
    for p in range(len(centres)):
        mine = labels == p
        assert_agree(centres[p], np.average(problem.X[mine], axis=0, weights=problem.w[mine]))


@given(problem=problems(), k=st.integers(1, 4))
def test_centres_come_with_the_clusters_that_they_make(xp, problem, k):
    X, w = xp.asarray(problem.X), xp.asarray(problem.w)
    centres, labels = lloyd(X, w, Splits(X, w).seeds(k))
    np.testing.assert_array_equal(to_numpy(labels), to_numpy(assign(X, centres)))


def principal_direction_of_a_cut(X, w, n_iter=30):
    """The plain power method, normalised at every step, from the spreads and the skewness."""
    centred = X - np.average(X, axis=0, weights=w)
    norms = w * np.sqrt((centred**2).sum(axis=1))
    v = np.sqrt(w @ centred**2) + norms @ centred
    for _ in range(n_iter):
        v = centred.T @ (w * (centred @ v))
        v /= np.linalg.norm(v)
    return centred @ v > 0


@pytest.mark.parametrize("shape", [(60, 3), (30, 80), (81, 40)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_two_seeds_are_the_means_of_either_side_of_the_principal_direction(xp, shape, dtype):
    rng = np.random.default_rng(3)
    X, w = rng.exponential(size=shape), rng.integers(1, 4, shape[0]).astype(float)
    side = principal_direction_of_a_cut(X, w)
    expected = [np.average(X[s], axis=0, weights=w[s]) for s in (side, ~side)]
    given = (xp.asarray(A.astype(dtype)) for A in (X, w))
    np.testing.assert_allclose(to_numpy(Splits(*given).seeds(2)), expected, rtol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_as_many_clusters_as_asked_for(k):
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert kmeans(X, np.ones(40), k).shape == (k, 2)


@given(X=hnp.arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=st.integers(-2, 2)))
def test_enough_clusters_hold_one_distinct_row_each(X):
    distinct = np.unique(X, axis=0)
    centres = kmeans(X, np.ones(len(X)), 2 * len(X))
    assert_agree(np.unique(centres.round(12), axis=0), distinct)


@given(problem=problems(), k=st.integers(1, 4))
def test_weights_cluster_as_repeated_rows_do(xp, problem, k):
    labels = clustered(xp.asarray(problem.X), xp.asarray(problem.w), k)
    rows = xp.asarray(repeat(problem.X, problem.w))
    repeated = clustered(rows, xp.ones(rows.shape[0], dtype=xp.float64), k)
    np.testing.assert_array_equal(partition(xp.asarray(repeat(to_numpy(labels), problem.w))), partition(repeated))


@given(problem=problems(), k=st.integers(1, 4))
def test_clusters_do_not_depend_on_the_order_of_rows_or_features(problem, k):
    n, d = problem.X.shape
    rng = np.random.default_rng(0)
    rows, features = rng.permutation(n), rng.permutation(d)
    shuffled = clustered(problem.X[rows][:, features], problem.w[rows], k)
    np.testing.assert_array_equal(partition(clustered(problem.X, problem.w, k)[rows]), partition(shuffled))


LINE = np.arange(9.0)
MIRRORED = np.random.default_rng(0).normal(size=(30, 3))
SYMMETRIC = {
    "grid": np.array(list(product(LINE, repeat=2))),
    "lattice": np.array(list(product(range(3), repeat=4)), dtype=float),
    "corners": np.array(list(product([-1.0, 1.0], repeat=6))),
    "cross": np.concatenate([np.eye(5), -np.eye(5)]),
    "falling line": np.column_stack([LINE, -LINE]),
    "mirrored": np.concatenate([MIRRORED, -MIRRORED]),
}
symmetric = pytest.mark.parametrize("X", SYMMETRIC.values(), ids=SYMMETRIC.keys())


def z_scores(X):
    """Rounded otherwise when the rows come in another order."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


@symmetric
@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_clusters_of_symmetric_rows_do_not_depend_on_their_order(xp, X, k, dtype):
    for scaled in (np.asarray, z_scores):
        expected = partition(
            clustered(xp.asarray(scaled(X.astype(dtype))), xp.ones(len(X), dtype=getattr(xp, dtype.__name__)), k)
        )
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(X))
            Z = xp.asarray(scaled(X.astype(dtype)[order]))
            found = partition(clustered(Z, xp.ones(len(X), dtype=Z.dtype), k))
            np.testing.assert_array_equal(found, expected[order][:, order])


@symmetric
@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_weights_cluster_symmetric_rows_as_repeats_do(xp, X, k):
    w = np.random.default_rng(0).integers(1, 3, len(X))
    w[: len(X) // 2] = w[len(X) // 2 : len(X) // 2 * 2][::-1]  # symmetric too
    labels = to_numpy(clustered(xp.asarray(X), xp.asarray(w.astype(float)), k))
    copies = xp.asarray(np.repeat(X, w, axis=0))
    repeated = clustered(copies, xp.ones(copies.shape[0], dtype=xp.float64), k)
    np.testing.assert_array_equal(partition(xp.asarray(np.repeat(labels, w))), partition(repeated))


@pytest.mark.parametrize("far", [-1e6, 1e6])
def test_one_far_row_among_many_is_a_separate_cluster(xp, far):
    X = xp.asarray(np.concatenate([np.full((1, 2), far), np.repeat(np.eye(2), 4000, axis=0)]), dtype=xp.float32)
    labels = to_numpy(clustered(X, xp.ones(8001, dtype=xp.float32), 2))
    assert np.all(labels[1:] != labels[0])


def test_rows_far_from_the_origin_go_to_the_nearest_centre(xp):
    rng = np.random.default_rng(0)
    X, centres = 2.0**27 + rng.normal(size=(200, 3)), 2.0**27 + rng.normal(size=(7, 3))
    expected = np.argmin(((X[:, None] - centres[None]) ** 2).sum(axis=2), axis=1)
    np.testing.assert_array_equal(to_numpy(assign(xp.asarray(X), xp.asarray(centres))), expected)


def test_a_row_between_two_centres_goes_to_the_first(xp):
    centres = np.array([[3.0, 1.0], [0.1, 0.7], [0.7, 0.1]])
    middle = np.array([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], [0.3, 0.3]])  # 0.1 + 0.2 is more than 0.3
    np.testing.assert_array_equal(to_numpy(assign(xp.asarray(middle), xp.asarray(centres))), [1, 1, 1])
    np.testing.assert_array_equal(to_numpy(assign(xp.asarray(middle), xp.asarray(centres[[2, 1, 0]]))), [0, 0, 0])


def test_separated_groups_are_found():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 10)
    X = 20.0 * np.array([[0, 0], [0, 1], [1, 0], [3, 3]])[groups] + rng.normal(size=(40, 2))
    np.testing.assert_array_equal(partition(clustered(X, np.ones(40), 4)), partition(groups))


def test_membership_is_one_hot(xp):
    labels = xp.asarray(np.array([2, 0, 2]))
    assert_agree(one_hot(labels, 3, xp.ones(3, dtype=xp.float64)), [[0, 0, 1], [1, 0, 0], [0, 0, 1]], 0)

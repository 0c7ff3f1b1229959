import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path
from scipy.spatial.distance import cdist

from oneclass import MSTDetector
from oneclass.baselines._tree import Segments, on_longest_paths, spanning_tree


def distance_to_segment(z, a, b):
    """The slow way: project on the line, stop at the ends."""
    length = np.dot(b - a, b - a)
    t = min(1.0, max(0.0, np.dot(z - a, b - a) / length)) if length > 0 else 0.0
    return np.linalg.norm(z - a - t * (b - a))


def clumps(n, d, *, apart, seed=0):
    """Clumps of up to thirty rows, around places some distance apart."""
    random = np.random.default_rng(seed)
    places = apart * random.normal(size=(-(-n // 30), d))
    return places[np.arange(n) % len(places)] + random.normal(size=(n, d))


@pytest.mark.parametrize("d", [1, 2, 7, 20])
@pytest.mark.parametrize("apart", [0.0, 10.0, 1e8])
@pytest.mark.parametrize("length", [1e-3, 1.0, 30.0])
def test_segment_distances_match_a_loop_over_rows_and_edges(d, apart, length, monkeypatch):
    monkeypatch.setattr("oneclass.core.arrays.HOST_BLOCK", 1000)  # several blocks
    random = np.random.default_rng(d)
    A = clumps(90, d, apart=apart)
    B = A + length * random.exponential(size=(90, 1)) ** 3 * random.normal(size=(90, d))
    A[3] = B[3]  # a segment without length
    B[4] = A[70]  # from place to place
    Z = np.concatenate(
        [A[:20] + random.normal(size=(20, d)), (A + B)[:10] / 2, A[:5], 1e9 * random.normal(size=(5, d))]
    )
    expected = [min(distance_to_segment(z, a, b) for a, b in zip(A, B, strict=True)) for z in Z]
    rounding = 1e-15 * np.sqrt(d) * np.abs([A, B]).max()
    np.testing.assert_allclose(np.linalg.norm(Segments(A, B).gaps(Z), axis=1), expected, rtol=1e-12, atol=rounding)


@pytest.mark.parametrize(("n", "d"), [(2, 1), (30, 1), (100, 2), (150, 10)])
def test_the_tree_weighs_as_much_as_scipys(n, d, monkeypatch):
    monkeypatch.setattr("oneclass.core.arrays.HOST_BLOCK", 4000)
    V = np.random.default_rng(n).normal(size=(n, d))
    edges, lengths = spanning_tree(V)
    assert len(edges) == n - 1
    np.testing.assert_allclose(np.sort(lengths), np.sort(minimum_spanning_tree(cdist(V, V)).data), rtol=1e-9)
    np.testing.assert_allclose(lengths, np.linalg.norm(V[edges[:, 0]] - V[edges[:, 1]], axis=1), rtol=1e-12)


@pytest.mark.parametrize("apart", [0.1, 10.0, 1e8])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (12, 12), (300, 1), (300, 2), (300, 5), (300, 12)])
def test_the_tree_is_minimal_however_far_clumps_are_apart(n, d, apart):
    V = clumps(n, d, apart=apart)
    edges, lengths = spanning_tree(V)
    assert connected_components(coo_array((lengths, edges.T), shape=(n, n)), directed=False)[0] == 1
    np.testing.assert_allclose(np.sort(lengths), np.sort(minimum_spanning_tree(cdist(V, V)).data), rtol=1e-12)


def test_lengths_that_underflow_are_edges():
    assert len(spanning_tree(1e-170 * np.arange(30.0)[:, None])[0]) == 29


def test_equal_distances_still_make_a_tree():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    edges, lengths = spanning_tree(grid)
    assert len(edges) == 35
    assert (lengths == 1).all()


def test_every_third_edge_of_a_comb_is_on_its_longest_path():
    # A spine 0-1-2-3 along x with a long tooth at either end and a short one inside.
    V = np.array([[0.0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [3, 1], [1, 0.5]])
    edges, lengths = spanning_tree(V)
    kept = edges[on_longest_paths(edges, lengths, 1)]
    assert sorted(map(tuple, np.sort(kept, axis=1))) == [(0, 1), (0, 4), (1, 2), (2, 3), (3, 5)]
    assert on_longest_paths(edges, lengths, 3).all()


@pytest.mark.parametrize("n_paths", [1, 2, 7, 20])
def test_longest_paths_are_the_longest_over_all_pairs_of_leaves(n_paths):
    V = np.random.default_rng(0).normal(size=(60, 2))
    edges, lengths = spanning_tree(V)
    D = shortest_path(coo_array((lengths, edges.T), shape=(60, 60)), directed=False)
    leaves = [v for v in range(60) if (edges == v).sum() == 1]
    pairs = sorted(((D[i, j], i, j) for i in leaves for j in leaves if i < j), reverse=True)[:n_paths]

    def visits(pair, v):
        length, i, j = pair
        return abs(D[i, v] + D[v, j] - length) < 1e-9

    expected = [any(visits(pair, a) and visits(pair, b) for pair in pairs) for a, b in edges]
    assert np.array_equal(on_longest_paths(edges, lengths, n_paths), expected)


def test_all_paths_are_the_whole_tree():
    edges, lengths = spanning_tree(np.random.default_rng(0).normal(size=(60, 2)))
    assert on_longest_paths(edges, lengths, 1000).all()


def test_copies_are_edges_of_length_zero():
    rows = np.array([[0.0], [0.0], [0.0], [2.0], [5.0]])
    model = MSTDetector(threshold="train", scale=False, delta=0.0).fit(rows)
    np.testing.assert_allclose(model.lengths_, [0, 0, 2, 3])
    np.testing.assert_allclose(model.score_samples([[1.0], [6.0]]), [0.0, -1.0])


@pytest.mark.parametrize(("delta", "entry"), [(0.0, 4), (0.25, 3), (0.5, 2), (0.9, 1)])
def test_train_is_an_entry_of_the_sorted_edge_lengths(delta, entry):
    rows = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
    model = MSTDetector(threshold="train", scale=False, delta=delta).fit(rows)
    assert -model.offset_ == [1.0, 2.0, 3.0, 4.0][entry - 1]


def test_a_stray_is_left_out_of_the_tree_and_rejected():
    rows = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)), [[20.0, 0.0]]])
    assert MSTDetector(scale=False).fit(rows).predict([[20.0, 0.0]]) == -1
    assert MSTDetector(scale=False, threshold="train").fit(rows).predict([[20.0, 0.0]]) == 1


def test_fewer_paths_describe_less():
    rows = np.random.default_rng(0).normal(size=(80, 2))
    losses = [-MSTDetector(n_paths=n).fit(rows).score_samples(rows) for n in (1, 5)]
    assert (losses[1] <= losses[0] + 1e-12).all()
    assert losses[1].mean() < losses[0].mean()


@pytest.mark.parametrize("scale", ["zscore", "robust", False])
@pytest.mark.parametrize("threshold", ["held_out", "train"])
@pytest.mark.parametrize("kinds", [2, 5])
def test_rows_of_a_few_kinds_are_accepted_and_rows_of_other_kinds_are_not(kinds, threshold, scale):
    X = np.eye(5)[np.random.default_rng(0).integers(kinds, size=100)]
    model = MSTDetector(scale=scale, threshold=threshold).fit(X)
    assert (model.predict(X) == 1).all()
    assert (model.predict(X + 1e-6) == -1).all()
    assert (model.predict([[1.0, 1, 1, 1, 1], [0.0, 0, 0, 0, 0]]) == -1).all()


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.parametrize("far", [3.0, 100.0])
def test_a_row_given_many_times_is_no_stray(far):
    others = np.random.default_rng(0).normal(size=(70, 2))
    X = np.concatenate([np.full((30, 2), far), others])
    model = MSTDetector(scale=False).fit(X)
    assert (model.predict(X[:30]) == 1).all()
    # As near to the tree as without them: the rule for all other rows is that of the tree of the others.
    assert -model.offset_ < 2 * -MSTDetector(scale=False).fit(others).offset_
    assert (model.predict([[-far - 3, -far - 3]]) == -1).all()


def test_a_row_given_twice_among_strays_stands_by_itself():
    # 0 and 0.1 and so on up to 4, an isolated row at 8, and a row at 20 that occurs twice.
    X = np.concatenate([np.arange(41) / 10, [8.0, 20.0, 20.0]])[:, None]
    model = MSTDetector(scale=False).fit(X)
    assert (model.edges_[:, 0] == model.edges_[:, 1]).sum() == 1
    assert model.score_samples([[20.0], [8.0], [19.0]]) == pytest.approx([0.0, -4.0, -1.0])


@pytest.mark.parametrize(("delta", "entry"), [(0.0, 4), (0.25, 3), (0.5, 2)])
def test_the_authors_rule_reads_the_lengths_of_edges_and_rejects_at_one_of_them(delta, entry):
    rows = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
    model = MSTDetector(threshold="authors", scale=False, delta=delta).fit(rows)
    length = [1.0, 2.0, 3.0, 4.0][entry - 1]
    assert model.predict([[10 + 0.999 * length], [10 + length]]).tolist() == [1, -1]
    assert (model.predict(rows) == 1).all()

import numpy as np
import pytest
from scipy.sparse.csgraph import laplacian
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import kneighbors_graph

from oneclass import VAAKELM, VOCKELM, knn_laplacian, scatter_laplacian
from oracle.comparison import assert_agree


@pytest.mark.parametrize("normalized", [False, True])
def test_a_binary_graph_is_scikit_learns_and_its_laplacian_scipys(rows, normalized):
    graph = kneighbors_graph(rows, 4).toarray()
    expected = laplacian(np.maximum(graph, graph.T), normed=normalized)
    found = knn_laplacian(rows, 4, weights="binary", normalized=normalized, scale=False)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("weights", ["heat", "binary"])
def test_the_form_is_the_sum_over_edges_of_squared_differences(rows, weights):
    L = knn_laplacian(rows, 3, weights=weights)
    outputs = np.random.default_rng(0).normal(size=len(rows))
    edges = [-L[i, j] * (outputs[i] - outputs[j]) ** 2 for i in range(len(rows)) for j in range(i)]
    assert outputs @ L @ outputs == pytest.approx(sum(edges))


def test_heat_falls_with_length_and_units_have_no_say(rows):
    L = knn_laplacian(rows, 3, scale="zscore")
    Z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    lengths = np.linalg.norm(Z[:, None] - Z, axis=2)
    edges = np.argwhere(np.triu(L, 1) < 0)
    weights, along = -L[tuple(edges.T)], lengths[tuple(edges.T)]
    assert np.array_equal(np.argsort(weights), np.argsort(-along))
    for scale in ("zscore", "robust"):
        given, other = (knn_laplacian(X, 3, scale=scale) for X in (rows, rows * [1.0, 1e3, 1e-3, 7.0]))
        assert_agree(other, given, 1e-9)


def test_the_scatter_of_labels_is_that_of_discriminant_analysis(rows):
    labels = np.arange(60) % 3
    M = scatter_laplacian(labels)
    expected = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(rows, labels).covariance_
    np.testing.assert_allclose(rows.T @ M @ rows / 60, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("machine", [VOCKELM, VAAKELM], ids=lambda m: m.__name__)
def test_the_scatter_of_a_machines_own_clusters_is_its_subclass_variance(machine, rows, fresh):
    model = machine(variance="subclass", n_clusters=4).fit(rows)
    given = machine(variance=scatter_laplacian(model.cluster_labels_, shares="size")).fit(rows)
    assert_agree(given.score_samples(fresh), model.score_samples(fresh), 1e-8)


def test_the_scatter_of_one_group_is_the_class_variance_times_the_rows(rows, fresh):
    given = VAAKELM(variance=scatter_laplacian(np.zeros(60)) / 60).fit(rows)
    assert_agree(given.score_samples(fresh), VAAKELM(variance="class").fit(rows).score_samples(fresh), 1e-8)


@pytest.mark.parametrize("rows", [np.zeros((6, 2)), np.arange(3.0)[:, None], 1e150 * np.eye(4)], ids=len)
@pytest.mark.parametrize("normalized", [False, True])
def test_awkward_rows_have_a_laplacian(rows, normalized):
    L = knn_laplacian(rows, 2, normalized=normalized, scale=False)
    np.testing.assert_allclose(L, L.T)
    assert np.linalg.eigvalsh(L).min() > -1e-12


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda X: knn_laplacian(X, 60), "knn_laplacian: n_neighbors must be .* from 1 to n - 1 = 59, got 60"),
        (lambda X: knn_laplacian(X, 2.5), "knn_laplacian: n_neighbors must be .* got 2.5"),
        (lambda X: knn_laplacian(X, weights="cosine"), "knn_laplacian: weights must be one of .* got 'cosine'"),
        (lambda X: knn_laplacian(X, scale=True), "knn_laplacian: scale must be 'robust', 'zscore' or False; got True"),
        (lambda X: scatter_laplacian(X), r"scatter_laplacian: labels must be one label a row, got shape \(60, 4\)"),
        (lambda X: scatter_laplacian(X[:, 0], shares="n"), "scatter_laplacian: shares must be one of .* got 'n'"),
    ],
)
def test_errors_name_the_parameter_the_rule_and_the_value(call, rule, rows):
    with pytest.raises(ValueError, match=rule):
        call(rows)

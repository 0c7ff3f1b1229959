import numpy as np
import pytest

from oneclass.core.embedding import Scatter
from oneclass.core.kernels import RBF
from oneclass.core.leave_out import Embedded, leave, leave_one_by_one
from oracle.comparison import assert_agree

N = 14
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
K = RBF(1.5)(X, X)
LABELS = np.array([3, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0])  # the last cluster has one row
SCATTERS = {
    "own means": Scatter(weight=5.0),
    "global mean": Scatter(own_mean=False, weight=5.0),
    "class": Scatter(per_row=True, weight=20.0),
}
GROUPS = {
    "single rows": [[i] for i in range(N)],
    "pairs": [[0, 1], [2, 3], [4, 9]],
    "a cluster's worth": [[0, 2, 5, 8, 11]],
}


def scatter_matrix(w, labels, shares, *, own_mean):
    """M of weighted rows, one pair of rows and one cluster at a time."""
    M, everyone = np.zeros((N, N)), np.sum(w)
    for p in range(len(shares)):
        inside = w * (labels == p)
        if own_mean and inside.sum() > 0:
            M += shares[p] * (np.diag(inside) - np.outer(inside, inside) / inside.sum())
        elif not own_mean:
            J = np.eye(N) - np.outer(np.ones(N), w) / everyone
            M += shares[p] * J.T @ np.diag(inside) @ J
    return M


def refit(w, M, C, lam):
    Q = np.linalg.inv(C * np.diag(w) + M + lam * np.linalg.inv(K))
    return Q, C * Q @ (w[:, None] * X)


@pytest.mark.parametrize("emptied", [0, 2])
@pytest.mark.parametrize("C", [0.5, 30.0, 1e5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("name", list(SCATTERS))
def test_rows_left_out_of_errors_and_embedding_are_scored_as_by_refitting_without_them(
    xp, name, groups, weighted, C, emptied
):
    lam, places = 1.3, np.array(GROUPS[groups])
    w = RNG.integers(1, 4, N).astype(float) if weighted else np.ones(N)
    left = w[places] if places.shape[1] > 1 else np.minimum(w[places], 1.0)
    scatter = SCATTERS[name]
    labels = np.zeros(N, dtype=int) if scatter.per_row else LABELS
    membership = np.eye(labels.max() + 1 + emptied)[labels]  # clusters whose rows have all been forgotten come last
    sizes = w @ membership
    options = {"labels": labels, "shares": scatter.shares(sizes), "own_mean": scatter.own_mean}
    Q, F = refit(w, scatter_matrix(w, **options), C, lam)
    V = scatter.columns(sizes, w[:, None] * membership)
    columns = (sizes, membership, C * Q @ V, C * V.T @ Q @ V, V.T @ F)
    embedded = Embedded(scatter, C, *map(xp.asarray, columns))
    inside = np.stack([C * Q[np.ix_(g, g)] for g in places])
    E = np.eye(places.shape[1]) - inside * left[:, None, :]
    found = [leave(embedded, *map(xp.asarray, (places, left, E, inside, X[places], (X - F)[places])))]
    if groups == "single rows":
        single = X, X - F, inside[:, 0, 0], E[:, 0, 0], left[:, 0]
        one_by_one = leave_one_by_one(embedded, *map(xp.asarray, single))
        found.append((one_by_one[0][:, None, :], one_by_one[1][:, None]))
    for residuals, variances in found:
        for g, group in enumerate(places):
            without = w.copy()
            without[group] -= left[g]
            Q_without, F_without = refit(without, scatter_matrix(without, **options), C, lam)
            assert_agree(residuals[g, ...], (X - F_without)[group], 1e-7)
            assert_agree(variances[g, ...], C * np.diag(Q_without)[group], 1e-7)

import numpy as np
import pytest

from oneclass import KCentersDetector, KMeansDetector, KNNDetector, MSTDetector, PCADetector
from oracle.held_out import losses_held_out

MIX = np.random.default_rng(9).normal(size=(4, 3))

#: Rows that fill a plane: what they leave out has no variance.
PLANES = {
    "a constant feature": lambda A: np.column_stack([A, np.full(len(A), 0.3)]),
    "a large constant feature": lambda A: np.column_stack([A, np.full(len(A), 1e7 / 3)]),
    "collinear features": lambda A: np.column_stack([A, 3.7 * A[:, 0]]),
    "sums of features": lambda A: np.column_stack([A, A.sum(axis=1), A[:, 0] - A[:, 1]]),
    "mixtures of features": lambda A: np.column_stack([A, A @ MIX]),
    "one-hot features": lambda A: np.eye(4)[A.argmax(axis=1)],
    "features far from zero": lambda A: np.column_stack([A + 1e6, (A + 1e6).sum(axis=1)]),
}


def draw(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("scale", ["zscore", False])
@pytest.mark.parametrize("threshold", ["held_out", "train"])
@pytest.mark.parametrize(
    ("rows", "by_share"),
    [
        pytest.param(rows, by_share, id=f"{name}-{by_share}")
        for name, rows in PLANES.items()
        for by_share in (False, True)
        if not (by_share and "constant" in name)  # of a share, a direction that varies is left out
    ],
)
def test_rows_on_the_plane_are_accepted_and_rows_off_it_are_not(rows, by_share, threshold, scale):
    X = rows(draw(100, 0))
    kept = int(np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-6))
    model = PCADetector(n_components=0.999999 if by_share else kept, threshold=threshold, scale=scale).fit(X)
    assert model.n_components_ == kept
    on_plane = np.concatenate([X, rows(draw(500, 1)), rows(100 * draw(50, 2))])
    assert (model.score_samples(on_plane) == 0).all()
    assert (model.predict(on_plane) == 1).all()
    assert (model.p_value(on_plane) == 1).all()
    normal = np.linalg.svd(X - X.mean(axis=0))[2][kept:]
    off_plane = X + np.random.default_rng(3).choice([-1e-5, 1e-5], size=(100, len(normal))) @ normal
    assert (model.predict(off_plane) == -1).all()


@pytest.mark.parametrize("scale", ["zscore", "robust", False])
def test_rounding_is_no_direction_of_the_plane(scale):
    sums = np.where(np.random.default_rng(0).integers(2, size=(60, 3)), 0.3, 0.1 + 0.2)
    model = PCADetector(n_components=2, scale=scale).fit(sums)
    assert model.n_components_ == 0
    assert (model.predict(sums) == 1).all()
    assert (model.predict(sums + np.eye(3)[np.arange(60) % 3]) == -1).all()


def test_rounding_is_no_direction_of_the_planes_without_a_row_either():
    # Three features of which two are sums, one row off the plane: what the other rows leave of it is its loss.
    A = draw(40, 0)[:, :2]
    X = np.column_stack([A, A @ MIX[:2]])
    X[7] += np.linalg.svd(X)[2][-1]
    model = PCADetector(n_components=3, scale=False).fit(X)
    rest = PCADetector(n_components=3, scale=False, threshold="train").fit(np.delete(X, 7, axis=0))
    assert rest.n_components_ == 2
    assert losses_held_out(model, X)[7] == pytest.approx(-rest.score_samples(X[7:8])[0], rel=1e-9)


#: Classifiers that have a loss of zero for copies of a few rows.
POINTS = {
    "KMeansDetector": lambda **parameters: KMeansDetector(random_state=0, **parameters),
    "KCentersDetector": lambda **parameters: KCentersDetector(random_state=0, **parameters),
    "KNNDetector": lambda **parameters: KNNDetector(n_neighbors=3, **parameters),
    "MSTDetector": MSTDetector,
    "PCADetector": lambda **parameters: PCADetector(n_components=3, **parameters),
}


@pytest.mark.parametrize("shift", [0.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("n", [40, 3000])
@pytest.mark.parametrize("scale", ["zscore", "robust", False])
@pytest.mark.parametrize("make", POINTS.values(), ids=POINTS.keys())
def test_copies_of_a_few_rows_are_accepted_and_rows_beside_them_are_not(make, scale, n, shift):
    points = np.eye(4) / 3 + shift
    X = points[np.random.default_rng(0).integers(4, size=n)]
    model = make(scale=scale).fit(X)
    assert (model.score_samples(points) == 0).all()
    assert (model.predict(points) == 1).all()
    assert (model.predict(points + 1e-5) == -1).all()
    sums = points + 0.1 + 0.2 - 0.3  # the same points but for rounding
    assert (model.predict(sums) == 1).all()

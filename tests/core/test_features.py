import numpy as np
import pytest

from oneclass.core.arrays import to_numpy
from oneclass.core.features import FourierMap, NystromMap
from oneclass.core.kernels import RBF, Laplacian, Polynomial
from oracle.comparison import assert_agree

RNG = np.random.default_rng(0)
LANDMARKS = RNG.normal(size=(12, 3)) * 2
ROWS = RNG.normal(size=(40, 3)) * 2
KERNELS = {"rbf": RBF(sigma=1.5), "laplacian": Laplacian(sigma=3.0), "polynomial": Polynomial(degree=3)}


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.fixture(params=[False, True], ids=["plain", "whitened"])
def whiten(request):
    return request.param


def projected(kernel, Z):
    """The kernel's projection on the landmarks, K_zm K_mm^-1 K_mz."""
    F = kernel(Z, LANDMARKS)
    return F @ np.linalg.solve(kernel(LANDMARKS, LANDMARKS), F.T)


def test_inner_products_in_the_penalty_are_the_projected_kernel(xp, kernel, whiten):
    map = NystromMap.of(kernel, xp.asarray(LANDMARKS), whiten=whiten)
    F = to_numpy(map(xp.asarray(ROWS)))
    assert map.width == 12
    assert_agree(F @ np.linalg.solve(to_numpy(map.penalty), F.T), projected(kernel, ROWS), 1e-9)


def test_what_lies_outside_is_what_the_projection_leaves(xp, kernel, whiten):
    map = NystromMap.of(kernel, xp.asarray(LANDMARKS), whiten=whiten)

    def outside(Z):
        return to_numpy(map.outside(xp.asarray(Z), map(xp.asarray(Z))))

    size = float(np.max(kernel.diagonal(ROWS)))
    assert_agree(outside(ROWS) / size, (kernel.diagonal(ROWS) - np.diag(projected(kernel, ROWS))) / size, 1e-9)
    assert np.min(outside(ROWS)) >= 0
    assert np.max(outside(LANDMARKS)) <= 1e-11 * size
    if not isinstance(kernel, Polynomial):
        assert outside(ROWS + 1000.0) == pytest.approx(np.ones(40))


def test_coordinates_by_the_factor_of_the_penalty_are_orthonormal(xp, kernel):
    map = NystromMap.of(kernel, xp.asarray(LANDMARKS), whiten=False).whitened()
    F = map(xp.asarray(ROWS))
    assert map.triangular
    assert map.whitened() is map
    assert_agree(to_numpy(map.penalty), np.eye(12), 0)
    assert_agree(F @ F.T, projected(kernel, ROWS), 1e-9)
    assert map(xp.asarray(ROWS[:0])).shape == (0, 12)


def test_landmarks_that_say_the_same_are_whitened_into_fewer_directions(xp):
    twice = xp.asarray(np.vstack([LANDMARKS, LANDMARKS, LANDMARKS[:3] + 1e-12]))
    map = NystromMap.of(RBF(sigma=1.5), twice, whiten=True)
    F = map(xp.asarray(ROWS))
    assert F.shape == (40, 12)
    assert map.penalty.shape == (12, 12)
    assert_agree(F @ F.T, projected(RBF(sigma=1.5), ROWS), 1e-9)


def test_only_landmarks_that_are_alike_are_whitened(xp):
    apart = NystromMap.suited(Laplacian(sigma=3.0), xp.asarray(LANDMARKS))
    assert apart.whitening is None
    for landmarks in (np.vstack([LANDMARKS, LANDMARKS[:1] + 1e-7]), np.vstack([LANDMARKS, LANDMARKS])):
        assert NystromMap.suited(Laplacian(sigma=3.0), xp.asarray(landmarks)).whitening is not None
    single = NystromMap.suited(Laplacian(sigma=3.0), xp.asarray(LANDMARKS, dtype=xp.float32))
    assert single.whitening is not None


@pytest.mark.usefixtures("tiny_blocks")
def test_features_in_small_blocks_are_the_features(xp, kernel, whiten):
    map = NystromMap.of(kernel, xp.asarray(LANDMARKS), whiten=whiten)
    one_by_one = [to_numpy(map(xp.asarray(ROWS[i : i + 1]))) for i in range(40)]
    assert_agree(map(xp.asarray(ROWS)), np.vstack(one_by_one), 1e-13)


@pytest.mark.parametrize(
    ("kernel", "power"), [(RBF(sigma=3.0), 4), (Laplacian(sigma=5.0), 2)], ids=["rbf", "laplacian"]
)
def test_fourier_inner_products_are_the_kernel_within_five_standard_errors(xp, kernel, power):
    draws = 20_000
    map = FourierMap.of(kernel, 2 * draws, np.random.default_rng(0), xp.asarray(ROWS))
    F = to_numpy(map(xp.asarray(ROWS)))
    K = kernel(ROWS, ROWS)
    # A product is the mean of cos(w'(x - y)); its square has mean (1 + k(2x, 2y)) / 2, and k(2x, 2y) is a power of k.
    deviation = np.sqrt(np.clip((1 + K**power) / 2 - K**2, 0, None) / draws)
    assert np.all(np.abs(F @ F.T - K) <= 5 * deviation + 1e-12)
    assert np.quantile(K, 0.1) < 0.2 < 0.4 < np.quantile(K, 0.9)
    assert_agree(map.outside(xp.asarray(ROWS), xp.asarray(F)), np.zeros(40), 0)


@pytest.mark.parametrize(("m", "width"), [(1, 2), (2, 2), (7, 6), (100, 100)])
def test_fourier_features_come_in_pairs(xp, m, width):
    map = FourierMap.of(RBF(sigma=1.0), m, np.random.default_rng(0), xp.asarray(ROWS))
    assert map.width == map(xp.asarray(ROWS)).shape[1] == width
    assert_agree(map.penalty, np.eye(width), 0)

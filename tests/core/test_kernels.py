import numpy as np
import pytest

from oneclass.core.kernels import (
    RBF,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    UserKernel,
    values_among,
    values_in_blocks,
)
from oracle.comparison import assert_agree
from oracle.equations import kernel_matrix

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(7, 3)), RNG.normal(size=(5, 3))
KERNELS = {
    "rbf": RBF(sigma=1.7),
    "laplacian": Laplacian(sigma=1.7),
    "polynomial": Polynomial(),
    "linear": Linear(),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_is_its_printed_formula(xp, name):
    assert_agree(KERNELS[name](xp.asarray(X), xp.asarray(Y)), kernel_matrix(name, X, Y, 1.7), 1e-13)


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("name", KERNELS)
def test_small_blocks_give_the_same_kernel(xp, name):
    assert_agree(KERNELS[name](xp.asarray(X), xp.asarray(Y)), kernel_matrix(name, X, Y, 1.7), 1e-13)


@pytest.mark.parametrize("kernel", [*KERNELS.values(), UserKernel(lambda X, Y: X @ Y.T + 2.0)])
def test_kernel_diagonal_is_the_diagonal_of_the_matrix(xp, kernel):
    rows = np.random.default_rng(1).normal(size=(70, 3))  # more rows than a block of a user's kernel
    assert_agree(kernel.diagonal(xp.asarray(rows)), np.diag(kernel(rows, rows)), 1e-13)


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("name", KERNELS)
def test_values_in_blocks_are_those_of_the_kernel(xp, name):
    assert_agree(values_in_blocks(KERNELS[name], xp.asarray(X), xp.asarray(Y)), kernel_matrix(name, X, Y, 1.7), 1e-13)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [1, 300])
def test_values_among_rows_are_those_of_the_kernel(xp, name, n):
    Z = np.random.default_rng(n).normal(size=(n, 3))
    found = values_among(KERNELS[name], xp.asarray(Z))
    assert_agree(found, kernel_matrix(name, Z, Z, 1.7), 1e-13)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_radial_kernel_ignores_a_shift_of_all_rows(name):
    assert_agree(KERNELS[name](X + 1e6, Y + 1e6), KERNELS[name](X, Y), 1e-8)


def test_rbf_of_a_row_with_itself_is_one_however_far_from_the_origin():
    far = 1e8 + X
    assert_agree(np.diag(RBF(sigma=1.0)(far, far)), np.ones(len(X)), 1e-12)


def test_kernel_with_another_bandwidth_keeps_its_kind():
    assert RBF(sigma=1.0).with_sigma(2.0) == RBF(sigma=2.0)
    assert Laplacian(sigma=1.0).with_sigma("rms") == Laplacian(sigma="rms")


def test_precomputed_kernel_is_the_columns_of_the_training_rows():
    np.testing.assert_array_equal(Precomputed()(X, X[:2]), X[:, :2])


def test_precomputed_kernel_of_a_row_with_itself_is_unknown():
    with pytest.raises(ValueError, match="precomputed"):
        Precomputed().diagonal(X)


def test_user_kernel_of_the_wrong_shape_is_named():
    def similarity(X, Y):
        return X @ X.T

    with pytest.raises(ValueError, match=r"kernel similarity must return a matrix of shape \(7, 5\).*got \(7, 7\)"):
        UserKernel(similarity)(X, Y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_user_kernel_that_is_no_number_off_the_diagonal_is_named(xp, value):
    def similarity(X, Y):
        return xp.where(xp.abs(X @ Y.T) < 1e-3, xp.asarray(value), X @ Y.T)

    rows = xp.asarray(np.eye(3))
    with pytest.raises(ValueError, match="kernel similarity must return finite values"):
        UserKernel(similarity)(rows, rows)


@pytest.mark.parametrize("far", [1e4, 1e9, 1e12])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_values_of_a_row_do_not_depend_on_its_batch_mates(xp, name, dtype, far):
    rows, known = (xp.asarray(A.astype(dtype)) for A in (X, Y))
    mate = xp.asarray(np.array([[far, 0.0, 0.0]], dtype=dtype))
    alone = KERNELS[name](rows, known)
    together = KERNELS[name](xp.concat([rows, mate]), known)[:-1, :]
    assert_agree(together, alone, 20 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("spread", [1.0, 1e2, 1e4])
def test_single_precision_is_the_kernel_of_rows_however_spread(xp, spread):
    rows = (spread * X).astype(np.float32)
    exact = np.exp(-((rows[:, None].astype(float) - rows[None]) ** 2).sum(axis=2) / 2)
    assert_agree(RBF(sigma=1.0)(xp.asarray(rows), xp.asarray(rows)), exact, 1e-4)

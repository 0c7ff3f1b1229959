import numpy as np
import pytest

from oneclass.core.tridiagonal import Tridiagonal


@pytest.fixture(params=[2, 3, 40, 130])
def matrix(request):
    rng = np.random.default_rng(request.param)
    F = rng.normal(size=(request.param, request.param + 2))
    return F @ F.T


@pytest.fixture
def columns(matrix):
    return np.random.default_rng(0).normal(size=(len(matrix), 4))


def test_the_upper_triangle_is_not_read(matrix):
    np.testing.assert_array_equal(Tridiagonal(np.tril(matrix)).diagonal, Tridiagonal(matrix).diagonal)


def test_turned_and_turned_back_is_the_matrix_itself(matrix, columns):
    one = Tridiagonal(matrix)
    product = one.rotate(one.times(one.rotate(columns.copy())), back=True)
    np.testing.assert_allclose(product, matrix @ columns, atol=1e-11 * np.abs(matrix).sum())


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.5), (0.0, 2.0), (3.0, 1e-3)])
def test_shifted_systems_are_solved(matrix, columns, scale, shift):
    one = Tridiagonal(matrix)
    solved = one.rotate(one.solve(one.rotate(columns.copy()), scale=scale, shift=shift), back=True)
    system = scale * matrix + shift * np.eye(len(matrix))
    np.testing.assert_allclose(system @ solved, columns, atol=1e-9)


def test_a_system_that_is_not_positive_definite_says_so():
    with pytest.raises(np.linalg.LinAlgError, match="leading minor 1 is not positive"):
        Tridiagonal(np.eye(3)).solve(np.ones((3, 1)), scale=1.0, shift=-2.0)

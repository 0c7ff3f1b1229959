import numpy as np
import pytest
from hypothesis import given

from oneclass.core.arrays import to_numpy
from oneclass.core.embedding import Scatter, UserLaplacian, WithinVariance
from oracle.comparison import assert_agree
from oracle.equations import collapse
from oracle.problems import problems


@given(problem=problems())
def test_variance_matrix_is_the_printed_one_over_repeated_rows(xp, embedding, problem):
    build, printed = embedding
    w = xp.asarray(problem.w)
    expected = collapse(collapse(printed(problem), problem.w).T, problem.w)
    identity = xp.eye(len(problem.w), dtype=xp.float64)
    M = to_numpy(build(problem, w).laplacian(w) @ identity)
    assert_agree(np.eye(len(problem.w)) + M, np.eye(len(problem.w)) + expected, 1e-12)


@given(problem=problems())
def test_shrinkage_is_the_inverse_of_weights_plus_variance(xp, embedding, problem):
    build, _ = embedding
    w = xp.asarray(problem.w)
    n = len(problem.w)
    chosen = build(problem, w)
    shrink = chosen.shrink(w, C=problem.C)
    identity = xp.eye(n, dtype=xp.float64)
    expected = np.linalg.inv(np.diag(problem.w) + to_numpy(chosen.laplacian(w) @ identity) / problem.C)
    assert_agree(shrink @ identity, expected, 1e-11)
    assert_agree(shrink.diagonal(), np.diag(expected), 1e-11)


@pytest.mark.parametrize("own_mean", [True, False])
@pytest.mark.parametrize("weight", [0.0, 1.0, 1e4])
@given(problem=problems())
def test_images_of_shrunk_columns_are_those_of_the_columns_of_the_shrinkage(xp, own_mean, weight, problem):
    w = xp.asarray(problem.w)
    labels = np.arange(len(problem.w)) % 2
    chosen = WithinVariance(xp.asarray(np.eye(2)[labels]), Scatter(own_mean, weight=weight))
    shrink, V = chosen.shrink(w, C=problem.C), chosen.columns(w)
    image = chosen.shrunk(V, xp.sin(w)[None, :] @ shrink.V, shrink, C=problem.C)
    assert_agree(image, to_numpy(xp.sin(w)[None, :] @ (shrink @ V)), 1e-11)


@given(problem=problems())
def test_blocks_of_the_shrinkage_are_blocks_of_the_matrix(xp, embedding, problem):
    build, _ = embedding
    w = xp.asarray(problem.w)
    n = len(problem.w)
    shrink = build(problem, w).shrink(w, C=problem.C)
    G = xp.zeros((n, n), dtype=xp.float64)
    for a, b in ((0, 3), (3, n)):
        shrink.add_block(G[a:b, :b], a, b, 0.7)
    whole = to_numpy(shrink @ xp.eye(n, dtype=xp.float64))
    expected = np.tril(0.7 * whole)
    expected[:3, :3] = 0.7 * whole[:3, :3]  # inside a block on the diagonal both triangles are filled
    expected[3:, 3:] = 0.7 * whole[3:, 3:]
    assert_agree(G, expected, 1e-12)


@pytest.mark.parametrize("eigenvalue", [-5.0, -0.01])
def test_shrinkage_of_an_indefinite_matrix_fails(xp, eigenvalue):
    w = xp.ones(3, dtype=xp.float64)
    with pytest.raises(np.linalg.LinAlgError):
        UserLaplacian(xp.asarray(np.diag([1.0, eigenvalue, 1.0]))).shrink(w, C=1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [0.0, 1e-20, 1.0, 1e6])
def test_shrinkage_by_a_singular_laplacian_leaves_constants_alone(xp, scale, dtype):
    chain = 2 * np.eye(40) - np.eye(40, k=1) - np.eye(40, k=-1)
    chain[0, 0] = chain[-1, -1] = 1.0
    w = xp.ones(40, dtype=getattr(xp, dtype))
    shrink = UserLaplacian(xp.asarray(chain, dtype=w.dtype) * scale).shrink(w, C=1.0)
    assert_agree(shrink @ w[:, None], np.ones((40, 1)), (1e-4 if dtype == "float32" else 1e-12) * max(1.0, scale))

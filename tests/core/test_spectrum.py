import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from oneclass.core.kernels import RBF
from oneclass.core.solve import solve_dual
from oneclass.core.spectrum import Spectrum
from oracle import refits
from oracle.comparison import assert_agree
from oracle.equations import kernel_matrix, repeat
from oracle.problems import problems

KERNEL = RBF(sigma=3.0)


def spectrum(xp, problem, build):
    X, w = xp.asarray(problem.X), xp.asarray(problem.w)
    return Spectrum.of(KERNEL(X, X), X, w, build(problem, w), lam=problem.lam)


@given(problem=problems(), C=st.sampled_from([0.1, 1.0, 50.0]))
def test_one_spectrum_gives_the_solve_of_every_C(xp, embedding, problem, C):
    build, _ = embedding
    X, w = xp.asarray(problem.X), xp.asarray(problem.w)
    one = spectrum(xp, problem, build)
    shrink = build(problem, w).shrink(w, C=C)
    model, rows = solve_dual(KERNEL, X, X, w, shrink, ridge=problem.lam / C, leave_one_out=True)
    assert_agree(one.weights(C=C), model.weights, 1e-8)
    assert_agree(one.rows(C=C).residuals, rows.residuals, 1e-8)
    assert_agree(one.rows(C=C).held_out_residuals(), rows.held_out_residuals(), 1e-8)


@pytest.mark.parametrize("signal", [None, 0.7])
@given(problem=problems())
def test_marginal_likelihood_is_the_density_of_the_repeated_rows(xp, embedding, signal, problem):
    build, printed = embedding
    T = repeat(problem.X, problem.w)
    K = kernel_matrix("rbf", T, T, 3.0)
    covariance, tau = refits.gaussian_process(K, T, printed(problem), C=problem.C, lam=problem.lam)
    covariance = (covariance + covariance.T) / 2 * (signal or tau)
    expected = sum(multivariate_normal(np.zeros(len(T)), covariance).logpdf(column) for column in T.T)
    actual = spectrum(xp, problem, build).log_marginal_likelihood(C=problem.C, signal=signal)
    assert actual == pytest.approx(expected, rel=1e-7, abs=1e-6)

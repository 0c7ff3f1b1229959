"""The printed objective is as docs/notation.md describes it."""

import numpy as np
import pytest

from oneclass import VAAKELM, Linear

C = 3.0


@pytest.fixture(scope="module")
def problem():
    """Units by rows, targets, the printed P, and the weights that the library solves for."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    Z = X - X.mean(axis=0)
    model = VAAKELM(
        kernel=Linear(), C=C, variance="class", loss="reconstruction", scale=False, threshold="train", delta=0.1
    ).fit(Z)
    H = Z.T  # with a linear kernel the units are the features
    P = H @ (np.eye(30) - 1 / 30) @ H.T / 30 + np.eye(3)
    return H, Z, P, H @ model.model_.weights


def slope(objective, beta, step=1e-5):
    out = np.empty_like(beta)
    for index in np.ndindex(beta.shape):
        change = np.zeros_like(beta)
        change[index] = step
        out[index] = (objective(beta + change) - objective(beta - change)) / (2 * step)
    return out


def errors(H, X, beta):
    return C / 2 * np.sum((X - H.T @ beta) ** 2)


def test_the_printed_weights_are_where_the_objective_with_the_trace_is_flat(problem):
    H, X, P, beta = problem
    at = slope(lambda b: 0.5 * np.trace(b.T @ P @ b) + errors(H, X, b), beta)
    assert np.abs(at).max() < 1e-6


def test_the_printed_objective_is_not_flat_there_and_has_the_stated_slope(problem):
    H, X, P, beta = problem
    at = slope(lambda b: 0.5 * np.sum((b.T @ P @ b) ** 2) + errors(H, X, b), beta)
    told = 2 * P @ beta @ (beta.T @ P @ beta) - C * H @ (X - H.T @ beta)
    np.testing.assert_allclose(at, told, rtol=1e-5, atol=1e-6)
    assert np.abs(at).max() > 0.1

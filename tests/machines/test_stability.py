import numpy as np
import pytest

from oneclass import AAKELM, VAAKELM
from oracle.comparison import assert_agree
from oracle.equations import kernel_matrix

RNG = np.random.default_rng(0)
HARD = {
    "duplicates": np.repeat(RNG.normal(size=(10, 3)), 4, axis=0),
    "constant features": np.column_stack([RNG.normal(size=(40, 2)), np.full(40, 7.1), np.zeros(40)]),
    "all rows alike": np.full((12, 3), 0.1),
    "one odd row": np.vstack([np.full((11, 2), 0.3), [[5.0, 5.0]]]),
    "more features than rows": RNG.normal(size=(12, 400)),
    "a line": np.linspace(0, 1, 60)[:, None],
    "two rows": np.array([[1.0, -1.0], [-1.0, 1.0]]),
    "large offsets": 1e9 + RNG.normal(size=(30, 2)),
    "tiny units": 1e-30 * RNG.normal(size=(30, 2)),
    "huge units": 1e30 * RNG.normal(size=(30, 2)),
}


def outputs_by_spectrum(Z, C, kernel, sigma):
    """K (K + I/C)^+ Z from eigenvalues; those below rounding count as zero."""
    values, U = np.linalg.eigh(kernel_matrix(kernel, Z, Z, sigma))
    values = np.where(values > 1e-13 * values[-1], values, 0.0)
    return (U * (values / (values + 1 / C))) @ (U.T @ Z)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # duplicates are hard data
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e12])
@pytest.mark.parametrize("name", HARD)
def test_difficult_rows_give_finite_results(machine, name, C):
    X = HARD[name]
    model = machine(C=C, delta=0.0).fit(X)
    for verdict in (model.score_samples(X), model.p_value(X), np.array([model.offset_])):
        assert np.all(np.isfinite(verdict))
    assert np.all(model.predict(X) == 1)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # duplicates are hard data
@pytest.mark.parametrize("C", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("name", [n for n in HARD if n != "all rows alike"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_hard_data_are_rebuilt_as_the_pseudo_inverse_rebuilds_them(name, C, kernel):
    X = HARD[name]
    model = AAKELM(C=C, kernel=kernel, delta=0.0).fit(X)
    Z = model.scaler_(X)
    assert_agree(model.scaler_(model.reconstruct(X)), outputs_by_spectrum(Z, C, kernel, model.sigma_), 1e-5)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # duplicates are hard data
@pytest.mark.parametrize("loss", ["uncertainty", "predictive"])
@pytest.mark.parametrize("name", HARD)
def test_hard_data_give_finite_uncertainty(name, loss):
    X = HARD[name]
    model = VAAKELM(C=1e6, delta=0.0, loss=loss).fit(X)
    assert np.all(np.isfinite(model.score_samples(X)))
    assert np.isfinite(model.offset_)


def test_a_large_C_interpolates_distinct_rows(machine):
    X = np.random.default_rng(0).normal(size=(30, 5))
    assert np.max(np.abs(machine(C=1e10, delta=0.0).fit(X).score_samples(X))) < 1e-6


def test_a_small_C_learns_nothing(machine):
    """Outputs go to zero, so the loss is that of the target itself."""
    X = np.random.default_rng(0).normal(size=(30, 5))
    model = machine(C=1e-10, delta=0.0).fit(X)
    nothing = np.ones(30) if machine.__name__ in ("OCKELM", "VOCKELM") else np.sum(model.scaler_(X) ** 2, axis=1)
    assert_agree(model.score_samples(X), -nothing, 1e-6)

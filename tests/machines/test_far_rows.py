"""What rows of extreme size do to machines, and to the rows beside them."""

import numpy as np
import pandas as pd
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom
from oneclass.core.arrays import to_numpy

MODES = {"exact": None, "nystrom": Nystrom(40), "fourier": Fourier(60)}
LOSSES = ("reconstruction", "uncertainty", "predictive", "either")
MACHINES = [
    (OCKELM, {"kernel": "rbf"}),  # random features of the other kernel do not tell a machine of a constant what is far
    (VOCKELM, {"kernel": "rbf"}),
    *((AAKELM, {"loss": loss}) for loss in LOSSES),
    (VAAKELM, {}),
    (VAAKELM, {"kernel": "rbf", "sigma": "local"}),
    (VAAKELM, {"scale": "zscore"}),
    (AAKELM, {"kernel": "polynomial"}),
    (AAKELM, {"kernel": "linear"}),
]


def ids(case):
    return case[0].__name__ + "-" + "-".join(map(str, case[1].values()))


@pytest.mark.parametrize("far", [1e4, 1e9, 1e30])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", MACHINES, ids=ids)
def test_a_score_does_not_depend_on_batch_mates(xp, case, mode, dtype, far):
    machine, params = case
    if mode == "fourier" and params.get("kernel") in ("polynomial", "linear"):
        pytest.skip("the kernel has no Fourier features")
    rng = np.random.default_rng(0)
    X, Z = (rng.normal(size=(n, 3)).astype(dtype) for n in (120, 25))
    model = machine(approximation=MODES[mode], **params).fit(xp.asarray(X))
    together = to_numpy(model.score_samples(xp.asarray(Z)))
    with_far = to_numpy(model.score_samples(xp.asarray(np.concatenate([Z, np.array([[far, 0, 0]], dtype)]))))
    one_by_one = np.concatenate([to_numpy(model.score_samples(xp.asarray(row[None, :]))) for row in Z])
    tolerance = (2e-9 if dtype == "float64" else 2e-3) * np.abs(together).max()
    assert np.all(np.isfinite(with_far))
    assert np.abs(with_far[:-1] - together).max() <= tolerance
    assert np.abs(one_by_one - together).max() <= tolerance
    assert with_far[-1] <= together.min()


@pytest.mark.parametrize("tail", ["lognormal 2", "lognormal 3", "cauchy"])
@pytest.mark.parametrize("mode", MODES)
def test_single_precision_agrees_with_double_on_heavy_tails(machine, mode, tail):
    rng = np.random.default_rng(0)

    def draw(n):
        return rng.standard_cauchy((n, 3)) if tail == "cauchy" else rng.lognormal(0, float(tail[-1]), (n, 3))

    X, Z = draw(300).astype(np.float32), draw(300).astype(np.float32)
    labels = [
        machine(approximation=MODES[mode]).fit(A).predict(B) for A, B in ((X, Z), (X.astype(float), Z.astype(float)))
    ]
    assert np.mean(labels[0] != labels[1]) <= 0.01


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6])
@pytest.mark.parametrize("chunk", [700, 2500, 5000])
def test_a_constant_column_stays_constant_however_the_rows_are_cut(value, chunk):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(5000, 2)), np.full(5000, value)])
    Z = np.column_stack([rng.normal(size=(500, 2)), np.full(500, value)])
    model = AAKELM(approximation=Nystrom(30), C=8.0, sigma=1.0)
    parts = [X[a : a + chunk] for a in range(0, 5000, chunk)]
    expected, cut = model.fit(X).offset_, model.fit_chunks(parts)
    assert cut.offset_ == pytest.approx(expected, rel=1e-6)
    Z[:, 2] += 1e-9 * value
    assert np.mean(cut.predict(Z) == -1) < 0.08


@pytest.mark.parametrize(("scale", "dtype"), [(1e-170, "float64"), (1e160, "float64"), (1e300, "float64")])
@pytest.mark.parametrize("fit", ["fit", "fit_chunks"])
def test_columns_that_cannot_be_squared_are_refused_by_name(machine, scale, dtype, fit):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)) * [1.0, scale], columns=["pulse", "charge"])
    with pytest.raises(ValueError, match=rf"{machine.__name__}: X must hold values.*column 'charge' runs from"):
        getattr(machine(scale="zscore"), fit)(frame.astype(dtype))


@pytest.mark.parametrize("scale", [1e-130, 1e-30, 1e30, 1e130])
def test_scores_do_not_depend_on_the_unit(machine, scale):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(80, 3)), rng.normal(size=(20, 3)) * 2
    expected = machine().fit(X).score_samples(Z)
    np.testing.assert_allclose(machine().fit(X * scale).score_samples(Z * scale), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e19, 1e36])
def test_single_precision_scales_what_it_can_hold(machine, scale):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(80, 3)), rng.normal(size=(20, 3)) * 2
    expected = machine().fit(X.astype(np.float32)).score_samples(Z.astype(np.float32))
    known, fresh = ((A * scale).astype(np.float32) for A in (X, Z))
    np.testing.assert_allclose(machine().fit(known).score_samples(fresh), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "linear"])
@pytest.mark.parametrize("value", [1e20, 1e160, 1.7e308])
def test_a_row_too_far_to_measure_has_the_largest_loss(machine, kernel, value):
    rng = np.random.default_rng(0)
    model = machine(kernel=kernel, sigma="mean").fit(rng.normal(size=(80, 3)))
    scores = model.score_samples(np.array([[0.0, 0.0, 0.0], [value, 0.0, 0.0], [-value, value, value]]))
    assert np.all(np.isfinite(scores))
    if kernel != "linear":  # which rebuilds whatever lies along its directions
        assert np.all(scores[1:] <= scores[0])
        assert model.p_value([[value, 0.0, 0.0]])[0] == pytest.approx(1 / 81)

"""Every classifier, in every mode, on awkward rows: scores are numbers that depend on the rows and on nothing else."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awkward import DATASETS, huge_rows
from classifiers import BASELINES, quick
from oneclass import DependentRowsWarning, FewRowsWarning, Fourier, Nystrom

MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM")
OTHERS = ("OCELM", "AAELM", *BASELINES)
MODES = {"exact": {}, "nystrom": {"approximation": Nystrom(30)}, "fourier": {"approximation": Fourier(40)}}
CASES = [(name, mode) for name in MACHINES for mode in MODES] + [(name, "exact") for name in OTHERS]
KINDS = st.sampled_from(sorted(DATASETS))


def fitted(name, mode, X):
    """The classifier fitted to rows, or None where it refuses them by name."""
    model = quick(name, **MODES[mode])
    with warnings.catch_warnings():
        expected = ("did not converge", "Number of distinct")
        warnings.filterwarnings("ignore", message="|".join(f".*{words}" for words in expected))
        warnings.simplefilter("ignore", FewRowsWarning)
        warnings.simplefilter("ignore", DependentRowsWarning)  # some kinds have every row twice
        try:
            return model.fit(X)
        except ValueError as refusal:
            if not str(refusal).startswith(f"{name}: "):
                raise
            return None


def close(one, other, dtype):
    """Up to rounding relative to their size, as amplified by factored systems."""
    rounding = 1e-6 if dtype == np.float64 else 1e-3
    return np.abs(one - other).max() <= rounding * max(np.abs(one).max(), np.ptp(one))


@pytest.mark.parametrize("case", CASES, ids="-".join)
@settings(max_examples=25)
@given(kind=KINDS, seed=st.integers(0, 99))
def test_awkward_rows_are_scored_by_themselves(case, kind, seed):
    X, fresh = DATASETS[kind](np.random.default_rng(seed))
    Z = fresh(12)
    model = fitted(*case, X)
    if model is None:
        return
    far = np.zeros((1, X.shape[1]), X.dtype)
    far[0, 0] = min(1e9 * max(float(np.abs(X).max()), 1e-300), float(np.finfo(X.dtype).max) / 10)
    scores = np.asarray(model.score_samples(Z), dtype=float)
    beside = np.asarray(model.score_samples(np.concatenate([Z, far])), dtype=float)
    alone = np.concatenate([np.asarray(model.score_samples(row[None, :]), dtype=float) for row in Z])
    assert np.isfinite(beside).all()
    assert np.isfinite(model.offset_)
    assert close(scores, beside[:-1], X.dtype)
    assert close(scores, alone, X.dtype)


@pytest.mark.parametrize("name", [*MACHINES, "NaiveParzen", "Parzen", "KNNDetector", "OCSVM", "SVDD"])
@settings(max_examples=25)
@given(kind=KINDS, seed=st.integers(0, 99))
def test_the_order_of_awkward_rows_changes_no_score(name, kind, seed):
    rng = np.random.default_rng(seed)
    X, fresh = DATASETS[kind](rng)
    Z = fresh(12)
    model = fitted(name, "exact", X)
    if model is not None:
        shuffled = fitted(name, "exact", X[rng.permutation(len(X))])
        scores, again = (np.asarray(m.score_samples(Z), dtype=float) for m in (model, shuffled))
        # Of libsvm's tolerance of 1e-4 hardly anything is left.
        assert np.abs(scores - again).max() <= (1e-5 if X.dtype == np.float64 else 1e-2) * np.abs(scores).max()


@pytest.mark.filterwarnings("ignore::oneclass.OneClassWarning")
@pytest.mark.parametrize("name", ["VOCKELM", "VAAKELM"])
def test_rows_near_the_largest_number_are_explained(name):
    X = np.finfo(float).max * np.random.default_rng(0).uniform(0.1, 0.25, size=(40, 3))
    found = quick(name).fit(X).explain(X[:6])
    assert np.isfinite(found.parts).all()
    assert np.isfinite(found.expected).all()


#: Classifiers to which a huge value may look normal, and why.
MAY_ACCEPT_HUGE = {
    ("OCELM", "zscore"): "units saturate: outputs of far rows are those of a direction",
    ("OCELM", "robust"): "units saturate: outputs of far rows are those of a direction",
    ("OCELM", False): "units saturate: outputs of far rows are those of a direction",
    ("PCADetector", "robust"): "asinh makes huge values nearly the same: rows with several may be near the plane",
}


@pytest.mark.parametrize("kind", ["normal", "two columns", "correlated", "one column", "single precision"])
@pytest.mark.parametrize("scale", ["zscore", "robust", False])
@pytest.mark.parametrize("name", [*MACHINES, *OTHERS])
def test_a_row_with_huge_values_is_an_outlier(name, scale, kind):
    if (name, scale) in MAY_ACCEPT_HUGE:
        pytest.skip(MAY_ACCEPT_HUGE[name, scale])
    X, _ = DATASETS[kind](np.random.default_rng(0))
    Z = huge_rows(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(did not converge|columns are few)")
        model = quick(name, scale=scale).fit(X)
    assert np.isfinite(model.score_samples(Z)).all()
    assert (model.predict(Z) == -1).all()
    assert np.max(model.p_value(Z)) < 0.03
    found = model.explain(Z)
    assert np.isfinite(found.parts).all()
    np.testing.assert_allclose(found.shares.sum(axis=1), 1, rtol=1e-3)

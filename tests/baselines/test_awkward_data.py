import warnings

import numpy as np
import pytest

from classifiers import BASELINES, MACHINES, quick
from oneclass import DependentRowsWarning, FewRowsWarning, UnreachableRateWarning

RANDOM = np.random.default_rng(0)
NORMAL = RANDOM.normal(size=(30, 3))

DATA = {
    "a constant feature": np.column_stack([NORMAL, np.full(30, 0.1)]),
    "constant features alone": np.full((30, 2), 0.1),
    "a feature that is almost constant": np.column_stack([NORMAL, 1e9 + 1e-3 * NORMAL[:, 0]]),
    "rows given twice": np.repeat(NORMAL, 2, axis=0),
    "one row many times": np.concatenate([np.repeat(NORMAL[:1], 25, axis=0), NORMAL[:5]]),
    "two rows": NORMAL[:2],
    "two equal rows": np.repeat(NORMAL[:1], 2, axis=0),
    "one feature": NORMAL[:, :1],
    "more features than rows": RANDOM.normal(size=(12, 80)),
    "one-hot columns": np.eye(4)[RANDOM.integers(4, size=40)],
    "a one-hot column of one row": np.column_stack([NORMAL, np.arange(30) == 3]),
    "integers": RANDOM.integers(0, 5, size=(40, 3)),
    "single precision": NORMAL.astype(np.float32),
    "tiny values": 1e-12 * NORMAL,
    "huge values": 1e12 * NORMAL,
}

NEED_NOT_SEE_FAR = {
    "OCRF": "votes have a floor: rows that no tree has seen may reach it without being far",
    "OCELM": "units saturate: outputs of far rows are those of a direction",
}

pytestmark = [
    pytest.mark.parametrize("name", [*BASELINES, *MACHINES]),
    pytest.mark.parametrize("X", DATA.values(), ids=DATA.keys()),
    pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge"),
    pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning"),  # rows given twice
]


@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_every_verb_answers_with_numbers(name, X, threshold):
    model = quick(name, delta=0.0, threshold=threshold).fit(X)
    far = X[:1] + 1e3 * (1 + np.abs(X).max(axis=0))
    Z = np.concatenate([X, far])
    assert np.isfinite(model.offset_)
    assert np.isfinite(model.score_samples(Z)).all()
    if model.calibration_ is not None:
        p = model.p_value(Z)
        assert ((p > 0) & (p <= 1)).all()
    found = model.explain(Z)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    if found.exact and type(model).__name__ != "NaiveParzen":
        np.testing.assert_allclose(-found.parts.sum(axis=1), model.score_samples(Z), rtol=1e-4)


def test_without_a_budget_training_rows_are_accepted(name, X):
    assert (quick(name, delta=0.0, threshold="train").fit(X).predict(X) == 1).all()


def test_a_row_far_from_all_others_has_the_smallest_p_value(name, X):
    if name in NEED_NOT_SEE_FAR:
        pytest.skip(NEED_NOT_SEE_FAR[name])
    model = quick(name, delta=0.0).fit(X)
    far = X[:1] + 1e3 * (1 + np.abs(X).max(axis=0)) * (1 + np.arange(X.shape[1]))
    assert model.p_value(far)[0] == pytest.approx(model.p_value(np.concatenate([X, far])).min())
    assert model.score_samples(far)[0] <= model.score_samples(X).min()


def test_a_budget_that_is_met_needs_no_warning_but_one_that_is_not_gets_it(name, X):
    smallest = 1 / (len(X) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*did not converge|.*all training rows are equal")
        warnings.simplefilter("ignore", FewRowsWarning)
        warnings.simplefilter("error", UnreachableRateWarning)
        warnings.simplefilter("ignore", DependentRowsWarning)
        quick(name, delta=min(1.01 * smallest, 0.99)).fit(X)
    with pytest.warns(UserWarning, match=f"{name}: delta=.* is below"):
        quick(name, delta=0.9 * smallest).fit(X)

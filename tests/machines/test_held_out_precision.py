"""Held-out losses of many rows with landmarks: in single precision, and from features that are kept."""

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, Fourier, Nystrom
from oneclass.core import features
from oneclass.core.primal import PrimalModel
from oneclass.core.single_precision import RoundedModel
from oneclass.machines import approximate

RNG = np.random.default_rng(0)
ROWS = 2 * RNG.normal(size=(5, 6))[RNG.integers(0, 5, 1500)] + RNG.normal(size=(1500, 6))
MACHINES = {
    "default": VAAKELM(approximation=Nystrom(150)),
    "half of the rows": VAAKELM(approximation=Nystrom(700)),
    "few landmarks": VAAKELM(approximation=Nystrom(25)),
    "class": VAAKELM(variance="class", approximation=Nystrom(150)),
    "reconstruction": AAKELM(loss="reconstruction", approximation=Nystrom(150, "kmeans")),
    "rbf": AAKELM(kernel="rbf", C=8.0, approximation=Nystrom(100)),
    "whitened": AAKELM(kernel="rbf", sigma=8.0, C=1.0, loss="reconstruction", approximation=Nystrom(100)),
    "fourier": VAAKELM(approximation=Fourier(150)),
    "constant target": OCKELM(approximation=Nystrom(150)),
}


@pytest.fixture(params=MACHINES)
def machine(request):
    return MACHINES[request.param]


@pytest.fixture
def judged_by(monkeypatch):
    """The models whose leverages were computed."""
    seen = []
    for kind in (PrimalModel, RoundedModel):

        def judged(self, *given, plain=kind.judged, **options):
            seen.append(type(self))
            return plain(self, *given, **options)

        monkeypatch.setattr(kind, "judged", judged)
    return seen


def test_single_precision_moves_held_out_losses_of_many_rows_by_as_little_as_it_may(machine, monkeypatch, judged_by):
    plain, threshold = machine.fit(ROWS).held_out_scores_, machine.offset_
    assert RoundedModel not in judged_by
    monkeypatch.setattr(approximate, "_SINGLE_PRECISION_COST", 0)
    rounded = machine.fit(ROWS).held_out_scores_
    assert judged_by[-1] is RoundedModel
    np.testing.assert_allclose(rounded, plain, rtol=3 * approximate._SINGLE_PRECISION_ERROR)
    assert np.median(np.abs(rounded / plain - 1)) < 0.1 * approximate._SINGLE_PRECISION_ERROR
    assert machine.offset_ == pytest.approx(threshold, rel=approximate._SINGLE_PRECISION_ERROR)


def test_nothing_but_losses_of_training_rows_is_rounded(machine, monkeypatch):
    plain = machine.fit(ROWS).score_samples(ROWS)
    monkeypatch.setattr(approximate, "_SINGLE_PRECISION_COST", 0)
    np.testing.assert_array_equal(machine.fit(ROWS).score_samples(ROWS), plain)
    assert type(machine.model_) is PrimalModel


def test_chunks_are_rounded_as_rows_in_memory_are(machine, monkeypatch, judged_by):
    monkeypatch.setattr(approximate, "_SINGLE_PRECISION_COST", 0)
    whole = np.sort(-machine.fit(ROWS).held_out_scores_)
    judged_by.clear()
    chunked = machine.fit_chunks(np.array_split(ROWS, 4)).calibration_.losses
    assert judged_by[-1] is RoundedModel
    np.testing.assert_allclose(chunked, whole, rtol=3 * approximate._SINGLE_PRECISION_ERROR)


def test_where_single_precision_would_lose_digits_that_count_losses_stay_in_double(monkeypatch, judged_by):
    monkeypatch.setattr(features, "_FEATURE_ROUNDING", 1.0)  # never whiten
    machine = AAKELM(kernel="rbf", C=1e4, loss="uncertainty", approximation=Nystrom(60))
    plain = machine.fit(ROWS[:, :2]).held_out_scores_
    monkeypatch.setattr(approximate, "_SINGLE_PRECISION_COST", 0)
    rounded = machine.fit(ROWS[:, :2]).held_out_scores_
    assert RoundedModel in judged_by
    assert judged_by[-1] is PrimalModel
    np.testing.assert_array_equal(rounded, plain)


def test_rows_given_in_single_precision_and_other_libraries_are_left_alone(xp, monkeypatch, judged_by):
    monkeypatch.setattr(approximate, "_SINGLE_PRECISION_COST", 0)
    VAAKELM(approximation=Nystrom(50)).fit(xp.asarray(ROWS[:300], dtype=xp.float32))
    assert RoundedModel not in judged_by


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # weights are copies
@pytest.mark.parametrize("weighted", [False, True])
def test_features_that_are_kept_are_those_that_would_be_worked_out_again(machine, weighted, monkeypatch):
    w = RNG.integers(1, 3, len(ROWS)).astype(float) if weighted else None
    kept = machine.fit(ROWS, sample_weight=w).held_out_scores_
    weights = machine.model_.weights
    monkeypatch.setattr(approximate, "_KEPT_FEATURE_BYTES", 0)
    again = machine.fit(ROWS, sample_weight=w).held_out_scores_
    np.testing.assert_allclose(machine.model_.weights, weights, rtol=1e-7, atol=1e-9 * np.max(np.abs(weights)))
    np.testing.assert_allclose(kept, again, rtol=1e-8)

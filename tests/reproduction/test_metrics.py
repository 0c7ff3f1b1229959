"""Metrics agree with scikit-learn and with the paper's definitions."""

import numpy as np
import pytest
from sklearn import metrics as sk

from reproduction.metrics import METRICS, VALIDATION, metrics, over_grid

RNG = np.random.default_rng(0)
Y = np.repeat([1, -1], [30, 70])
SCORES = RNG.normal(size=100) + (Y == 1)
ACCEPTED = SCORES > 0.5


def test_metrics_agree_with_scikit_learn():
    ours, labels = metrics(Y, ACCEPTED, SCORES), np.where(ACCEPTED, 1, -1)
    assert list(ours) == list(METRICS)
    assert ours["accuracy"] == pytest.approx(sk.accuracy_score(Y, labels))
    assert ours["precision"] == pytest.approx(sk.precision_score(Y, labels))
    assert ours["recall"] == pytest.approx(sk.recall_score(Y, labels))
    assert ours["f1"] == pytest.approx(sk.f1_score(Y, labels))
    assert ours["gmean"] ** 2 == pytest.approx(ours["recall"] * sk.recall_score(Y, labels, pos_label=-1))


def test_the_papers_gmean_is_of_precision_and_recall():
    ours = metrics(Y, ACCEPTED, SCORES)
    assert ours["gmean_paper"] ** 2 == pytest.approx(ours["precision"] * ours["recall"])
    np.testing.assert_allclose(over_grid(VALIDATION, Y, np.stack([ACCEPTED, ACCEPTED])), ours["gmean_paper"])


def test_accepting_nothing_scores_zero_without_a_warning():
    nothing = metrics(Y, np.zeros(100, dtype=bool), SCORES)
    assert nothing["f1"] == nothing["precision"] == nothing["gmean_paper"] == 0
    assert nothing["false_alarm_rate"] == 1
    assert np.isnan(over_grid(VALIDATION, Y, np.zeros(100, dtype=bool)))


def test_infinite_losses_still_rank():
    scores = np.where(Y == 1, 0.0, -np.inf)
    assert metrics(Y, Y == 1, scores)["auroc"] == 1

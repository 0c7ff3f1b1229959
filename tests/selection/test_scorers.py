import math

import numpy as np
import pytest
from sklearn import metrics

from oneclass import AAKELM
from oneclass.selection import SCORERS, get_scorer, recall_at

RNG = np.random.default_rng(0)
TARGETS = RNG.uniform(size=80) < 0.6
DECISIONS = np.round(RNG.normal(size=80) + TARGETS, 1)  # rounded, for ties
ACCEPTED = DECISIONS >= 0
PRECISION, RECALL = metrics.precision_score(TARGETS, ACCEPTED), metrics.recall_score(TARGETS, ACCEPTED)
EXPECTED = {
    "f1": metrics.f1_score(TARGETS, ACCEPTED),
    "precision": PRECISION,
    "recall": RECALL,
    "gmean_paper": math.sqrt(PRECISION * RECALL),
    "gmean": math.sqrt(RECALL * metrics.recall_score(~TARGETS, ~ACCEPTED)),
    "balanced": metrics.balanced_accuracy_score(TARGETS, ACCEPTED),
    "auroc": metrics.roc_auc_score(TARGETS, DECISIONS),
    "average_precision": metrics.average_precision_score(TARGETS, DECISIONS),
    "outlier_average_precision": metrics.average_precision_score(~TARGETS, -DECISIONS),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_scorer_is_the_metric_of_scikit_learn(name):
    assert SCORERS[name].metric(TARGETS, DECISIONS) == pytest.approx(EXPECTED[name], abs=1e-12)


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.25])
def test_recall_at_a_rate_is_the_best_recall_of_thresholds_within_it(rate):
    levels = np.append(DECISIONS, np.inf)
    kept = [level for level in levels if np.mean(DECISIONS[TARGETS] < level) <= rate + 1e-12]
    expected = max(np.mean(DECISIONS[~TARGETS] < level) for level in kept)
    assert recall_at(rate).metric(TARGETS, DECISIONS) == pytest.approx(expected)


@pytest.mark.parametrize("name", SCORERS)
def test_scorer_reads_labels_of_any_kind(name):
    X = RNG.normal(size=(40, 2)) * np.repeat([1, 4], 20)[:, None]
    model = AAKELM().fit(X[:20])
    plain = SCORERS[name](model, X, np.repeat([1, -1], 20))
    assert SCORERS[name](model, X, np.repeat([True, False], 20)) == plain
    assert SCORERS[name](model, X, np.repeat(["target", "other"], 20)) == plain


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "gmean_paper"])
def test_accepting_nothing_scores_zero(name):
    assert SCORERS[name].metric(TARGETS, np.full(80, -1.0)) == 0


@pytest.mark.parametrize("name", ["auroc", "balanced", "gmean", "outlier_average_precision", "recall_at_false_alarms"])
def test_what_needs_outliers_is_no_number_without_them(name):
    assert math.isnan(SCORERS[name].metric(np.ones(80, dtype=bool), DECISIONS))


def test_names_of_scikit_learn_are_its_scorers():
    assert repr(get_scorer("accuracy")) == repr(metrics.get_scorer("accuracy"))
    with pytest.raises(ValueError, match="scoring must be one of 'f1'"):
        get_scorer(3)
    with pytest.raises(ValueError, match=r"rate must be a number in \[0, 1\), got 1"):
        recall_at(1)

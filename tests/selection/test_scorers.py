import math

import numpy as np
import pytest
from sklearn import metrics

from oneclass import AAKELM
from oneclass.selection import SCORERS, Scorer, get_scorer, recall_at

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


@pytest.mark.parametrize("scorer", [*SCORERS.values(), recall_at(0.1)], ids=lambda scorer: scorer.name)
def test_a_change_of_what_a_scorer_does_not_depend_on_leaves_the_score(scorer):
    other = {"signs": np.sign(DECISIONS) * RNG.uniform(1, 9, size=80), "ranks": np.exp(DECISIONS) - 3}
    assert scorer.metric(TARGETS, other[scorer.depends_on]) == pytest.approx(
        scorer.metric(TARGETS, DECISIONS), abs=1e-12
    )


def test_a_scorer_depends_on_decisions_ranks_or_signs():
    with pytest.raises(ValueError, match="Scorer: depends_on must be one of 'decisions', 'ranks', 'signs'; got 'sums'"):
        Scorer("mine", lambda targets, decisions: 0.0, depends_on="sums")


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.25])
def test_recall_at_a_rate_is_the_best_recall_of_thresholds_within_it(rate):
    levels = np.append(DECISIONS, np.inf)
    kept = [level for level in levels if np.mean(DECISIONS[TARGETS] < level) <= rate + 1e-12]
    expected = max(np.mean(DECISIONS[~TARGETS] < level) for level in kept)
    assert recall_at(rate).metric(TARGETS, DECISIONS) == pytest.approx(expected)


RANKING = ["auroc", "average_precision", "outlier_average_precision", "recall_at_false_alarms"]


@pytest.mark.parametrize("name", RANKING)
@pytest.mark.parametrize("scale", [2.0**-40, 1.0, 2.0**40])
def test_rows_that_differ_by_rounding_tie(name, scale):
    noise = 1 + 1e-14 * RNG.normal(size=80)
    far = np.where(np.arange(80) % 10, DECISIONS, 1e9 * DECISIONS)  # a few large values must not make others tie
    for decisions in (DECISIONS, DECISIONS - 5, far):
        exact = SCORERS[name].metric(TARGETS, decisions)
        assert SCORERS[name].metric(TARGETS, scale * decisions * noise) == exact


@pytest.mark.parametrize("name", RANKING)
def test_rows_that_differ_by_more_than_rounding_do_not_tie(name):
    decisions = 1 + 1e-6 * RNG.permutation(80)
    assert SCORERS[name].metric(TARGETS, decisions) == SCORERS[name].metric(TARGETS, np.round(1e6 * (decisions - 1)))


@pytest.mark.parametrize("name", RANKING[:3])
def test_scores_of_ranks_are_nan_if_a_decision_is_nan(name):
    assert math.isnan(SCORERS[name].metric(TARGETS, np.where(np.arange(80) == 3, np.nan, DECISIONS)))


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
def test_scores_that_need_outliers_are_nan_without_them(name):
    assert math.isnan(SCORERS[name].metric(np.ones(80, dtype=bool), DECISIONS))


def test_names_of_scikit_learn_return_its_scorers():
    assert repr(get_scorer("accuracy")) == repr(metrics.get_scorer("accuracy"))
    for unknown in (3, "f2"):
        with pytest.raises(ValueError, match=rf"scoring must be one of 'f1', .*'auroc'.* got {unknown!r}"):
            get_scorer(unknown)
    with pytest.raises(ValueError, match=r"rate must be a number in \[0, 1\), got 1"):
        recall_at(1)

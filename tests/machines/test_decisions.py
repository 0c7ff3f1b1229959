from functools import partial

import numpy as np
import pytest
from scipy.stats import kstest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Nystrom
from oneclass.core.machine import Machine
from oracle.comparison import assert_agree

RULES = ["held_out", "train"]
LOSSES = ["reconstruction", "uncertainty", "predictive", "either"]
SMALL_BUDGET = "ignore::oneclass.UnreachableRateWarning"


@pytest.mark.parametrize("threshold", [*RULES, "authors"])
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.3])
def test_decision_is_the_score_above_the_offset_and_the_label_its_sign(machine, rows, fresh, threshold, delta):
    model = machine(threshold=threshold, delta=delta).fit(rows)
    decisions = model.score_samples(fresh) - model.offset_
    np.testing.assert_array_equal(model.decision_function(fresh), decisions)
    np.testing.assert_array_equal(model.predict(fresh), np.where(decisions >= 0, 1, -1))


@pytest.mark.parametrize("threshold", RULES)
@pytest.mark.parametrize("C", [0.1, 1.0, 1e6])
def test_a_budget_of_zero_accepts_every_training_row(machine, rows, threshold, C):
    assert np.all(machine(threshold=threshold, delta=0.0, C=C).fit(rows).predict(rows) == 1)


@pytest.mark.parametrize("threshold", RULES)
def test_a_budget_of_zero_accepts_rows_and_their_copies(machine, rows, threshold):
    copies = np.repeat(rows[:7], 3, axis=0)
    assert np.all(machine(threshold=threshold, delta=0.0).fit(copies).predict(copies) == 1)


@pytest.mark.parametrize("delta", [0.0, 0.04, 0.1, 0.5])
def test_the_papers_rule_rejects_fewer_training_rows_than_its_budget_by_one(machine, rows, delta):
    """s_dec(floor(delta n)) is itself accepted, so floor(delta n) - 1 rows lie above it."""
    rejected = np.sum(machine(threshold="train", delta=delta).fit(rows).predict(rows) == -1)
    assert rejected == max(0, int(delta * 60 + 1e-9) - 1)


@pytest.mark.parametrize("delta", [0.0, 0.05, 0.5])
def test_the_authors_rule_rejects_the_row_on_the_threshold(machine, rows, delta):
    """That row depends on rounding; all others follow the strict rule."""
    model = machine(threshold="authors", delta=delta).fit(rows)
    order = np.argsort(-model.score_samples(rows))
    limit = int(np.ceil(60 * (1 - delta))) - 1
    labels = model.predict(rows)[order]
    assert np.all(labels[:limit] == 1)
    assert np.all(labels[limit + 1 :] == -1)
    assert -model.offset_ < -model.score_samples(rows)[order[limit]] * (1 + 1e-9)


@pytest.mark.parametrize("threshold", RULES)
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.3])
def test_no_training_row_sits_on_the_threshold(machine, rows, threshold, delta):
    model = machine(threshold=threshold, delta=delta).fit(rows)
    assert np.min(np.abs(model.decision_function(rows))) > 1e-10 * abs(model.offset_)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
def test_copies_of_a_row_share_their_label(machine, rows):
    copies = np.repeat(rows[:20], 3, axis=0)
    for delta in (0.05, 0.2, 0.4):
        labels = machine(delta=delta, threshold="train").fit(copies).predict(copies).reshape(20, 3)
        np.testing.assert_array_equal(labels.min(axis=1), labels.max(axis=1))


def test_a_larger_budget_never_accepts_more(machine, rows, fresh):
    accepted = [np.sum(machine(delta=d).fit(rows).predict(fresh) == 1) for d in (0.0, 0.1, 0.3, 0.6, 0.9)]
    assert accepted == sorted(accepted, reverse=True)
    assert accepted[0] > accepted[-1]


def test_a_rate_that_the_number_of_rows_cannot_guarantee_warns(machine, rows):
    with pytest.warns(UserWarning, match=rf"{machine.__name__}: delta=0.016 is below 1/\(n\+1\)=0.0164"):
        machine(delta=0.016).fit(rows)


@pytest.mark.parametrize(
    "params",
    [{"delta": 0.0}, {"delta": 1 / 61}, {"delta": 0.016, "threshold": "train"}],
    ids=["zero", "least", "train"],
)
def test_a_budget_that_can_be_kept_does_not_warn(machine, rows, params):
    machine(**params).fit(rows)  # warnings are errors here


@pytest.mark.filterwarnings(SMALL_BUDGET)
def test_a_budget_that_cannot_be_kept_accepts_as_a_budget_of_zero(machine, rows):
    assert machine(delta=0.01).fit(rows).offset_ == machine(delta=0.0).fit(rows).offset_


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
@pytest.mark.parametrize("threshold", ["train", "authors"])
@pytest.mark.parametrize("loss", ["predictive", "uncertainty"])
@pytest.mark.parametrize("kind", [AAKELM, VAAKELM])
def test_p_values_by_uncertainty_do_not_depend_on_the_threshold(kind, loss, threshold, approximation, rows, fresh):
    params = {"loss": loss, "approximation": approximation, "delta": 0.1}
    expected = kind(**params).fit(rows).p_value(fresh)
    assert_agree(kind(threshold=threshold, **params).fit(rows).p_value(fresh), expected, 1e-12)


PAIRS = np.arange(60) // 2


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
@pytest.mark.parametrize(
    ("kind", "params", "groups"),
    [
        (OCKELM, {"threshold": "train"}, None),
        (OCKELM, {"threshold": "authors"}, PAIRS),
        (VOCKELM, {"threshold": "mean"}, None),
        (AAKELM, {"threshold": "train", "loss": "reconstruction"}, PAIRS),
        (VAAKELM, {"threshold": "train", "loss": "reconstruction"}, None),
        (AAKELM, {"threshold": "authors", "loss": "uncertainty"}, PAIRS),
        (VAAKELM, {"threshold": "train"}, PAIRS),
    ],
    ids=lambda value: "groups" if isinstance(value, np.ndarray) else str(value),
)
def test_machines_that_held_no_row_out_say_what_p_values_need(kind, params, groups, approximation, rows, fresh):
    model = kind(approximation=approximation, delta=0.1, **params).fit(rows, groups=groups)
    assert model.calibration_ is None
    alone = kind(approximation=approximation, delta=0.1, **params).fit(rows)
    assert_agree(model.offset_, alone.offset_, 1e-9)  # training losses know no groups
    rule = params["threshold"]
    message = f"{kind.__name__}: p-values and other budgets need .* threshold='{rule}' .* fit with threshold='held_out'"
    asked = (model.p_value, model.label_batch, partial(model.predict, delta=0.1))
    for verb in (*(partial(verb, fresh) for verb in asked), partial(model.false_alarm_interval, delta=0.1)):
        with pytest.raises(ValueError, match=message):
            verb()
    with pytest.raises(AttributeError, match=f"held_out_scores_ needs .* threshold='{rule}' .* threshold='held_out'"):
        _ = model.held_out_scores_


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
def test_scores_do_not_depend_on_whether_rows_were_held_out(machine, as_printed, approximation, rows, fresh):
    params = as_printed(machine) | {"approximation": approximation}
    one, other = (machine(threshold=threshold, **params).fit(rows) for threshold in RULES)
    assert (one.calibration_ is None, other.calibration_ is None) == (False, True)
    np.testing.assert_array_equal(one.score_samples(fresh), other.score_samples(fresh))


def test_a_rejected_row_has_a_p_value_within_the_budget(machine, rows, fresh):
    model = machine(delta=0.1).fit(rows)
    rejected = model.predict(fresh) == -1
    assert 0 < np.sum(rejected) < len(fresh)
    assert np.all(model.p_value(fresh)[rejected] <= 0.1)


def p_values_of_fresh_normals(make, *, n=40, repetitions=300):
    """One fresh row for each training set, its p-value made continuous by a uniform tie-break."""
    rng = np.random.default_rng(0)
    values = [make().fit(rng.normal(size=(n, 3))).p_value(rng.normal(size=(1, 3)))[0] for _ in range(repetitions)]
    return np.array(values) - rng.uniform(size=repetitions) / (n + 1)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_p_values_of_fresh_normals_are_uniform(machine, C):
    assert kstest(p_values_of_fresh_normals(lambda: machine(C=C)), "uniform").pvalue > 0.02


@pytest.mark.parametrize("loss", LOSSES[1:])
def test_p_values_of_fresh_normals_are_uniform_for_every_loss(loss):
    assert kstest(p_values_of_fresh_normals(lambda: VAAKELM(loss=loss)), "uniform").pvalue > 0.02


def test_training_scores_would_not_give_uniform_p_values(monkeypatch):
    """The test above has the power to see the paper's resubstitution scores."""
    monkeypatch.setattr(Machine, "held_out_losses", Machine.training_losses)
    assert kstest(p_values_of_fresh_normals(lambda: AAKELM(C=100.0)), "uniform").pvalue < 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_outliers_have_small_p_values_under_every_loss(rows, loss):
    far = rows.mean(axis=0) + 20 * rows.std(axis=0)
    assert AAKELM(loss=loss, delta=0.0).fit(rows).p_value(far[None, :])[0] == pytest.approx(1 / 61)


@pytest.mark.parametrize("machine", [OCKELM, VOCKELM], ids=["OCKELM", "VOCKELM"])
def test_a_row_far_from_all_others_scores_the_whole_target(machine, rows):
    power = 1 if machine is OCKELM else 2
    far = rows.mean(axis=0) + 1e4 * rows.std(axis=0)
    assert machine(r=3.0).fit(rows).score_samples(far[None, :])[0] == pytest.approx(-(3.0**power))

"""Ranks within segments."""

import numpy as np
import pytest

from oneclass.core.arrays import to_numpy
from oneclass.core.calibration import HeldOut
from oneclass.core.groups import Groups
from oneclass.core.segments import RowSegments, Segments
from oneclass.core.threshold import Decision

RNG = np.random.default_rng(0)
LABELS = np.repeat(["a", "b", "c"], [60, 30, 7])
LOSSES = RNG.gamma(2.0, size=97) * np.where(LABELS == "b", 3.0, 1.0)
FRESH = np.concatenate([RNG.gamma(2.0, size=80) * 2.0, LOSSES[::5]])
DECISION = Decision("held_out", 0.05, held_out=True)


def segments_of(held_out, decision=DECISION):
    return Segments.of(held_out, LABELS, decision)


def ranked(segments, held_out, label):
    codes = segments.codes(np.full(len(FRESH), label))
    return RowSegments(segments, codes, held_out.calibration())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("label", ["a", "b"])
def test_p_values_are_those_of_a_calibration_of_the_rows_of_the_segment(label, grouped, weighted):
    w = RNG.integers(1, 4, size=97).astype(float) if weighted else np.ones(97)
    people = np.arange(97) // 2
    held_out = HeldOut.of(LOSSES, w, Groups(people) if grouped else None)
    found = ranked(segments_of(held_out, Decision("held_out", 0.2, held_out=True)), held_out, label)
    mine = label == LABELS
    numbers = np.unique(people[mine], return_inverse=True)[1]
    alone = HeldOut.of(LOSSES[mine], w[mine], Groups(numbers) if grouped else None).calibration()
    np.testing.assert_array_equal(found.p_value(FRESH), alone.p_value(FRESH))
    np.testing.assert_array_equal(found.thresholds(lambda total: 0.1), np.full(len(FRESH), alone.threshold(0.1)))


def test_rows_of_several_segments_in_any_order_are_ranked_as_each_alone():
    held_out = HeldOut(LOSSES)
    segments = segments_of(held_out)
    labels = RNG.choice(["a", "b", "c", "unknown"], size=len(FRESH))
    found = RowSegments(segments, segments.codes(labels), held_out.calibration())
    for label in np.unique(labels):
        some, alone = labels == label, ranked(segments, held_out, label)
        np.testing.assert_array_equal(found.p_value(FRESH)[some], alone.p_value(FRESH)[some])
        expected = alone.thresholds(DECISION.budget)
        np.testing.assert_array_equal(found.thresholds(DECISION.budget)[some], expected[some])


@pytest.mark.parametrize("label", ["a", "b", "c", "unknown"])
@pytest.mark.parametrize("delta", [0.001, 0.01, 0.05, 0.13, 0.4])
def test_a_row_is_rejected_exactly_if_its_p_value_is_at_most_the_rate(label, delta):
    # Or, as without segments, if its segment has too few rows for the rate and the row is beyond all of them.
    held_out = HeldOut(LOSSES)
    segments = segments_of(held_out)
    found = ranked(segments, held_out, label)
    rejected = found.thresholds(lambda total: delta) < FRESH
    by_rank = found.p_value(FRESH) <= delta * (1 + 1e-9)
    k = segments.codes(np.array([label]))[0]
    if k >= 0 and segments.enough[k] and delta < segments.calibrations[k].smallest_budget:
        by_rank = segments.calibrations[k].losses[-1] < FRESH
    if not (k < 0 or segments.enough[k]) and delta < held_out.calibration().smallest_budget:
        by_rank = held_out.calibration().losses[-1] < FRESH
    if k < 0 and delta < held_out.calibration().smallest_budget:
        by_rank = held_out.calibration().losses[-1] < FRESH
    np.testing.assert_array_equal(rejected, by_rank)


def test_a_segment_without_training_rows_is_ranked_among_all_rows():
    held_out = HeldOut(LOSSES)
    found = ranked(segments_of(held_out), held_out, "unknown")
    np.testing.assert_array_equal(found.p_value(FRESH), held_out.calibration().p_value(FRESH))
    assert found.thresholds(DECISION.budget)[0] == held_out.calibration().threshold(0.05)


def test_a_segment_with_few_rows_has_the_larger_of_two_thresholds():
    held_out = HeldOut(LOSSES)
    segments = segments_of(held_out)
    assert segments.enough.tolist() == [True, True, False]
    own, pooled = segments.calibrations[2].threshold(0.05), held_out.calibration().threshold(0.05)
    assert ranked(segments, held_out, "c").thresholds(DECISION.budget)[0] == max(own, pooled)


@pytest.mark.parametrize("grouped", [False, True])
def test_held_out_p_values_are_those_of_the_row_left_out_of_its_segment(grouped):
    groups = Groups(np.arange(97) // 3) if grouped else None
    held_out = HeldOut(LOSSES, None, groups)
    segments = segments_of(held_out)
    found = segments.held_out_p_values(held_out)
    for i in [*range(0, 60, 7), *range(60, 90, 7)]:
        others = np.arange(97) != i if groups is None else groups.of_rows != groups.of_rows[i]
        part = held_out.only(others & (LABELS[i] == LABELS)).calibration()
        np.testing.assert_allclose(found[i], part.p_value(LOSSES[[i]])[0], rtol=1e-12)
    expected = Segments.of(held_out, np.repeat("x", 97), DECISION).held_out_p_values(held_out)
    np.testing.assert_array_equal(expected, held_out.p_values())


def test_every_array_library_gives_the_same(xp):
    held_out = HeldOut(xp.asarray(LOSSES), None, None)
    segments = segments_of(held_out)
    labels = np.resize(["a", "b", "c", "unknown"], len(FRESH))
    codes = segments.codes(labels)
    found = RowSegments(segments, codes, held_out.calibration()).p_value(xp.asarray(FRESH))
    expected = RowSegments(segments_of(HeldOut(LOSSES)), codes, HeldOut(LOSSES).calibration()).p_value(FRESH)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-12)
    p = to_numpy(segments.held_out_p_values(held_out))
    np.testing.assert_allclose(p, segments_of(HeldOut(LOSSES)).held_out_p_values(HeldOut(LOSSES)), rtol=1e-12)


def test_rates_are_uniform_within_every_segment():
    """The share of fresh losses rejected in each segment, over 400 draws: 2.5 to 3.5 % of 32 rows, 5 % of 368."""
    rng, found = np.random.default_rng(1), []
    labels = np.repeat(["many", "few"], [368, 32])
    for _ in range(400):
        scale = np.where(labels == "many", 1.0, 4.0)
        held_out = HeldOut(rng.gamma(2.0, size=400) * scale)
        segments = Segments.of(held_out, labels, DECISION)
        ranks = RowSegments(segments, segments.codes(labels), held_out.calibration())
        rejected = rng.gamma(2.0, size=400) * scale > ranks.thresholds(DECISION.budget)
        found.append([rejected[labels == label].mean() for label in ("many", "few")])
    rates, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(400)
    assert abs(rates[0] - 18 / 369) < 4 * error[0]
    assert abs(rates[1] - 1 / 33) < 4 * error[1]

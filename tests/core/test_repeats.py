"""Copies among independent rows, and the correlation within the values of a column."""

import numpy as np
import pytest

from oneclass.core.dependence import centred_ranks
from oneclass.core.repeats import copied_rows, likeness


def times(X):
    return np.unique(X, axis=0, return_counts=True)[1]


LAWS = {
    "binary": lambda rng, n: rng.random((n, 6)) < 0.3,
    "counts": lambda rng, n: rng.poisson(2, (n, 3)),
    "a catalogue": lambda rng, n: rng.normal(size=(n // 3, 4))[rng.integers(0, n // 3, n)],
    "a catalogue with favorites": lambda rng, n: rng.zipf(1.4, (n, 1)) % 300,
    "rounded": lambda rng, n: rng.normal(size=(n, 2)).round(1),
    "64 % zeros": lambda rng, n: rng.normal(size=(n, 3)) * (rng.random((n, 1)) < 0.36),
}


@pytest.mark.parametrize("law", LAWS)
def test_copies_among_independent_rows_are_not_reported(law):
    for n in (60, 200, 1000):
        assert not any(copied_rows(times(LAWS[law](np.random.default_rng(seed), n))) for seed in range(20))


def test_rows_entered_twice_or_three_times_are_reported_with_their_share():
    X = np.random.default_rng(0).normal(size=(250, 4)).round(2)
    assert copied_rows(times(np.concatenate([X, X[:50]]))) == pytest.approx(100 / 300)
    assert copied_rows(times(np.repeat(X, 3, axis=0))) == 1
    assert copied_rows(times(np.concatenate([X, X[:10]]))) == 0


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_likeness_estimates_the_intraclass_correlation_in_any_order(noise):
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(200), rng.integers(2, 6, 200))
    X = rng.normal(size=(200, 3))[who] + noise * rng.normal(size=(len(who), 3))
    order = rng.permutation(len(who))
    found = likeness(who[order], X[order] - X.mean(axis=0), ordered=False)
    assert found == pytest.approx(1 / (1 + noise**2), abs=0.05)


def test_a_numeric_feature_is_not_an_id():
    rng = np.random.default_rng(0)
    count = rng.poisson(5, 400)
    codes = np.unique(count, return_inverse=True)[1]
    Z = centred_ranks(np.column_stack([count + rng.normal(size=400), (count - 5) ** 2 + rng.normal(size=400)]))
    assert likeness(codes, Z, ordered=False) > 0.25
    assert likeness(codes, Z, ordered=True) == 0

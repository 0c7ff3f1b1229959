"""The fast search is the slow search: one decomposition, one fit, every threshold."""

import itertools

import numpy as np
import pytest

from oneclass import VAAKELM
from reproduction import recipes
from reproduction.methods import KERNEL_MACHINES, METHODS
from reproduction.metrics import VALIDATION
from reproduction.selection import CS, DELTAS, KS, best


@pytest.mark.parametrize("method", KERNEL_MACHINES)
def test_searched_grid_equals_refitting_at_every_point_of_every_fold(split, method):
    chosen = METHODS[method]
    axes = {**chosen.grid, "delta": DELTAS}
    fast = recipes._by_search(split.folds, chosen, axes)
    few = {"C": (0, 6, 10), "n_clusters": (0, 3), "delta": (0, 1, 2)}
    for k, *index in itertools.product(range(2), *(few[name] for name in axes)):
        params = {name: axes[name][i] for name, i in zip(axes, index, strict=True)}
        fold, fit = split.folds[k], chosen.make(**chosen.fixed, **params).fit(split.folds[k].train)
        np.testing.assert_equal(fast[k][tuple(index)], VALIDATION(fit, fold.rows, fold.y), err_msg=str(params))


@pytest.mark.parametrize("method", [name for name in METHODS if name not in KERNEL_MACHINES])
def test_moving_the_threshold_equals_refitting_at_every_delta(split, method):
    chosen, fold = METHODS[method], split.folds[1]
    fast = recipes._decisions(fold, chosen, {"delta": DELTAS}, seed=5)
    for decided, delta in zip(fast, DELTAS, strict=True):
        fit = recipes._fitted(chosen, {"delta": delta, **chosen.fixed}, fold.train, seed=5)
        np.testing.assert_array_equal(decided, fit.decision_function(fold.rows) >= 0)


def test_ties_go_to_the_smallest_delta_then_clusters_then_C():
    grid = np.zeros((len(CS), len(KS), len(DELTAS)))
    for index in [(4, 2, 1), (9, 0, 1), (0, 0, 2), (3, 2, 1)]:
        grid[index] = 0.7
    assert best([grid, grid])[0] == [(9, 0, 1), (3, 2, 1), (4, 2, 1), (0, 0, 2)]


def test_a_point_that_accepts_nothing_in_a_fold_cannot_win():
    assert best([np.array([np.nan, 0.2]), np.array([1.0, 0.1])])[0] == [(1,)]


@pytest.mark.parametrize("method", KERNEL_MACHINES)
def test_paper_recipe_reports_its_best_choice_and_one_for_every_delta(split, method):
    rows = recipes.paper(split, method, seed=0)
    assert [row["choice"] for row in rows] == ["best", "delta=0.01", "delta=0.05", "delta=0.1"]
    assert rows[0]["validation"] == max(row["validation"] for row in rows)
    assert [row["params"]["delta"] for row in rows[1:]] == list(DELTAS)


def test_honest_recipe_keeps_the_defaults_and_the_false_alarms_asked_for(split):
    (row,) = recipes.honest(split, "VAAKELM", seed=0)
    fit = VAAKELM().fit(split.train)
    accepted = fit.predict(split.rows[split.y == 1]) == 1
    assert row["false_alarm_rate"] == pytest.approx(1 - accepted.mean())
    assert row["params"] == {"delta": 0.05}

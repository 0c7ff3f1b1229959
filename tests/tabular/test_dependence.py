"""Clocks are not taken for dependent rows; columns whose values repeat like an id are named, whatever the order."""

import warnings

import numpy as np
import pandas as pd
import pytest

from oneclass import DependentRowsWarning, KNNDetector, TableDetector


def warned(table, **fit):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        TableDetector(KNNDetector()).fit(table, **fit)
    return [str(each.message) for each in seen if each.category is DependentRowsWarning]


def log(rng, n):
    """Events at random times, with values that do not depend on the time."""
    at = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.sort(rng.uniform(0, 60 * 86400, n)).round(), unit="s")
    return pd.DataFrame({"at": at, "mass": rng.normal(size=n), "size": rng.normal(size=n)})


@pytest.mark.parametrize("order", ["ascending", "newest first", "one pair swapped", "shuffled"])
def test_a_log_of_independent_rows_does_not_look_dependent(order):
    table = log(np.random.default_rng(0), 300)
    places = np.arange(300)
    places = {
        "ascending": places,
        "newest first": places[::-1],
        "one pair swapped": np.r_[1, 0, places[2:]],
        "shuffled": np.random.default_rng(1).permutation(300),
    }[order]
    assert not warned(table.iloc[places])


def panel(rng, kind):
    who = np.repeat(np.arange(30), rng.integers(2, 12, 30))
    table = pd.DataFrame(rng.normal(size=(30, 4))[who] + 0.5 * rng.normal(size=(len(who), 4)), columns=list("abcd"))
    table["Subject"] = [f"s{i}" for i in who] if kind == "words" else 300 + 7 * who
    return table


@pytest.mark.parametrize("order", ["as recorded", "shuffled"])
@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_a_column_that_repeats_like_an_id_is_named_in_any_order(kind, order):
    for seed in range(3):
        table = panel(np.random.default_rng(seed), kind)
        table = table.sample(frac=1, random_state=seed) if order == "shuffled" else table
        assert [("'Subject'" in message, "groups=" in message) for message in warned(table)] == [(True, True)]
        assert not warned(table, groups="Subject")


def test_features_that_repeat_are_not_named():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        count, kind = rng.poisson(5, 300), rng.integers(0, 8, 300)
        table = pd.DataFrame(
            {"count": count, "kind": [f"k{i}" for i in kind], "sum": count + rng.normal(size=300),
             "square": (count - 5) ** 2 + rng.normal(size=300), "other": rng.normal(size=300)}
        )  # fmt: skip
        assert not warned(table)

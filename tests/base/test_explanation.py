"""Explanations as a value, for every classifier: parts, shares, expected values, neighbors."""

import datetime
import decimal
import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.neighbors import NearestNeighbors

import oneclass
from oneclass import OCKELM, OCSVM, VAAKELM, Fourier, Nystrom, Parzen, PCADetector, Reason, Stream
from oneclass.base.expected import Encoding, expected_values
from oneclass.base.explain_mixin import by_substitution, nearest_rows
from oneclass.base.explanation import shares_of

RANDOM = np.random.default_rng(0)
ROWS = np.round(RANDOM.normal(size=(80, 4)) @ RANDOM.normal(size=(4, 4)), 3) * [1.0, 10.0, 0.1, 3.0] + [5, 0, 0, -9]
FRESH = ROWS[:12] + np.random.default_rng(1).normal(size=(12, 4)) * ROWS.std(axis=0) / 4

#: Every classifier, small, and whether its loss is a sum over features.
CLASSIFIERS = {
    "AAELM": ({"n_hidden": 20}, True),
    "AAKELM": ({}, True),
    "AutoencoderDetector": ({"threshold": "train"}, True),
    "KCentersDetector": ({"n_init": 3, "threshold": "train"}, True),
    "KMeansDetector": ({"threshold": "train"}, True),
    "KNNDetector": ({}, True),
    "MSTDetector": ({}, True),
    "NaiveParzen": ({}, True),
    "OCELM": ({"n_hidden": 100}, False),
    "OCKELM": ({}, False),
    "OCRF": ({"n_estimators": 50, "random_state": 0}, False),
    "OCSVM": ({}, False),
    "PCADetector": ({"n_components": 2}, True),
    "Parzen": ({}, False),
    "SVDD": ({}, False),
    "VAAKELM": ({}, True),
    "VOCKELM": ({}, False),
}
pytestmark = pytest.mark.filterwarnings("ignore:OCELM.*as many as n_hidden:oneclass.FewRowsWarning")
KEEPING = {"AAKELM", "VAAKELM", "OCKELM", "VOCKELM", "KNNDetector", "MSTDetector", "OCRF", "Parzen"}


@pytest.fixture(scope="module")
def fitted():
    return {name: getattr(oneclass, name)(**options).fit(ROWS) for name, (options, _) in CLASSIFIERS.items()}


def test_no_classifier_is_left_out():
    base = oneclass.base.classifier.OneClassClassifier
    public = {name for name in oneclass.__all__ if isinstance(getattr(oneclass, name), type)}
    assert {name for name in public if issubclass(getattr(oneclass, name), base)} == {
        *CLASSIFIERS,
        "Stream",
        "Calibrated",
    }


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_shares_of_every_classifier_sum_to_one_and_say_how_they_were_computed(fitted, name):
    found = fitted[name].explain(FRESH)
    assert found.exact is CLASSIFIERS[name][1]
    assert found.method.startswith("exact" if found.exact else "measured by substitution")
    assert found.shares.min() >= 0
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    np.testing.assert_array_equal(found.values, FRESH)
    assert found.expected.shape == found.parts.shape == FRESH.shape
    if found.exact:
        least = np.broadcast_to(fitted[name]._least_parts(), 4).sum()
        losses = -fitted[name].score_samples(FRESH)
        np.testing.assert_allclose(found.parts.sum(axis=1) + least, losses, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_row_is_explained_alone_as_among_others(fitted, name):
    together = fitted[name].explain(FRESH)
    alone = fitted[name].explain(FRESH[3:4])
    np.testing.assert_allclose(alone.shares[0], together.shares[3], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(alone.expected[0], together.expected[3], rtol=1e-6, atol=1e-9)


# The residual of PCADetector is what strays across the plane, in all features; an autoencoder's is little better.
@pytest.mark.parametrize("name", sorted({*CLASSIFIERS} - {"PCADetector", "AutoencoderDetector"}))
def test_the_column_that_is_off_is_the_first_reason_and_its_expected_value_is_the_original(name):
    X = np.random.default_rng(2).normal(size=(120, 4))
    strays = 0.3 * np.random.default_rng(3).normal(size=(40, 4))
    strays[np.arange(40), np.arange(40) % 4] = 5.0
    found = getattr(oneclass, name)(**CLASSIFIERS[name][0]).fit(X).explain(strays)
    assert np.mean(found.shares.argmax(axis=1) == np.arange(40) % 4) >= 0.9
    off = np.abs(found.expected - strays)[np.arange(40), np.arange(40) % 4]
    assert np.median(off) > 1  # of 5


# Substitution.


def brute_parts(losses, x, e):
    """What every column adds to the loss first and last, value by value."""
    parts = []
    for j in range(len(x)):
        without, alone = x.copy(), e.copy()
        without[j], alone[j] = e[j], x[j]
        whole, left, put, normal = (losses(row[None])[0] for row in (x, without, alone, e))
        parts.append(max(0.0, (whole - left) / 2 + (put - normal) / 2))
    return parts


@pytest.mark.parametrize("name", sorted(name for name, (_, exact) in CLASSIFIERS.items() if not exact))
def test_parts_by_substitution_are_those_of_one_value_at_a_time(fitted, name):
    model = fitted[name]
    found = model.explain(FRESH)
    rows = zip(FRESH, found.expected, strict=True)
    expected = [brute_parts(lambda row: -model.score_samples(row), x, e) for x, e in rows]
    np.testing.assert_allclose(found.parts, expected, rtol=1e-8, atol=1e-10)


def test_substitution_gives_shapley_values_where_two_columns_act_together():
    Q = np.random.default_rng(4).normal(size=(4, 4))
    x, e = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[0.5, 0.0, 1.0, -1.0]])

    def losses(X):
        return np.einsum("ij,jk,ik->i", X, Q @ Q.T, X)  # pairs of columns, and no more

    shapley = np.zeros(4)
    orders = list(permutations(range(4)))
    for order in orders:
        row = e.copy()
        for j in order:
            before = losses(row)[0]
            row[0, j] = x[0, j]
            shapley[j] += (losses(row)[0] - before) / len(orders)
    parts = by_substitution(losses, x, e)
    np.testing.assert_allclose(parts[0], np.maximum(shapley, 0))


@pytest.mark.parametrize("together", [(0, 1, 2, 3), (0, 1, 0, 2), (1, 0, 1, 1)])
def test_expected_values_and_ranges_are_those_of_the_rows_that_are_nearest_by_the_other_columns(together):
    Z, known, of = FRESH / ROWS.std(axis=0), ROWS / ROWS.std(axis=0), np.array(together)
    found = expected_values(Z, known, ROWS, Encoding(of, np.array([False, False, False, True])))
    for j in range(4):
        others = of != of[j]
        gaps = manhattan_distances(Z[:, others], known[:, others])
        near = gaps.argsort(axis=1)[:, :29]
        values, gaps = np.sort(ROWS[near, j], axis=1), np.sort(gaps, axis=1)[:, :29]
        five = ROWS[near[:, :5]]
        apart = np.abs(five[:, :, None, ~others] - five[:, None][..., ~others]).sum(axis=(2, 3))
        middle = five[np.arange(12), apart.argmin(axis=1), j] if sum(~others) > 1 else np.median(five[:, :, j], axis=1)
        np.testing.assert_allclose(found.values[:, j], middle)
        weights = np.minimum(np.exp(1 - gaps / gaps[:, 4:5]), 1)
        share = ((weights * ROWS[near, j]).sum(axis=1) + ROWS[:, j].mean()) / (weights.sum(axis=1) + 1)
        np.testing.assert_allclose(found.low[:, j], share if j == 3 else values[:, 1])
        np.testing.assert_allclose(found.high[:, j], share if j == 3 else values[:, -2])


def test_of_equally_near_rows_a_sorted_table_does_not_give_the_first_or_the_last_ones():
    rows = np.stack([np.arange(400.0), np.tile([0.0, 1.0], 200)], axis=1)
    found = expected_values(np.array([[0.0, 1.0]]), rows / 400, rows)
    assert found.low[0, 0] < 100 < 300 < found.high[0, 0]


@pytest.mark.parametrize("copula", ["normal", "curve", "independent"])
def test_ranges_hold_about_nine_of_ten_values_of_new_rows(copula):
    rng = np.random.default_rng(5)

    def draw(n):
        x, noise = rng.normal(size=(2, n))
        y = {"normal": 0.8 * x + 0.6 * noise, "curve": x**2 + 0.3 * noise, "independent": noise}[copula]
        return np.column_stack([x, y, rng.gamma(1.0, size=n)])

    held = []
    for _ in range(5):
        found = VAAKELM().fit(draw(400)).explain(draw(400))
        held.append((found.low <= found.values) & (found.values <= found.high))
    assert np.abs(np.mean(held, axis=(0, 1)) - 0.9).max() < 0.06


def test_a_single_column_is_expected_at_its_median():
    model = OCSVM(scale=False).fit(ROWS[:, :1])
    found = model.explain([[100.0]])
    assert found.expected[0, 0] == np.median(model.support_vectors_)
    assert found.shares[0, 0] == 1


def test_machines_without_rows_expect_the_centre_of_each_column():
    found = OCKELM(approximation=Fourier(20)).fit(ROWS).explain(FRESH)
    np.testing.assert_allclose(found.expected, np.repeat(np.median(ROWS, axis=0)[None], len(FRESH), axis=0))


def test_kernel_values_have_no_columns_to_explain():
    K = np.exp(-manhattan_distances(ROWS))
    with pytest.raises(ValueError, match="OCKELM: explain must have the rows themselves"):
        OCKELM(kernel="precomputed").fit(K).explain(K)


# Shares.


def test_an_empty_cell_is_called_missing():
    said = [str(oneclass.Reason("mass", value, 4.5, 1.0)) for value in ("", None, float("nan"))]
    assert said == ["mass=missing (expected 4.5)"] * 3


def test_shares_are_the_parts_over_their_sum():
    parts = np.array([[1.0, 2.0, 0.0, 1e6], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(shares_of(parts), [parts[0] / parts[0].sum(), [0.25] * 4])


def test_the_share_of_a_wrong_value_does_not_fall_as_the_error_grows():
    rng = np.random.default_rng(6)
    mass = rng.normal(10, 1, 300)
    X = np.column_stack([mass, 3 * mass + rng.normal(0, 1, 300), rng.normal(size=(300, 3))])
    model = VAAKELM().fit(X)
    wrong = np.array([[mass, 30, 0, 0, 0] for mass in (15, 20, 50, 200, 15_000)], dtype=float)
    shares = model.explain(wrong).shares[:, 0]
    assert shares[0] > 0.8
    assert np.diff(shares).min() > -0.02


@pytest.mark.parametrize("parts", [[0.0, 0.0], [np.inf, 1.0], [1e308, 1e308], [1e-320, 0.0], [np.nan, 1.0]])
def test_shares_sum_to_one_whatever_the_parts(parts):
    shares = shares_of(np.array([parts]))
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(), 1)


# Neighbors.


@pytest.mark.parametrize("name", sorted(KEEPING))
def test_neighbors_are_the_nearest_training_rows(fitted, name):
    model = fitted[name]
    found = model.explain(FRESH, neighbors=3).neighbors
    near = NearestNeighbors(n_neighbors=3, metric="manhattan").fit(model.scaler_(ROWS))
    expected = ROWS[near.kneighbors(model.scaler_(FRESH))[1]]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_nearest_rows_come_nearest_first():
    D = manhattan_distances(FRESH, ROWS)
    np.testing.assert_array_equal(nearest_rows(FRESH, ROWS, 4), D.argsort(axis=1, kind="stable")[:, :4])


def test_landmarks_and_support_vectors_are_neighbors_too():
    model = VAAKELM(approximation=Nystrom(10)).fit(ROWS)
    near = model.explain(FRESH, neighbors=2).neighbors
    landmarks = model.scaler_.inverse(model.model_.map.landmarks)
    assert manhattan_distances(near.reshape(-1, 4), landmarks).min(axis=1).max() < 1e-9
    near = OCSVM().fit(ROWS).explain(FRESH, neighbors=2).neighbors
    assert manhattan_distances(near.reshape(-1, 4), ROWS).min(axis=1).max() < 1e-9


def test_a_stream_has_the_rows_that_it_remembers():
    stream = Stream(window=60).fit(ROWS)
    near = stream.explain(FRESH, neighbors=1).neighbors
    assert manhattan_distances(near[:, 0], ROWS).min(axis=1).max() < 1e-9


@pytest.mark.parametrize("model", [PCADetector(), VAAKELM(approximation=Fourier(10))], ids=repr)
def test_a_fit_that_keeps_no_rows_says_so(model):
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"{name}: neighbors must be 0, got 2: this fit keeps none"):
        model.fit(ROWS).explain(FRESH, neighbors=2)


@pytest.mark.parametrize("bad", [-1, 1.5, "three"])
def test_a_wrong_number_of_neighbors_is_refused(fitted, bad):
    with pytest.raises(ValueError, match="KNNDetector: neighbors must be a whole number of at least 0"):
        fitted["KNNDetector"].explain(FRESH, neighbors=bad)


# The value.


@pytest.fixture
def value():
    X = pd.DataFrame(ROWS, columns=list("abcd"))
    fresh = pd.DataFrame(FRESH, columns=list("abcd"), index=[f"r{i}" for i in range(12)])
    return VAAKELM().fit(X).explain(fresh, neighbors=2)


def test_names_and_labels_are_those_of_the_frame(value):
    assert value.names == ("a", "b", "c", "d")
    assert value.index.tolist() == [f"r{i}" for i in range(12)]
    assert len(value) == 12


def test_as_an_array_it_is_its_shares(value):
    np.testing.assert_array_equal(np.asarray(value), value.shares)
    assert np.asarray(value, dtype=np.float32).dtype == np.float32


def test_reasons_after_the_first_are_columns_whose_value_is_not_ordinary(value):
    usual = (value.low <= value.values) & (value.values <= value.high)
    counts = []
    for i, reasons in enumerate(value.top(4)):
        worst = np.argsort(-value.shares[i]).tolist()
        assert [reason.column for reason in reasons] == [
            value.names[j] for n, j in enumerate(worst) if n == 0 or not usual[i, j]
        ]
        counts.append(len(reasons))
    assert min(counts) < 4
    assert max(counts) > 1


def test_reasons_are_the_largest_shares_in_order(value):
    for i in range(len(value)):
        reasons, worst = value.row(i)[:2], np.argsort(-value.shares[i])[:2]
        assert [reason.column for reason in reasons] == [value.names[j] for j in worst]
        assert [(reason.low, reason.high) for reason in reasons] == [(value.low[i, j], value.high[i, j]) for j in worst]
        assert [reason.share for reason in reasons] == value.shares[i, worst].tolist()
        assert [reason.value for reason in reasons] == value.values[i, worst].tolist()
        assert [reason.expected for reason in reasons] == value.expected[i, worst].tolist()
    assert value.row(-1) == value.row(11)
    assert len(value.row(0)) == 4


def test_columns_without_a_share_are_no_reasons(value):
    bare = replace(value, shares=np.tile([0, 0.4, 0.6, 0], (12, 1)))
    assert [reason.column for reason in bare.row(0)] == ["c", "b"]


def test_a_group_has_the_shares_of_its_columns_and_the_value_of_the_worst(value):
    folded = value.folded({"pair": ["d", "b"]})
    assert folded.names == ("a", "pair", "c")
    np.testing.assert_allclose(folded.shares[:, 1], value.shares[:, 1] + value.shares[:, 3])
    np.testing.assert_allclose(folded.parts.sum(axis=1), value.parts.sum(axis=1))
    worst = np.where(value.shares[:, 1] >= value.shares[:, 3], 1, 3)
    np.testing.assert_array_equal(folded.values[:, 1], value.values[np.arange(12), worst])
    np.testing.assert_array_equal(folded.neighbors[:, :, 1], value.neighbors[np.arange(12), :, worst])


@pytest.mark.parametrize(
    ("groups", "why"), [({"x": ["z"]}, "got 'z'"), ({"x": ["a"], "y": ["a", "b"]}, "one group at most")]
)
def test_groups_of_unknown_columns_or_of_one_twice_are_refused(value, groups, why):
    with pytest.raises(ValueError, match=why):
        value.folded(groups)


def test_the_frame_has_a_line_for_every_row_and_column(value):
    frame = value.to_frame()
    assert frame.columns.tolist() == ["row", "column", "value", "expected", "low", "high", "share"]
    again = frame.pivot(index="row", columns="column", values="share").loc[value.index, list(value.names)]
    np.testing.assert_array_equal(again.to_numpy(), value.shares)


def test_dicts_hold_the_same_as_reasons(value):
    told = value.to_dicts()
    assert [row["row"] for row in told] == value.index.tolist()
    assert told[2]["columns"] == [reason._asdict() for reason in value.row(2)]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (np.datetime64("2024-06-11T02:30", "ns"), "2024-06-11T02:30"),
        (pd.Timestamp("2024-06-11 02:30"), "2024-06-11T02:30:00"),
        (datetime.date(2024, 6, 11), "2024-06-11"),
        (np.timedelta64(1500, "ms"), 1.5),
        (datetime.timedelta(minutes=2), 120.0),
        (datetime.time(1, 0, 0, 250_000), 3600.25),
        (decimal.Decimal("1.5"), 1.5),
        (np.datetime64("NaT", "s"), None),
        (np.timedelta64("NaT", "s"), None),
        (np.nan, None),
        (None, None),
        (np.int64(3), 3),
        (True, True),
        (("a", np.int64(3)), ["a", 3]),
        (b"x", "b'x'"),
    ],
)
def test_dicts_can_be_said_in_json(value, held, said):
    values, index = np.empty((12, 4), dtype=object), np.empty(12, dtype=object)
    for place in np.ndindex(values.shape):
        values[place] = held
    for i in range(12):
        index[i] = held
    written = json.dumps(replace(value, values=values, index=index).to_dicts(), allow_nan=False)
    for row in json.loads(written):
        assert row["row"] == said
        assert [column["value"] for column in row["columns"]] == [said] * 4


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        (np.timedelta64(900_000, "ms"), "0:15:00"),
        (datetime.timedelta(days=1, minutes=-15), "23:45:00"),
        (datetime.timedelta(days=2, seconds=1), "2 d 0:00:01"),
        (datetime.timedelta(seconds=-90), "-0:01:30"),
        (np.timedelta64(1_500, "ms"), "1.5 s"),
        (datetime.time(0, 15), "00:15"),
        (datetime.time(0, 15, 3), "00:15:03"),
    ],
)
def test_durations_and_times_of_day_are_shown_as_clocks_show_them(held, shown):
    assert str(Reason("wait", held, 63.549, 0.9)) == f"wait={shown} (expected 0:01:04)"
    assert str(Reason("wait", held, "Mon", 0.9)) == f"wait={shown} (expected Mon)"


def test_times_are_shown_without_nanoseconds():
    at = pd.Timestamp("2024-01-01 10:11:12.123456789")
    for held in (at, at.to_numpy(), datetime.datetime(2024, 1, 1, 10, 11, 12, 13)):
        assert str(Reason("at", held, "Mon 10:00", 0.9)) == "at=2024-01-01 10:11 (expected Mon 10:00)"


def test_it_is_shown_with_its_reasons(value):
    assert repr(value) == "Explanation(12 rows, 4 columns, exact)"
    lines = str(value).splitlines()
    assert lines[0] == repr(value)
    assert lines[1].startswith("  r0: ")
    assert str(value.row(0)[0]) in lines[1]
    assert lines[-1] == "  and 7 more"


def test_parzen_with_an_ellipsoid_keeps_its_rows_in_the_users_units():
    near = Parzen(bandwidth="full").fit(ROWS).explain(ROWS[:5], neighbors=1).neighbors
    np.testing.assert_allclose(near[:, 0], ROWS[:5], rtol=1e-8, atol=1e-10)

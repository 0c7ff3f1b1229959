"""Grouped rows: thresholds and p-values for a row of a new group."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import oneclass
from oneclass import AAKELM, OCKELM, SVDD, VAAKELM, VOCKELM, KNNDetector, Nystrom
from oneclass.base.groups import joined_labels
from oneclass.core.groups import Groups
from oracle.comparison import assert_agree

MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM")
BASELINES = ("NaiveParzen", "Parzen", "KMeansDetector", "KNNDetector", "PCADetector", "MSTDetector", "OCSVM", "SVDD")


def persons(rng, n, visits, noise, d=4):
    """Rows of persons, each person around its own centre, and the person of each row."""
    owner = np.repeat(np.arange(n), visits)
    return rng.normal(size=(n, d))[owner] + noise * rng.normal(size=(len(owner), d)), owner


def delivered(make, repeats, noise, *, grouped, visits=5):
    shares = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        X, owner = persons(rng, 60, visits, noise)
        fresh, _ = persons(rng, 100, 1, noise)
        model = make().fit(X, groups=owner) if grouped else make().fit(X)
        shares.append(np.mean(model.predict(fresh) == -1))
    return np.mean(shares), 3 * np.std(shares) / np.sqrt(repeats)


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("name", [*MACHINES, *BASELINES])
def test_a_new_person_is_rejected_no_more_often_than_asked_for(name, noise):
    rate, error = delivered(getattr(oneclass, name), 12, noise, grouped=True)
    # Models of folds have four fifths of the persons, so thresholds are stricter.
    assert 0.01 <= rate <= 0.05 + error, rate


@pytest.mark.parametrize("name", ["AAKELM", "VOCKELM", "KNNDetector"])
def test_persons_with_many_visits_count_no_more_than_others(name):
    """Forty persons have one row, ten have five rows and ten have twenty."""
    visits = np.repeat([1, 5, 20], [40, 10, 10])
    rate, error = delivered(getattr(oneclass, name), 12, 0.3, grouped=True, visits=visits)
    assert abs(rate - 0.05) <= 0.02 + 2 * error, rate


def unequal(rng, n):
    """Rows of persons, of whom one in five has 20 rows and twice the spread, and the others two rows."""
    visits = np.where(rng.random(n) < 0.2, 20, 2)
    owner = np.repeat(np.arange(n), visits)
    spread = np.where(visits == 20, 2.0, 1.0)[owner, None]
    return rng.normal(size=(n, 3))[owner] * spread + 0.3 * rng.normal(size=(len(owner), 3)), owner


@pytest.mark.parametrize("name", ["VAAKELM", "KNNDetector", "KMeansDetector"])
@pytest.mark.parametrize("rate_by", ["group", "row"])
def test_the_rate_is_by_group_or_by_row_as_asked(name, rate_by):
    by_group, by_row = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, owner = unequal(rng, 60)
        model = getattr(oneclass, name)(delta=0.1, rate_by=rate_by).fit(X, groups=owner)
        fresh, person = unequal(rng, 200)
        rejected = model.predict(fresh) == -1
        by_row.append(rejected.mean())
        by_group.append(np.mean(np.bincount(person, rejected) / np.bincount(person)))
    kept, other = (by_group, by_row) if rate_by == "group" else (by_row, by_group)
    assert 0.03 < np.mean(kept) < 0.1 + 2 * np.std(kept) / np.sqrt(20)
    assert np.mean(other) > 0.15 if rate_by == "group" else np.mean(other) < 0.04


def test_chunks_give_the_rate_by_row_too():
    rates = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, owner = unequal(rng, 60)
        machine = VAAKELM(delta=0.1, rate_by="row", approximation=Nystrom(60))
        model = machine.fit_chunks(np.array_split(np.column_stack([X, owner]), 3), groups=3)
        rates.append(np.mean(model.predict(unequal(rng, 200)[0]) == -1))
    assert 0.02 < np.mean(rates) < 0.1 + 2 * np.std(rates) / np.sqrt(12)


def test_by_row_and_by_group_are_the_same_for_groups_of_equal_size():
    X, owner = persons(np.random.default_rng(0), 40, 3, 0.3)
    by_group, by_row = (VAAKELM(rate_by=by).fit(X, groups=owner) for by in ("group", "row"))
    np.testing.assert_allclose(by_row.p_value(X), by_group.p_value(X))


def test_groups_of_two_columns_are_the_sets_of_rows_that_share_no_label():
    X, patient = persons(np.random.default_rng(0), 40, 3, 0.3)
    device = patient // 4  # four patients on each device
    both = pd.DataFrame({"patient": patient.astype(str), "device": device})
    joined, nested = (VAAKELM(delta=0.1).fit(X, groups=groups) for groups in (both, device))
    assert joined.calibration_.total == 10
    np.testing.assert_array_equal(joined.p_value(X), nested.p_value(X))
    table = pd.DataFrame(X, columns=list("abcd"))
    model = oneclass.TableDetector(delta=0.1).fit(table, groups=both)
    assert model.calibration_.total == 10
    chain = np.array([[0, 9], [0, 8], [1, 8], [2, 7]])  # the first three rows are connected
    np.testing.assert_array_equal(joined_labels("", chain), [0, 0, 0, 1])


def test_labels_that_connect_all_rows_are_refused():
    patient, device = np.repeat(np.arange(10), 5), np.tile(np.arange(5), 10)
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match=r"VAAKELM: groups of several columns.*all rows are connected.*one column"):
        VAAKELM().fit(X, groups=np.column_stack([patient, device]))
    with pytest.raises(ValueError, match=r"shape \(50,\), or several, of shape \(50, k\); got \(49, 2\)"):
        VAAKELM().fit(X, groups=np.column_stack([patient, device])[:49])


def test_what_a_rate_is_a_share_of_is_checked():
    with pytest.raises(ValueError, match="KNNDetector: rate_by must be one of 'group', 'row'; got 'rows'"):
        KNNDetector(rate_by="rows").fit(np.random.default_rng(0).normal(size=(50, 2)))


@pytest.mark.parametrize("landmarks", ["leverage", "kmeans", "uniform"])
def test_a_new_person_is_rejected_as_by_the_exact_machine_where_old_ones_are_landmarks(landmarks):
    """Sixty landmarks, sixty persons: with the landmarks of a held-out group the rate would be 2 to 4 points higher."""
    rate, _ = delivered(lambda: VAAKELM(approximation=Nystrom(60, landmarks)), 12, 0.1, grouped=True)
    assert abs(rate - exactly_delivered()) < 0.015, rate


@cache
def exactly_delivered():
    return delivered(VAAKELM, 12, 0.1, grouped=True)[0]


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # as it should be
def test_without_groups_new_persons_are_rejected_wholesale():
    """The test above has the power to see that."""
    assert delivered(VAAKELM, 6, 0.1, grouped=False)[0] > 0.3
    assert delivered(KNNDetector, 6, 0.1, grouped=False)[0] > 0.3


@pytest.mark.parametrize("params", [{}, {"variance": "none"}, {"centering": "global"}], ids=str)
@pytest.mark.parametrize("machine", [OCKELM, VOCKELM, AAKELM, VAAKELM], ids=lambda m: m.__name__)
def test_groups_of_one_row_each_equal_no_groups(machine, params):
    if machine in (OCKELM, AAKELM) and params:
        pytest.skip("has no variance")
    X = np.random.default_rng(0).normal(size=(50, 3))
    expected = machine(**params).fit(X).calibration_.losses
    assert_agree(machine(**params).fit(X, groups=np.arange(50)).calibration_.losses, expected, 1e-10)


@pytest.mark.parametrize("approximation", [None, Nystrom(20)], ids=str)
@pytest.mark.parametrize("machine", [OCKELM, VAAKELM], ids=lambda m: m.__name__)
def test_a_group_of_one_row_is_held_out_with_all_that_it_weighs(machine, approximation):
    rng = np.random.default_rng(0)
    X, w, own = rng.normal(size=(50, 3)), rng.integers(0, 4, size=50), np.arange(50)
    make = partial(machine, C=4.0, sigma=1.5, variance="class") if machine is VAAKELM else partial(machine, C=4.0)
    weighted = make(approximation=approximation).fit(X, sample_weight=w, groups=own)
    repeated = make(approximation=approximation).fit(np.repeat(X, w, axis=0), groups=np.repeat(own, w))
    assert weighted.calibration_.total == pytest.approx(np.count_nonzero(w))
    assert_agree(np.repeat(weighted.held_out_scores_, w), repeated.held_out_scores_, 1e-8)
    assert weighted.offset_ == pytest.approx(repeated.offset_, rel=1e-8)


@pytest.mark.parametrize("machine", [OCKELM, AAKELM], ids=lambda m: m.__name__)
def test_held_out_losses_are_those_of_refitting_without_the_group(machine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    owner = rng.integers(0, 15, size=60)
    params = {"C": 4.0, "sigma": 1.5, "scale": False, "delta": 0.2} | (
        {} if machine is OCKELM else {"loss": "reconstruction"}
    )
    held_out = np.empty(60)
    for person in np.unique(owner):
        rest = machine(**params).fit(X[owner != person])
        held_out[owner == person] = -rest.score_samples(X[owner == person])
    calibration = machine(**params).fit(X, groups=owner).calibration_
    assert_agree(calibration.losses, np.sort(held_out), 1e-9)
    shares = (1 / np.bincount(owner)[owner])[np.argsort(held_out)]
    assert_agree(calibration.reached, np.cumsum(shares), 1e-9)
    assert calibration.total == pytest.approx(len(np.unique(owner)))


@pytest.mark.parametrize("machine", [OCKELM, VOCKELM, AAKELM, VAAKELM], ids=lambda m: m.__name__)
def test_all_rows_as_landmarks_hold_groups_out_exactly(machine):
    rng = np.random.default_rng(0)
    X, owner = persons(rng, 20, 3, 0.3)
    w = rng.integers(1, 4, size=60).astype(float)
    params = {"C": 4.0, "sigma": 1.5, "delta": 0.1}
    exact = machine(**params).fit(X, sample_weight=w, groups=owner)
    many = machine(approximation=Nystrom(60), **params).fit(X, sample_weight=w, groups=owner)
    assert_agree(many.calibration_.losses, exact.calibration_.losses, 1e-6)
    assert_agree(many.calibration_.reached, exact.calibration_.reached, 1e-6)


@pytest.mark.parametrize("approximation", [None, Nystrom(15)], ids=str)
def test_groups_are_the_same_on_every_array_library(xp, approximation):
    X, owner = persons(np.random.default_rng(0), 20, 3, 0.3)
    numpy, other = (
        VAAKELM(delta=0.1, approximation=approximation).fit(rows, groups=owner) for rows in (X, xp.asarray(X))
    )
    assert_agree(other.calibration_.losses, numpy.calibration_.losses, 1e-8)


@pytest.mark.parametrize("visits", [3, 7])
def test_single_precision_misses_no_rank_among_the_shares_of_groups(visits):
    """Of 39 groups, 38 make a budget of 5 %: thirds and sevenths must add up to as many."""
    for seed in range(5):
        X, owner = persons(np.random.default_rng(seed), 39, visits, 0.3)
        double, single = (AAKELM(C=4.0).fit(X.astype(dtype), groups=owner) for dtype in (np.float64, np.float32))
        assert single.offset_ == pytest.approx(double.offset_, rel=1e-3)


def test_labels_of_any_kind_make_the_same_groups():
    X, owner = persons(np.random.default_rng(0), 20, 3, 0.3)
    expected = AAKELM(delta=0.1).fit(X, groups=owner).offset_
    for labels in (owner.astype(float), [f"patient {i}" for i in owner], owner[::1] * 7 - 3):
        assert AAKELM(delta=0.1).fit(X, groups=labels).offset_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["KNNDetector", "SVDD", "PCADetector"])
def test_a_column_may_have_the_groups(name):
    X, owner = persons(np.random.default_rng(0), 20, 3, 0.3)
    make = getattr(oneclass, name)
    model = make(delta=0.1).fit(np.column_stack([X, owner]), groups=-1)
    assert model.n_features_in_ == 4
    assert model.offset_ == make(delta=0.1).fit(X, groups=owner).offset_


@pytest.mark.parametrize("make", [lambda: AAKELM(C=4.0, sigma=1.5), KNNDetector], ids=["AAKELM", "KNNDetector"])
def test_labels_and_p_values_agree_where_rows_share_the_weight_of_their_group(make):
    rng = np.random.default_rng(0)
    owner = rng.integers(0, 30, 150)
    X = rng.normal(size=(30, 2))[owner] + 0.5 * rng.normal(size=(150, 2))
    model, fresh = make().fit(X, groups=owner), 2 * rng.normal(size=(500, 2))
    for alpha in (0.05, 0.07, 0.1, 0.33):
        np.testing.assert_array_equal(model.predict(fresh, delta=alpha) == -1, model.p_value(fresh) <= alpha)


@pytest.mark.parametrize(("count", "delta"), [(9, 0.1), (19, 0.05), (39, 0.05), (99, 0.01)])
def test_a_p_value_of_as_many_groups_as_a_budget_takes_is_that_budget(count, delta):
    X, owner = persons(np.random.default_rng(0), count, 7, 0.3)
    model, fresh = VAAKELM(delta=delta).fit(X, groups=owner), np.concatenate([2 * X, X + 40])
    assert model.p_value(X + 40).max() == 1 / (count + 1)
    np.testing.assert_array_equal(model.predict(fresh) == -1, model.p_value(fresh) <= delta)


def test_labels_of_any_kind_name_the_same_groups():
    X, owner = persons(np.random.default_rng(0), 20, 3, 0.3)
    offset = VAAKELM(delta=0.1).fit(X, groups=owner).offset_
    for labels in (owner.astype(object), list(map(str, owner)), np.array([np.float64(i) for i in owner], dtype=object)):
        assert VAAKELM(delta=0.1).fit(X, groups=labels).offset_ == offset


def test_the_smallest_budget_counts_groups():
    X, owner = persons(np.random.default_rng(0), 9, 10, 0.3)
    assert VAAKELM(delta=0.2).fit(X, groups=owner).calibration_.smallest_budget == pytest.approx(0.1)
    with pytest.warns(UserWarning, match="training rows or groups"):
        VAAKELM(delta=0.05).fit(X, groups=owner)


@pytest.mark.parametrize("make", [VAAKELM, KNNDetector, SVDD], ids=lambda m: m.__name__)
@pytest.mark.parametrize(
    ("groups", "rule"),
    [
        (np.arange(5), "one label a row"),
        (np.zeros(30), "at least two"),
        (np.where(np.arange(30) < 3, np.nan, 1.0), "labels are missing"),
        (np.array([None] * 2 + ["a"] * 28, dtype=object), "2 labels are missing"),
        (np.array([np.nan, np.float32("nan")] + ["a"] * 28, dtype=object), "2 labels are missing"),
        ([np.nan] + ["a", "b"] * 14 + ["a"], "1 labels are missing"),
        (np.array([""] * 2 + ["a", "b"] * 14), "2 labels are missing"),
        (pd.Series([pd.NA, pd.NaT, ""] + ["a"] * 27, dtype=object), "3 labels are missing"),
        (pd.Series([None] * 2 + ["a", "b"] * 14, dtype="string"), "2 labels are missing"),
        (pd.Series([None] * 2 + ["a", "b"] * 14, dtype="category"), "2 labels are missing"),
        (pd.Series([None] * 2 + [1, 2] * 14, dtype="Int64"), "2 labels are missing"),
    ],
)
def test_bad_groups_are_named(make, groups, rule):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=f"{make.__name__}: groups .*{rule}"):
        make().fit(X, groups=groups)


def test_groups_of_every_size_are_found():
    groups = Groups(np.array([0, 2, 1, 2, 0, 2, 3]))
    assert [rows.tolist() for rows in groups.by_size] == [[[2], [6]], [[0, 4]], [[1, 3, 5]]]
    assert groups.weights(np.ones(7)) == pytest.approx([0.5, 1 / 3, 1, 1 / 3, 0.5, 1 / 3, 1])


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("method", ["kappa", "delta", "gamma"])
def test_neighbors_of_other_groups_are_those_of_fits_without_the_group(method, d):
    rng = np.random.default_rng(0)
    owner = np.concatenate([np.arange(8), rng.integers(0, 8, 52)])
    X = rng.normal(size=(60, d))
    X[5], X[17] = X[4], X[16]  # a copy in another group, or in the same one
    params = {"n_neighbors": 3, "method": method, "scale": False, "delta": 0.2}
    losses = np.empty(60)
    for g in range(8):
        rest = KNNDetector(**params).fit(X[owner != g])
        losses[owner == g] = -rest.score_samples(X[owner == g])
    model = KNNDetector(**params).fit(X, groups=owner)
    assert_agree(-model.held_out_scores_, losses, 1e-9)


def test_a_group_that_leaves_too_few_neighbors_is_held_out_by_folds():
    X = np.random.default_rng(0).normal(size=(40, 2))
    owner = np.concatenate([np.zeros(36), np.arange(1, 5)])
    assert np.isfinite(KNNDetector(delta=0.2).fit(X, groups=owner).offset_)


def table_of_persons():
    X, owner = persons(np.random.default_rng(0), 40, 5, 0.3)
    return pd.DataFrame(X, columns=list("abcd")).assign(person=owner, site=np.tile([0, 1], 100))


def test_new_rows_may_have_the_column_of_groups_or_lack_it():
    table = table_of_persons()
    plain = table[list("abcd")]
    alone = VAAKELM().fit(plain, groups=table["person"])
    model = VAAKELM().fit(table.drop(columns="site"), groups="person")
    for rows in (plain, table.drop(columns="site")):
        np.testing.assert_array_equal(model.p_value(rows), alone.p_value(plain))
        np.testing.assert_array_equal(model.explain(rows[:3]).shares, alone.explain(plain[:3]).shares)
    numbers = VAAKELM().fit(table.to_numpy(), groups=4, segments=5)
    named = VAAKELM().fit(table, groups="person", segments="site")
    labels = {"segments": table["site"]}
    for found in (
        numbers.p_value(table.to_numpy()),
        numbers.p_value(plain.to_numpy(), **labels),
        named.p_value(table),
        named.p_value(table.drop(columns="person")),
        named.p_value(table, **labels),
    ):
        np.testing.assert_array_equal(found, named.p_value(plain, **labels))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table)  # `site` is no column of the fit


@pytest.mark.parametrize("last", [VAAKELM(), oneclass.OneClassSearchCV(VAAKELM(), {"C": [1, 8]}, scoring="f1", cv=2)])
def test_a_pipeline_finds_the_column_of_groups_in_new_rows(last):
    table, y = table_of_persons().drop(columns="site"), np.repeat([1, -1], [160, 40])
    scale = StandardScaler().set_output(transform="pandas")
    pipe = oneclass.make_one_class_pipeline(scale, last).fit(table, y, groups="person")
    assert pipe.calibration_.total == 32
    np.testing.assert_array_equal(pipe.predict(table) == 1, pipe.p_value(table) > 0.05)
    found = pipe.explain(table[:3])
    assert found.names == (*"abcd", "person")
    np.testing.assert_array_equal(found.shares[:, 4], 0)
    np.testing.assert_array_equal(np.isnan(pipe.reconstruct(table[:3])), [[False] * 4 + [True]] * 3)

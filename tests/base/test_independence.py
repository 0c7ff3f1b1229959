"""Dependent rows without groups give a warning, independent rows do not; blocks of time."""

import warnings

import numpy as np
import pytest

import oneclass
from awkward import DATASETS, DEPENDENT
from classifiers import BASELINES, MACHINES, quick
from oneclass import AAKELM, DependentRowsWarning, KNNDetector, Nystrom, OneClassSearchCV, time_blocks
from oneclass.base.independence import warn_if_dependent
from reproduction.datasets import load, names


def persons(rng, n, visits, noise, d=4):
    owner = np.repeat(np.arange(n), visits)
    return rng.normal(size=(n, d))[owner] + noise * rng.normal(size=(len(owner), d))


def series(rng, n, phi, d=4):
    """A stationary Gaussian AR(1), every column by itself."""
    X = rng.normal(size=(n, d))
    for i in range(1, n):
        X[i] = phi * X[i - 1] + np.sqrt(1 - phi**2) * X[i]
    return X


def noticed(X, w=None):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warn_if_dependent(KNNDetector(), np.asarray(X, dtype=float), w)
    assert all(each.category is DependentRowsWarning for each in seen)
    return " ".join(str(each.message) for each in seen)


TOGETHER = {
    "visits of a person in a row, noise 0.1": lambda rng: persons(rng, 60, 5, 0.1),
    "visits of a person in a row, noise 0.3": lambda rng: persons(rng, 60, 5, 0.3),
    "visits of a person in a row, noise 0.5": lambda rng: persons(rng, 60, 5, 0.5),
    "unequal numbers of visits": lambda rng: persons(rng, 60, rng.integers(1, 10, 60), 0.5),
    "visits in rounds": lambda rng: persons(rng, 60, 5, 0.5).reshape(60, 5, 4).swapaxes(0, 1).reshape(300, 4),
    "visits in no order": lambda rng: rng.permutation(persons(rng, 60, 5, 0.1)),
    "ten visits in no order": lambda rng: rng.permutation(persons(rng, 40, 10, 0.1)),
    "every row entered twice": lambda rng: np.repeat(rng.normal(size=(150, 4)), 2, axis=0),
    "a table given twice": lambda rng: np.tile(rng.normal(size=(150, 4)), (2, 1)),
    "every row entered twice, in no order": lambda rng: rng.permutation(np.repeat(rng.normal(size=(50, 4)), 2, axis=0)),
    "a fifth entered twice, rounded": lambda rng: (lambda X: rng.permutation(np.concatenate([X, X[:50]])))(
        rng.normal(size=(250, 4)).round(2)
    ),
    "AR(1), 0.9": lambda rng: series(rng, 300, 0.9),
    "AR(1), 0.99": lambda rng: series(rng, 300, 0.99),
    "AR(1), 0.9, one column": lambda rng: series(rng, 300, 0.9, 1),
    "AR(1) of heavy tails and one sorted column": lambda rng: np.column_stack(
        [np.exp(3 * series(rng, 300, 0.9)), np.arange(300)]
    ),
}


@pytest.mark.parametrize("case", TOGETHER)
def test_rows_that_belong_together_are_noticed(case):
    for seed in range(5):
        seen = noticed(TOGETHER[case](np.random.default_rng(seed)))
        entered = "entered twice" in case and ("no order" in case or "rounded" in case)
        assert ("exact copies" in seen) == entered, seed
        assert ("near-duplicates" in seen) == ("no order" in case and not entered), seed
        assert ("are alike" in seen) == ("no order" not in case and "rounded" not in case), seed


def test_awkward_rows_that_are_independent_are_left_in_peace():
    """At most 1 %, of sixty kinds of rows: tied, binary, sparse, rounded, heavy-tailed, clustered, few, wide."""
    kinds = sorted(set(DATASETS) - DEPENDENT)
    seen = [noticed(DATASETS[kind](np.random.default_rng(seed))[0]) for kind in kinds for seed in range(5)]
    assert sum(map(bool, seen)) <= 0.01 * len(seen)
    assert noticed(DATASETS["every row twice"](np.random.default_rng(0))[0])


DRAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(sigma=2, size=shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
    "integers": lambda rng, shape: rng.poisson(3, size=shape),
    "binary": lambda rng, shape: rng.random(shape) < 0.3,
    "sparse": lambda rng, shape: np.where(rng.random(shape) < 0.1, rng.exponential(size=shape), 0),
    "of rank two": lambda rng, shape: rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])),
    "in two clusters": lambda rng, shape: rng.normal(size=shape) + 20 * (rng.random((shape[0], 1)) < 0.3),
    "ten binary columns and numbers": lambda rng, shape: np.column_stack(
        [rng.random((shape[0], 10)) < 0.5, rng.normal(size=shape).round(1)]
    ),
}


@pytest.mark.parametrize("shape", [(40, 2), (40, 60), (100, 5), (400, 1), (400, 4)], ids=str)
def test_independent_rows_are_left_in_peace(shape):
    seen = [noticed(draw(np.random.default_rng(seed), shape)) for draw in DRAWS.values() for seed in range(12)]
    assert sum(map(bool, seen)) <= 0.01 * len(seen)


@pytest.mark.parametrize("d", [4, 12, 50])
def test_a_few_duplicates_do_no_harm_and_are_left_in_peace(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(290, d))
    assert not noticed(rng.permutation(np.concatenate([X, X[:10]])))
    assert noticed(rng.permutation(np.concatenate([X, X[:60]])))


@pytest.mark.parametrize("d", [2, 4, 50])
@pytest.mark.parametrize("n", [100, 2_000])
def test_weights_that_make_copies_are_noticed_as_copies_are(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    for w in (np.full(n, 2.0), np.full(n, 1e3), rng.integers(1, 4, n).astype(float), 1.0 + (rng.random(n) < 0.5)):
        assert "KNNDetector: rows that weigh 2 or more" in noticed(X, w)
    for w in (np.ones(n), rng.uniform(0.5, 1.5, n), 1.0 + (np.arange(n) % 30 == 0)):
        assert not noticed(X, w)


def test_numbers_of_equal_rows_as_weights_are_left_in_peace():
    for kind in sorted(set(DATASETS) - DEPENDENT):
        rows, counts = np.unique(DATASETS[kind](np.random.default_rng(0))[0], axis=0, return_counts=True)
        order = np.random.default_rng(0).permutation(len(rows))
        assert "weigh" not in noticed(rows[order], counts[order].astype(float)), kind


def test_weights_that_count_copies_keep_the_rate_if_groups_name_the_copies():
    rng, rates = np.random.default_rng(0), {"copies": [], "groups": []}
    for _ in range(8):
        X, w, fresh = rng.normal(size=(200, 3)), np.full(200, 3.0), rng.normal(size=(500, 3))
        with pytest.warns(DependentRowsWarning, match=r"^AAKELM: rows that weigh 2 or more .*range\(len\(X\)\)"):
            rates["copies"].append(np.mean(AAKELM().fit(X, sample_weight=w).predict(fresh) == -1))
        rates["groups"].append(np.mean(AAKELM().fit(X, sample_weight=w, groups=range(200)).predict(fresh) == -1))
    assert np.mean(rates["copies"]) > 0.5
    assert abs(np.mean(rates["groups"]) - 0.05) < 0.025


@pytest.mark.slow
@pytest.mark.data
def test_public_data_in_no_order_are_left_in_peace(raw_folder):
    """Both classes of every dataset, except datasets that have groups themselves."""
    seen = {}
    for name in names():
        data = load(name)
        for label in (1, -1) if data.groups is None else ():
            rows = data.X.to_numpy(dtype=float)[data.y == label]
            seen[name, label] = noticed(np.random.default_rng(0).permutation(rows))
    assert sum(map(bool, seen.values())) <= 0.01 * len(seen), {where: what for where, what in seen.items() if what}
    assert len(seen) > 90


@pytest.mark.parametrize("name", [*MACHINES, *BASELINES])
@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.filterwarnings("ignore:OCELM.*as many as n_hidden:oneclass.FewRowsWarning")
def test_every_classifier_says_so_once_unless_groups_are_named(name):
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 2, axis=0)
    model = quick(name)
    with pytest.warns(
        DependentRowsWarning, match=f"^{name}: rows that follow one another .*groups=.*time_blocks"
    ) as seen:
        model.fit(X)
    assert [each.filename for each in seen if each.category is DependentRowsWarning] == [__file__]
    model.set_params(delta=0.1).fit(X, groups=np.arange(60) // 2)
    model.fit(X, groups=np.arange(60))  # the user says that they are independent
    model.fit(X[:38:2])


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [(AAKELM(), {"C": [1.0, 8.0], "sigma": [1.0, 2.0]}), (KNNDetector(), {"n_neighbors": [2, 3]})],
)
def test_a_search_says_so_once(estimator, grid):
    X = np.repeat(np.random.default_rng(0).normal(size=(50, 3)), 2, axis=0)
    X, y = np.concatenate([X, X[:10] + 5]), np.repeat([1, -1], [100, 10])
    with pytest.warns(DependentRowsWarning) as seen:
        OneClassSearchCV(estimator, grid).fit(X, y)
    assert len(seen) == 1


def test_the_first_chunk_is_checked_for_dependence():
    X = series(np.random.default_rng(0), 600, 0.9)
    machine = AAKELM(approximation=Nystrom(20))
    with pytest.warns(DependentRowsWarning, match="AAKELM: rows that follow one another") as seen:
        machine.fit_chunks([X[:300], X[300:]])
    assert [each.filename for each in seen] == [__file__]
    machine.fit_chunks([np.column_stack([X[:300], np.arange(300) // 10])] * 2, groups=4)


def test_kernel_values_are_no_rows():
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 2, axis=0)
    AAKELM(kernel="precomputed", loss="reconstruction").fit(X @ X.T)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8, 0.9, 0.95])
def test_blocks_are_as_long_as_rows_take_to_forget(phi):
    length = 1 if phi == 0 else np.log(1 / 3) / np.log(phi)
    blocks = time_blocks(series(np.random.default_rng(0), 5000, phi))
    assert 0.8 * length <= 5000 / (blocks[-1] + 1) <= 1.25 * length + 1


@pytest.mark.parametrize(("n", "length"), [(7, 3), (10, 1), (10, 10), (2, 5), (1000, 7)])
def test_blocks_follow_one_another_and_are_as_long_as_asked_for(n, length):
    blocks = time_blocks(n, length)
    sizes = np.bincount(blocks)
    np.testing.assert_array_equal(blocks, np.sort(blocks))
    assert len(sizes) == max(2, n // length)
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(time_blocks(np.zeros((n, 2)), length), blocks)


def test_blocks_do_not_depend_on_units_tails_or_what_holds_the_rows(xp):
    X = series(np.random.default_rng(0), 300, 0.8)
    expected = time_blocks(X)
    np.testing.assert_array_equal(time_blocks(np.exp(2 * X + 5)), expected)
    np.testing.assert_array_equal(time_blocks(np.column_stack([np.arange(300), X, np.ones(300)])), expected)
    np.testing.assert_array_equal(time_blocks(xp.asarray(X)), expected)
    np.testing.assert_array_equal(time_blocks(pytest.importorskip("pandas").DataFrame(X)), expected)


@pytest.mark.parametrize(
    ("X", "length", "rule"),
    [
        (100, None, "length must be given for a number of rows, got None"),
        (np.arange(50.0)[:, None], None, "length must be given for columns that are constant or sorted, got None"),
        (100, 0, "length must be a whole number of at least 1, got 0"),
        (100, 2.5, "length must be a whole number of at least 1, got 2.5"),
        (1, 1, "X must have at least 2 rows, got 1"),
        (np.zeros(5), None, "X must have two dimensions"),
    ],
)
def test_what_makes_no_blocks_is_refused(X, length, rule):
    with pytest.raises(ValueError, match=f"time_blocks: {rule}"):
        time_blocks(X, length)


def delivered(make, phi, repeats, *, blocks):
    """Mean share of fresh rows, of other times, that are rejected; and its standard error."""
    shares = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        X, fresh = series(rng, 300, phi), rng.normal(size=(300, 4))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", oneclass.UnreachableRateWarning)
            warnings.simplefilter("ignore" if not blocks else "error", DependentRowsWarning)
            shares.append(np.mean(make().fit(X, groups=time_blocks(X) if blocks else None).predict(fresh) == -1))
    return np.mean(shares), np.std(shares) / np.sqrt(repeats)


@pytest.mark.parametrize(
    "make", [lambda: AAKELM(kernel="laplacian", sigma="mean", C=32.0), KNNDetector], ids=["AAKELM", "KNNDetector"]
)
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_blocks_of_time_keep_the_rate_asked_for(make, phi):
    rate, error = delivered(make, phi, 16, blocks=True)
    assert abs(rate - 0.05) <= 0.02 + 2 * error, rate
    if phi == 0.9:
        assert delivered(make, phi, 4, blocks=False)[0] > 0.12


def test_few_independent_rows_are_named():
    for seed in range(10):
        with pytest.warns(DependentRowsWarning, match="time_blocks: 300 rows .* independent ones, too few"):
            time_blocks(series(np.random.default_rng(seed), 300, 0.99))

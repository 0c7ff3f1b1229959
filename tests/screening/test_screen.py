"""Tables with planted mistakes: the ranking of rows and cells, expected values, and clean tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import oneclass
from oneclass import screen
from oneclass.core.conditional import conditional
from oneclass.core.kernels import Laplacian
from oracle.comparison import assert_agree

LAWS = {
    "gaussian": lambda rng: rng.normal(size=(300, 6)),
    "correlated": lambda rng: 0.8**0.5 * rng.normal(size=(300, 1)) + 0.2**0.5 * rng.normal(size=(300, 6)),
    "joint t(3)": lambda rng: rng.normal(size=(300, 6)) / np.sqrt(rng.chisquare(3, size=(300, 1)) / 3),
    "joint t(3), correlated": lambda rng: (
        (0.8**0.5 * rng.normal(size=(300, 1)) + 0.2**0.5 * rng.normal(size=(300, 6)))
        / np.sqrt(rng.chisquare(3, size=(300, 1)) / 3)
    ),
    "t(3)": lambda rng: rng.standard_t(3, size=(300, 6)),
    "lognormal": lambda rng: rng.lognormal(size=(300, 6)),
    "exponential": lambda rng: rng.exponential(size=(300, 6)),
    "uniform": lambda rng: rng.uniform(size=(300, 6)),
    "three kinds": lambda rng: rng.normal(size=(300, 6)) + 6 * rng.integers(0, 3, size=(300, 1)),
    "a curve": lambda rng: np.outer(rng.uniform(-2, 2, 300), [1, -2]) ** [1, 2] + 0.1 * rng.normal(size=(300, 2)),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_clean_table_has_rows_named_no_more_often_than_asked_for(law):
    named = sum(screen(LAWS[law](np.random.default_rng([seed, 1]))).odd.any() for seed in range(15))
    assert named <= binom.ppf(0.999, 15, 0.1)


def planted(kind, seed, n=400):
    """Four correlated columns, of which 2 % of the rows hold one mistake, and the mask of wrong cells."""
    rng = np.random.default_rng([seed, len(kind)])
    X = 50 + 10 * (rng.normal(size=(n, 1)) @ [[1.0, 0.9, -0.8, 0.7]] + 0.4 * rng.normal(size=(n, 4)))
    wrong, clean = np.zeros(X.shape, dtype=bool), X.copy()
    for i in range(8):
        j, other = rng.permutation(4)[:2]
        wrong[i, j] = True
        if kind == "x10":
            X[i, j] *= 10
        elif kind == "4 sd":
            X[i, j] += rng.choice([-4, 4]) * clean[:, j].std()
        elif kind == "6 sd":
            X[i, j] += rng.choice([-6, 6]) * clean[:, j].std()
        elif kind == "swapped":
            X[i, [j, other]] = clean[i, [other, j]]
            wrong[i, other] = True
    return X, wrong, clean


#: Lower bounds of the share of wrong rows among the first 16, of wrong cells that are first in their row, and of rows
#: that are named.
BANDS = {"x10": (1.0, 0.95, 0.95), "6 sd": (1.0, 0.95, 0.9), "4 sd": (0.95, 0.95, 0.5), "swapped": (0.3, 0.4, 0.0)}


@pytest.mark.parametrize("kind", BANDS)
def test_planted_mistakes_are_first(kind):
    first, cells, named, false = [], [], [], []
    for seed in range(4):
        X, wrong, _ = planted(kind, seed)
        found, y = screen(X), wrong.any(axis=1)
        first.append(y[found.order[:16]].sum() / 8)
        worst = {cell.row: cell.column for cell in reversed(found.cells)}
        cells += [wrong[row, worst[row]] for row in np.flatnonzero(y) if row in worst]
        named.append(found.odd[y].mean())
        false.append((found.odd & ~y).sum() / max(1, found.odd.sum()))
    bands = BANDS[kind]
    assert np.mean(first) >= bands[0]
    assert np.mean(cells) >= bands[1]
    assert np.mean(named) >= bands[2]
    assert np.mean(false) <= 0.15


def test_one_column_six_deviations_off_is_named_without_help_of_the_others():
    named, false = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 6))
        X[np.arange(8), rng.integers(0, 6, 8)] += 6 * rng.choice([-1, 1], 8)
        odd = screen(X).odd
        named.append(odd[:8].mean())
        false.append(odd[8:].sum() / max(1, odd.sum()))
    assert np.mean(named) >= 0.85
    assert np.mean(false) <= 0.1


def test_expected_values_are_close_to_the_true_ones_and_ranges_hold_nine_in_ten():
    inside, errors = [], []
    for seed in range(5):
        X, _, clean = planted("6 sd", seed)
        for cell in screen(X).cells:
            if cell.named:
                truth = clean[cell.row, cell.column]
                inside.append(cell.low <= truth <= cell.high)
                errors.append(abs(cell.expected - truth) / clean[:, cell.column].std())
    assert len(inside) > 30
    assert np.mean(inside) >= 0.75
    assert np.median(errors) < 0.5


def test_a_tenth_of_wrong_values_in_one_column_do_not_hide_each_other():
    X, _, _ = planted("none", 0)
    X[:40, 1] = 500.0
    found = screen(X)
    assert np.isin(found.order[:40], np.arange(40)).mean() > 0.95


def test_scores_of_cells_are_those_of_brute_force_refits():
    X = np.random.default_rng(0).normal(size=(30, 3))
    parts = list(conditional(Laplacian(2.0), X, [()], targets=[(0, 1, 2)], C=16.0, variances=False))
    K = Laplacian(2.0)(X, X)
    for i in (0, 7, 29):
        stay = np.arange(30) != i
        G = np.linalg.inv(K[np.ix_(stay, stay)] + np.eye(29) / 16)
        centre = G.sum(axis=0) @ X[stay] / G.sum()
        expected = X[i] - centre - K[i, stay] @ G @ (X[stay] - centre)
        assert_agree(parts[0].residuals[i], expected, 1e-8)


def test_the_order_of_rows_and_columns_does_not_matter():
    X, _, _ = planted("x10", 0)
    rows, columns = np.random.default_rng(1).permutation(400), [2, 0, 3, 1]
    plain, turned = screen(X), screen(X[rows][:, columns])
    assert_agree(turned.p_values, plain.p_values[rows], 1e-6)
    assert rows[turned.cells[0].row] == plain.cells[0].row
    assert columns[turned.cells[0].column] == plain.cells[0].column


def test_landmarks_find_the_mistakes_of_many_rows():
    X, wrong, _ = planted("x10", 0, n=3000)
    found = screen(X)
    assert set(np.flatnonzero(wrong.any(axis=1))) <= set(found.order[:16])


def test_a_copy_of_a_column_reveals_every_mistake():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X = np.column_stack([X, X[:, 0]])
    X[5, 0] += 2
    found = screen(X)
    assert found.order[0] == 5
    assert found.copies == ((3, 0, (5,)),)
    assert found.summary.endswith("column 3 is a copy of column 0, but for 1 row")


def test_collinear_columns_reveal_a_mistake():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X = np.column_stack([X, X @ [1, -2, 0.5]])
    X[5, 3] += 3
    found = screen(X)
    assert found.order[0] == 5
    assert not found.copies


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(60, 1)),
        np.random.default_rng(0).normal(size=(60, 2)),
        np.column_stack([np.random.default_rng(0).normal(size=(60, 2)), np.ones(60)]),
        np.random.default_rng(0).normal(size=(20, 60)),
        np.random.default_rng(0).normal(size=(5, 2)),
        np.repeat(np.eye(3), 20, axis=0),
    ],
    ids=["one column", "two columns", "constant", "more columns than rows", "five rows", "three places"],
)
@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_there_is_always_an_answer(X):
    found = screen(X)
    assert sorted(found.order) == list(range(len(X)))
    assert found.odd.sum() <= 1
    assert np.all((found.p_values > 0) & (found.p_values <= 1))


def people(n=300):
    rng = np.random.default_rng(0)
    height = rng.normal(175, 8, n).round()
    return pd.DataFrame(
        {
            "height": height,
            "weight": (height - 100 + rng.normal(0, 4, n)).round(1),
            "sex": np.where(height > 175, "m", "f"),
            "city": rng.choice(["Oslo", "Rome", "Bern"], n),
        }
    )


def test_words_and_gaps_are_judged_and_spellings_are_reported():
    table = people()
    table.loc[7, "weight"] *= 10
    tall = int((table["height"] - 188).abs().idxmin())
    table.loc[tall, "sex"] = "f"
    table.loc[3, "city"], table.loc[4, "weight"] = "oslo ", np.nan
    with pytest.warns(oneclass.ColumnWarning, match="'city' holds 'Oslo', 'oslo'"):
        found = screen(table)
    assert (found.cells[0].row, found.cells[0].column, found.cells[0].named) == (7, "weight", True)
    assert found.cells[0].low < table.loc[7, "weight"] / 10 < found.cells[0].high
    assert tall in [cell.row for cell in found.cells]
    assert all(str(cell.expected) != str(cell.value) for cell in found.cells)


def test_cells_that_hold_no_value_of_their_column_are_wrong():
    table = people().astype({"weight": object})
    table.loc[5, "weight"] = "#REF!"
    table.loc[6, "weight"] = None
    for verb in (screen, oneclass.TableDetector().screen):
        with pytest.warns(oneclass.ColumnWarning, match="'weight' holds numbers but for 1 of 299 cells"):
            found = verb(table)
        assert np.flatnonzero(found.odd).tolist() == [5]
        first = found.cells[0]
        assert (first.row, first.column, first.value, first.named) == (5, "weight", "#REF!", True)
        assert first.low < people()["weight"][5] < first.high
        repaired, log = found.repair(table)
        assert log["row"].tolist() == [5]
        assert isinstance(repaired["weight"][5], float)
    with pytest.warns(oneclass.ColumnWarning):
        assert not oneclass.TableDetector(bad_cells="gap").screen(table).odd.any()


def test_a_frame_lists_the_cells_and_counts_the_mistakes():
    X, wrong, _ = planted("x10", 0)
    frame = screen(X).to_frame(5)
    assert list(frame) == [
        "row", "column", "value", "expected", "low", "high", "p_value", "named", "mistakes",
    ]  # fmt: skip
    assert wrong[frame["row"], frame["column"]].all()
    assert_agree(frame["mistakes"].to_numpy()[:3], np.array([1.0, 2.0, 3.0]), 0.05)


def test_a_list_is_at_least_as_long_as_asked_for():
    X = np.random.default_rng(0).normal(size=(300, 2))
    assert len({cell.row for cell in screen(X, top=200).cells}) == 200


def test_a_clean_table_has_nothing_that_stands_out():
    assert screen(np.random.default_rng(1).normal(size=(200, 4))).summary == "nothing stands out among 200 rows"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q": 1}, r"screen: q must be a number in \(0, 1\), got 1"),
        ({"top": 0}, "screen: top must be a whole number of at least 1, got 0"),
        ({"columns": {"x": "number"}}, "screen: columns must name columns of the table"),
        ({"groups": np.ones(3)}, "screen: groups must be one label a row"),
    ],
)
def test_what_cannot_be_screened_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        screen(np.random.default_rng(0).normal(size=(50, 2)), **options)


def test_a_person_whose_rows_are_alike_is_found_as_a_whole():
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(60), 5)
    X = rng.normal(size=(60, 4))[owner] + 0.1 * rng.normal(size=(300, 4))
    X[owner < 2] += 15
    found = oneclass.screen(X, groups=owner)
    assert set(found.order[:10]) == set(range(10))


def test_every_named_row_has_a_listed_cell():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    X[rng.choice(3000, 150, replace=False)] += 6 * rng.standard_t(2, size=(150, 6))
    found = screen(X)
    assert found.odd.sum() > 100
    assert set(np.flatnonzero(found.odd)) <= {cell.row for cell in found.cells}

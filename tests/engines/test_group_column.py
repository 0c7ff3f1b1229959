"""Rows in chunks and on Dask, with a column that names their group."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest

from oneclass import AAKELM, VAAKELM, Fourier, Nystrom
from oneclass.base.groups import group_keys
from oneclass.core.features import NystromMap
from oneclass.core.folds import FoldMachine
from oneclass.core.groups import GroupCounts
from oneclass.core.leave_landmarks_out import Landmarks
from oneclass.core.machine import fit_moments
from oracle.comparison import assert_agree

pd = pytest.importorskip("pandas")

NAMES = ["mass", "height", "charge"]
SETTINGS = {"C": 2.0, "sigma": 1.5, "delta": 0.1}


@pytest.fixture(scope="module")
def table():
    """Rows of 40 patients, in no order, with their patient between the features."""
    rng = np.random.default_rng(0)
    owner = rng.integers(0, 40, 300)
    X = rng.normal(size=(40, 3))[owner] + 0.3 * rng.normal(size=(300, 3))
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(1, "patient", [f"patient {i}" for i in owner])
    return frame


def chunks(table):
    return [table.iloc[a : a + 70] for a in range(0, 300, 70)]


def test_held_out_losses_are_those_of_machines_without_the_fold_of_the_group(table):
    # Only the weights depend on the rows.
    params = {"approximation": Fourier(30), "scale": False, "loss": "reconstruction"} | SETTINGS
    calibration = AAKELM(**params).fit_chunks(chunks(table), groups="patient").calibration_
    patients = np.unique(table["patient"])
    ranks = np.argsort(np.argsort(group_keys("AAKELM", patients)))
    fold = dict(zip(patients, ranks % 5, strict=True))
    folds = table["patient"].map(fold).to_numpy()
    losses = np.empty(300)
    for k in range(5):
        twin = AAKELM(**params).fit_chunks(chunks(table[folds != k][NAMES]))
        losses[folds == k] = -twin.score_samples(table[folds == k][NAMES])
    weights = 1 / table.groupby("patient")["mass"].transform("size").to_numpy()
    assert_agree(calibration.losses, np.sort(losses), 1e-9)
    assert_agree(calibration.reached, np.cumsum(weights[np.argsort(losses)]), 1e-9)
    assert calibration.total == 40


@pytest.mark.parametrize("whiten", [True, False])
def test_a_row_is_scored_without_landmarks_of_its_group(whiten):
    X = np.random.default_rng(0).normal(size=(60, 3))
    owner = np.arange(60) % 20
    plan = AAKELM(**SETTINGS, loss="predictive", approximation=Nystrom(30)).fit(X).machine_.plan
    landmarks = plan.map.landmarks
    machine = fit_moments(plan, plan.moments(X, None))
    drawn = owner[plan.nearest(X)]
    found = FoldMachine(machine, Landmarks.of(machine.model, drawn)).losses(X, owner)
    for g in np.unique(drawn):
        bare = replace(plan, map=NystromMap.of(plan.kernel, landmarks[drawn != g], whiten=whiten))
        twin = replace(fit_moments(bare, bare.moments(X, None)), signal=machine.signal)
        assert_agree(found[owner == g], twin.losses(plan.scaler(X[owner == g])), 1e-7)


@pytest.mark.parametrize("m", [4, 27])
@pytest.mark.parametrize("kernel", ["laplacian", "linear"])
def test_groups_that_share_rows_make_the_same_machine_in_any_order(kernel, m):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 3, size=(300, 3)), np.arange(300) % 30]).astype(float)
    machine = AAKELM(kernel=kernel, delta=0.1, approximation=Nystrom(m))
    expected = machine.fit_chunks([rows[:100], rows[100:]], groups=3).calibration_.losses
    for _ in range(3):
        rows = rng.permutation(rows)
        assert_agree(machine.fit_chunks([rows[:70], rows[70:]], groups=3).calibration_.losses, expected, 1e-7)


def test_groups_that_share_all_their_rows_lose_no_landmark():
    """Three values of two columns in thirty groups: the landmarks span all rows."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 3, size=(900, 2)), np.arange(900) % 30]).astype(float)
    found = AAKELM(C=8.0, delta=0.1, approximation=Nystrom(9)).fit_chunks([rows], groups=2)
    exact = AAKELM(C=8.0, delta=0.1, approximation=None).fit(rows[:, :2], groups=rows[:, 2])
    # A fold of six groups is missing where one group should be.
    np.testing.assert_allclose(found.offset_, exact.offset_, rtol=0.5)


@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_groups_in_chunks_in_any_order_make_the_same_machine(table, threshold, fresh, judgement):
    def fitted(frame, size):
        machine = VAAKELM(**SETTINGS, threshold=threshold, approximation=Nystrom(30))
        pieces = [frame[a : a + size] for a in range(0, 300, size)]
        return judgement(machine.fit_chunks(pieces, groups="patient"), fresh)

    assert_agree(fitted(table.iloc[::-1], 37), fitted(table, 300), 1e-9)


def test_a_column_of_groups_is_found_by_name_and_number_and_is_no_feature(table, fresh, judgement):
    machine = VAAKELM(**SETTINGS, approximation=Nystrom(30))
    expected = machine.fit_chunks(chunks(table), groups="patient")
    assert list(expected.feature_names_in_) == NAMES
    expected = judgement(expected, fresh)
    assert_agree(judgement(machine.fit_chunks(chunks(table), groups=1), fresh), expected, 1e-12)
    numbers = table.assign(patient=table["patient"].str.removeprefix("patient ").astype(float)).to_numpy()
    other = judgement(machine.fit_chunks(lambda: iter(np.array_split(numbers, 4)), groups=1), fresh)
    assert_agree(other[:30], expected[:30], 1e-12)  # other labels, other folds


@pytest.mark.parametrize("ending", ["csv", "parquet", "two files"])
def test_labels_in_files_may_be_text(table, tmp_path, ending, fresh, judgement):
    pytest.importorskip("pyarrow")
    machine = VAAKELM(**SETTINGS, approximation=Nystrom(30))
    expected = judgement(machine.fit_chunks(chunks(table), groups="patient"), fresh)
    first, second = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    table[: None if ending == "csv" else 100].to_csv(first, index=False, float_format="%.17g")
    table[0 if ending == "parquet" else 100 :].to_parquet(second)
    source = {"csv": str(first), "parquet": second, "two files": [first, second]}[ending]
    for groups in ("patient", 1):
        assert_agree(judgement(machine.fit_chunks(source, groups=groups), fresh), expected, 1e-9)


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=str)
def test_rows_in_memory_may_name_a_column_too(table, approximation):
    machine = AAKELM(**SETTINGS, approximation=approximation)
    expected = machine.fit(table[NAMES], groups=table["patient"]).calibration_.losses
    assert_agree(machine.fit(table, groups="patient").calibration_.losses, expected, 1e-12)
    assert_agree(machine.fit(table.to_numpy(), groups=1).calibration_.losses, expected, 1e-12)


def test_one_row_a_group_is_no_groups(table, fresh, judgement):
    alone = table.assign(patient=np.arange(300))
    machine = VAAKELM(**SETTINGS, approximation=Nystrom(30))
    expected = judgement(machine.fit_chunks(chunks(table[NAMES])), fresh)
    assert_agree(judgement(machine.fit_chunks(chunks(alone), groups="patient"), fresh), expected, 1e-9)


def test_labels_have_the_same_key_in_every_chunk_whatever_their_type():
    labels = (["7", "12", "7"], [7, 12, 7], [7.0, 12.0, 7.0], np.array([7, "12", 7], dtype=object))
    keys = [group_keys("", of).tolist() for of in labels]
    assert keys == [keys[0]] * 4
    assert keys[0][0] == keys[0][2] != keys[0][1]
    assert group_keys("", ["7", "a longer label"])[0] == keys[0][0]


def test_groups_beyond_the_limit_are_a_sample_of_whole_groups():
    keys = group_keys("", np.random.default_rng(0).integers(0, 50, 1000))
    everyone = GroupCounts.of(keys, size=100)
    few = reduce(add, [GroupCounts.of(part, size=10) for part in np.array_split(keys, 7)])
    assert_agree(few.keys, everyone.keys[:10], 0)
    assert_agree(few.counts, everyone.counts[:10], 0)
    assert few.weights(keys).sum() == pytest.approx(10)
    assert set(few.fold_of(keys)) == set(everyone.fold_of(keys)) == set(range(5))


@pytest.mark.parametrize(
    ("groups", "rule"),
    [
        ("nurse", r"name a column of X, one of \['mass', 'patient', .*got 'nurse'"),
        (4, "name a column of X, .*got 4"),
        (np.arange(300), "must name a column of X, by name or number, if rows are read in chunks; got ndarray"),
    ],
)
def test_what_names_no_column_is_refused(table, groups, rule):
    with pytest.raises(ValueError, match=f"VAAKELM: groups .*{rule}"):
        VAAKELM().fit_chunks(chunks(table), groups=groups)


@pytest.mark.parametrize("loss", ["predictive", "reconstruction"])
@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_one_group_is_refused(table, threshold, loss):
    with pytest.raises(ValueError, match="VAAKELM: groups must be at least two, since one is held out; got 1"):
        VAAKELM(threshold=threshold, loss=loss).fit_chunks(chunks(table.assign(patient=3)), groups="patient")


def test_missing_labels_are_refused(table):
    with pytest.raises(ValueError, match="VAAKELM: groups must name the group of every row, but 5 labels are missing"):
        VAAKELM().fit_chunks(chunks(table.assign(patient=[None] * 5 + [1] * 295)), groups="patient")


def test_groups_on_dask_are_those_in_chunks(table, fresh, judgement):
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    machine = VAAKELM(**SETTINGS, approximation=Nystrom(30))
    expected = judgement(machine.fit_chunks(chunks(table), groups="patient"), fresh)
    with dask.config.set(scheduler="synchronous"):
        frame = dd.from_pandas(table, npartitions=5)
        assert_agree(judgement(machine.fit(frame, groups="patient"), fresh), expected, 1e-9)
        numbers = table.assign(patient=table["patient"].str.removeprefix("patient ").astype(float))
        array = dd.from_pandas(numbers, npartitions=3).to_dask_array(lengths=True)
        found = judgement(machine.fit(array, groups=1), fresh)
        assert_agree(found, judgement(machine.fit_chunks(numbers.to_numpy(), groups=1), fresh), 1e-9)
        with pytest.raises(ValueError, match="must name a column of X"):
            machine.fit(frame, groups=table["patient"])

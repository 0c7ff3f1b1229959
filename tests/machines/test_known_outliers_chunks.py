"""Known outliers beside rows in chunks: the same as in memory, or by a sample of the rows that keeps the rate."""

import numpy as np
import pandas as pd
import pytest

from oneclass import AAKELM, OCELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom, TableDetector
from oneclass.machines import approximate
from oracle.comparison import assert_agree

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3)) * [1, 10, 100]
KNOWN = RNG.normal([3, 0, 0], size=(5, 3)) * [1, 10, 100]
FRESH = np.concatenate([RNG.normal(size=(60, 3)), RNG.normal([3, 0, 0], size=(20, 3))]) * [1, 10, 100]
CHUNKS = [X[400:], X[:1], X[1:400]]
EACH = pytest.mark.parametrize("make", [AAKELM, VAAKELM, OCKELM, VOCKELM], ids=lambda make: make.__name__)


def answers(model):
    return np.concatenate([model.score_samples(FRESH), model.p_value(FRESH), [model.offset_]])


@EACH
@pytest.mark.parametrize("approximation", [Nystrom(30), Nystrom(10), Fourier(40), None], ids=repr)
def test_chunks_with_known_outliers_are_the_rows_in_memory(make, approximation):
    model = make(approximation=approximation)
    in_memory = answers(model.fit(X, outliers=KNOWN))
    assert_agree(answers(model.fit_chunks(CHUNKS, outliers=KNOWN)), in_memory, 1e-9)
    np.testing.assert_allclose(model.known_.rows, model.scaler_(KNOWN))
    assert model.held_out_ is None
    plain = make(approximation=approximation).fit_chunks(CHUNKS)
    assert not np.allclose(plain.score_samples(FRESH), in_memory[:80])


@pytest.mark.parametrize("seed", [None, 7])
def test_the_codes_are_fitted_to_the_same_sample_as_in_memory(monkeypatch, seed):
    monkeypatch.setattr("oneclass.core.known.MOST_ROWS", 100)
    model = VAAKELM(approximation=Nystrom(30), random_state=seed)
    in_memory = answers(model.fit(X, outliers=KNOWN))
    normal = model.known_.normal
    assert_agree(answers(model.fit_chunks(CHUNKS, outliers=KNOWN)), in_memory, 1e-9)
    assert_agree(model.known_.normal, normal, 1e-12)
    assert len(normal) == 100


@EACH
def test_without_known_outliers_chunks_are_fitted_as_before(make):
    model = make(approximation=Nystrom(30))
    plain = answers(model.fit_chunks(CHUNKS))
    again = answers(model.fit_chunks(CHUNKS, outliers=None))
    np.testing.assert_array_equal(again, plain)
    assert not hasattr(model, "known_")
    assert_agree(plain, answers(model.fit(X)), 1e-9)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")
@pytest.mark.parametrize("approximation", [Nystrom(30), None], ids=repr)
def test_copies_of_rows_in_chunks_are_those_in_memory(approximation):
    model = VAAKELM(approximation=approximation)
    in_memory = answers(model.fit(np.concatenate([X, X[:100]]), outliers=KNOWN))
    assert_agree(answers(model.fit_chunks([X[:100], *CHUNKS], outliers=KNOWN)), in_memory, 1e-8)


def test_dask_collections_with_known_outliers_are_the_rows_in_memory():
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    dask = pytest.importorskip("dask")
    model = VAAKELM(approximation=Nystrom(30))
    in_memory = answers(model.fit(X, outliers=KNOWN))
    names = list("abc")
    with dask.config.set(scheduler="synchronous"):
        assert_agree(answers(model.fit(da.from_array(X, chunks=(170, -1)), outliers=KNOWN)), in_memory, 1e-9)
        table = dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
        model.fit(table, outliers=pd.DataFrame(KNOWN, columns=names))
    assert_agree(model.score_samples(pd.DataFrame(FRESH, columns=names)), in_memory[:80], 1e-9)


@EACH
def test_a_sample_of_many_rows_gives_nearly_the_same_and_keeps_the_rate(make, monkeypatch):
    rng = np.random.default_rng(1)
    rows, known = rng.normal(size=(6000, 2)), rng.normal([2.5, 0], 0.4, size=(10, 2))
    fresh, strange = rng.normal(size=(4000, 2)), rng.normal([2.5, 0], 0.4, size=(500, 2))
    model = make(approximation=Nystrom(50))
    whole = model.fit(rows, outliers=known).predict(strange)
    monkeypatch.setattr(approximate, "_PLAN_ROWS", 500)
    monkeypatch.setattr(approximate, "_UNPLANNED_ROWS", 3000)
    model.fit_chunks(np.split(rows, 4), outliers=known)
    assert model.calibration_.total == 3000
    assert 0.035 < np.mean(model.predict(fresh) == -1) < 0.065
    assert abs(np.mean(model.predict(strange) == -1) - np.mean(whole == -1)) < 0.1


def test_a_table_detector_learns_known_outliers_beside_chunks():
    names = list("abc")
    table, known, fresh = (pd.DataFrame(of, columns=names) for of in (X, KNOWN, FRESH))
    detector = TableDetector(VAAKELM(approximation=Nystrom(30)))
    in_memory = detector.fit(table, outliers=known).score_samples(fresh)
    chunked = detector.fit_chunks([table[:250], table[250:]], outliers=known).score_samples(fresh)
    assert_agree(chunked, in_memory, 1e-9)
    with pytest.raises(ValueError, match="TableDetector: outliers must be rows with the columns of X"):
        detector.fit_chunks([table], outliers=known[["a", "b"]])


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (VAAKELM(), {"outliers": KNOWN[:, :2]}, "VAAKELM: outliers must be rows with the columns of X: .*2 features"),
        (
            VAAKELM(),
            {"outliers": KNOWN[:, :2], "groups": 2},
            "outliers must be None .* sample of whole groups",
        ),
        (VAAKELM(threshold="train"), {"outliers": KNOWN}, "known outliers need threshold='held_out', got 'train'"),
        (VAAKELM(known_outliers="ignore"), {"outliers": KNOWN}, "outliers must be None in machines that ignore"),
        (OCELM(), {"outliers": KNOWN}, "OCELM: outliers must be None in machines that ignore known outliers"),
    ],
    ids=["columns", "groups", "training losses", "ignored", "no kernel"],
)
@pytest.mark.filterwarnings("ignore")
def test_known_outliers_that_chunks_cannot_learn_are_refused(model, given, said):
    with pytest.raises(ValueError, match=said):
        model.fit_chunks(CHUNKS, **given)

"""`compare_batch`, and the warning of batches whose rows are mostly outliers."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import oneclass
from classifiers import BASELINES, MACHINES, quick
from oneclass import VAAKELM, KNNDetector, ShiftedBatchWarning, TableDetector, make_one_class_pipeline
from oneclass.core.batches import false_alarm_bounds, fewest_odd

pytestmark = pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(200, 3))
SAME, ODD = RNG.normal(size=(80, 3)), RNG.normal(size=(80, 3))
ODD[:30] += 8.0


@pytest.mark.parametrize("name", [*MACHINES, *BASELINES])
def test_every_classifier_compares_batches(name):
    model = quick(name).fit(ROWS)
    like, unlike = model.compare_batch(SAME), model.compare_batch(ODD)
    assert unlike.p_value < 1e-3 <= like.p_value
    np.testing.assert_array_equal(unlike.p_values, model.p_value(ODD))
    np.testing.assert_array_equal(unlike.flagged, model.predict(ODD) == -1)
    assert like.odd_rows == 0
    assert unlike.odd_rows == fewest_odd(model.p_value(ODD), level=0.05)
    assert [unlike.odd_among(k) for k in range(81)] == [
        0, *(np.arange(1, 81) - false_alarm_bounds(model.p_value(ODD), level=0.05))
    ]  # fmt: skip
    assert set(unlike.moved) == {0, 1, 2}
    assert "columns that moved: " in repr(unlike)
    assert unlike.to_dict()["odd_rows"] == unlike.odd_rows


def tables(rng, n, town="Graz"):
    return pd.DataFrame({
        "grams": rng.normal(100, 10, n),
        "price": rng.normal(5, 1, n),
        "town": rng.choice(["Bonn", town], n),
        "note": [None if i % 5 == 0 else f"x{i % 3}" for i in range(n)],
    })  # fmt: skip


@pytest.mark.filterwarnings("ignore:TableDetector. column 'town' holds values")
def test_a_table_names_its_own_columns_and_compares_shares_of_words():
    rng = np.random.default_rng(1)
    model = TableDetector().fit(tables(rng, 300))
    assert model.compare_batch(tables(rng, 100)).moved == []
    moved = model.compare_batch(tables(rng, 100, town="Oslo").assign(price=lambda rows: rows["price"] + 2))
    assert {*moved.moved} == {"price", "town"}
    assert moved.tests["columns"] < 1e-6
    lost = model.compare_batch(tables(rng, 100).assign(note=None))
    assert lost.moved == ["note"]


def test_wrappers_and_segments_answer_as_the_classifier():
    site = np.resize(["A", "B"], 200)
    model = KNNDetector().fit(ROWS, segments=site)
    found = model.compare_batch(ODD, segments=site[:80])
    np.testing.assert_array_equal(found.p_values, model.p_value(ODD, segments=site[:80]))
    pipe = make_one_class_pipeline(StandardScaler(), KNNDetector()).fit(ROWS)
    np.testing.assert_array_equal(pipe.compare_batch(ODD).p_values, pipe.p_value(ODD))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["VAAKELM", "OCKELM", "KNNDetector", "PCADetector"])
def test_normal_batches_differ_as_rarely_as_stated(name):
    rng, found = np.random.default_rng(0), []
    for _ in range(200):
        X, batch = rng.normal(size=(200, 3)), rng.normal(size=(100, 3))
        verdict = quick(name).fit(X).compare_batch(batch)
        found.append([verdict.p_value <= 0.05, verdict.odd_rows > 0])
    assert np.all(np.mean(found, axis=0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200))


def test_bad_options_are_refused_by_name():
    model = KNNDetector().fit(ROWS)
    with pytest.raises(ValueError, match=r"KNNDetector: confidence must be a number in \(0, 1\), got 2"):
        model.compare_batch(SAME, confidence=2)
    with pytest.raises(ValueError, match="KNNDetector: tail must be one of None, 'pareto'"):
        model.compare_batch(SAME, tail="long")


def said_by(model, X, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.predict(X, **options)
    return [str(warning.message) for warning in said if warning.category is ShiftedBatchWarning]


def test_a_batch_of_outliers_is_said_to_be_no_chance_and_moved_columns_are_named():
    model = VAAKELM().fit(pd.DataFrame(ROWS, columns=list("abc")))
    moved = pd.DataFrame(SAME, columns=list("abc")).assign(b=lambda rows: rows["b"] + 9)
    (said,) = said_by(model, moved)
    assert said.startswith("VAAKELM: 80 of 80 rows are outliers, more than chance explains")
    assert said.endswith("columns that moved most: b (see compare_batch)")
    rng = np.random.default_rng(1)
    (said,) = said_by(TableDetector().fit(tables(rng, 300)), tables(rng, 100).assign(price=900.0))
    assert "columns that moved most: price" in said


def test_few_outliers_single_rows_and_batches_of_one_group_are_not_warned_of():
    model = KNNDetector().fit(ROWS)
    assert said_by(model, ODD) == said_by(model, ODD[:1]) == said_by(model, ODD[:9]) == []
    assert said_by(KNNDetector().fit(ROWS, groups=np.arange(200) // 2), ODD[:30]) == []
    assert len(said_by(model, ODD[:30])) == 1
    assert said_by(KNNDetector(threshold="train").fit(ROWS), ODD[:30]) == []


@pytest.mark.parametrize("model", [VAAKELM(), make_one_class_pipeline(StandardScaler(), KNNDetector())], ids=str)
def test_tables_of_scores_and_chunks_are_warned_of_once(model):
    model.fit(ROWS)
    for score in (
        lambda: model.score_table(SAME + 9),
        lambda: model.score_chunks([SAME[:40] + 9, SAME[40:] + 9], io.BytesIO()),
    ):
        with pytest.warns(
            ShiftedBatchWarning, match=r"rows are outliers, more than chance.*columns that moved"
        ) as said:
            score()
        assert len(said) == 1
    model.score_chunks([SAME], io.BytesIO())


def test_chunks_of_a_table_are_warned_of_with_the_names_of_its_columns():
    rng = np.random.default_rng(1)
    model, moved = TableDetector().fit(tables(rng, 300)), tables(rng, 100).assign(price=900.0)
    with pytest.warns(ShiftedBatchWarning, match="columns that moved most: price") as said:
        model.score_chunks([moved[:50], moved[50:]], io.BytesIO())
    assert len(said) == 1


def test_the_warning_can_be_turned_off():
    assert issubclass(ShiftedBatchWarning, oneclass.OneClassWarning)


def kinds(rng, n, share):
    """Rows of two kinds, of which the wider one has this share."""
    wide = rng.uniform(size=n) < share
    return np.where(wide[:, None], rng.normal(size=(n, 3)) * 2 + 6, rng.normal(size=(n, 3)))


def test_p_values_for_another_mix_keep_the_rate_and_find_odd_rows():
    rng, found = np.random.default_rng(0), []
    for _ in range(10):
        X, odd = kinds(rng, 400, 0.1), rng.normal([-6, 6, 0], size=(20, 3))
        model = VAAKELM().fit(X)
        verdict = model.compare_batch(np.concatenate([kinds(rng, 200, 0.5), odd]), X_train=X)
        alarms = [p <= 0.05 for p in (verdict.p_values, verdict.reweighted)]
        found.append([alarms[0][:200].mean(), alarms[1][:200].mean(), alarms[1][200:].mean()])
        assert 19 <= verdict.effective_size < 300
    plain, reweighted, power = np.mean(found, axis=0)
    assert plain > 0.09
    assert reweighted < 0.07
    assert power > 0.9


def test_weights_of_one_give_the_p_values_and_weights_that_collapse_none():
    model = KNNDetector().fit(ROWS)
    same = model.compare_batch(SAME, X_train=ROWS)
    if same.effective_size == 200:
        np.testing.assert_allclose(same.reweighted, same.p_values)
    far = model.compare_batch(SAME[:60] * 0.01 + 2.5, X_train=ROWS)
    assert far.reweighted is None
    assert far.effective_size < 19
    assert "too few for p-values" in repr(far)
    table = TableDetector().fit(tables(np.random.default_rng(1), 300))
    rows = tables(np.random.default_rng(1), 300)
    assert table.compare_batch(rows[:90], X_train=rows).effective_size > 19


def test_training_rows_are_checked():
    with pytest.raises(ValueError, match="X_train must hold the 200 training rows, got 80 rows"):
        KNNDetector().fit(ROWS).compare_batch(SAME, X_train=SAME)
    with pytest.raises(ValueError, match="X_train must be None after a fit with segments"):
        KNNDetector().fit(ROWS, segments=np.resize(["A", "B"], 200)).compare_batch(
            SAME, segments=["A"] * 80, X_train=ROWS
        )

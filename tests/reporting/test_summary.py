"""A report, compared with the answers of the model and with direct computation on the rows."""

import json
import re
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, chi2_contingency, ks_2samp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, RobustScaler

import oneclass
from awkward import huge_rows
from oneclass import (
    OCKELM,
    OCSVM,
    VAAKELM,
    VOCKELM,
    KNNDetector,
    NaiveParzen,
    OneClassSearchCV,
    PCADetector,
    TableDetector,
    make_one_class_pipeline,
    report,
)
from oneclass.core.column_summary import LEVELS
from oneclass.reporting import html
from oneclass.reporting.advice import likeness
from oneclass.reporting.formatting import expected_text, number, percent
from oneclass.reporting.summary import plain


def rows(n, seed, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "case_id": [f"c{i:05d}" for i in range(n)],
            "mass": rng.gamma(4, 10, n),
            "ward": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1]),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300 * 24, n), unit="h"),
            "male": rng.random(n) < 0.5,
            "lab": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        }
    )


@pytest.fixture(scope="module")
def new():
    X = rows(80, 1)
    X[:6, 1] += 7
    return X


@pytest.fixture(scope="module")
def model():
    return VAAKELM(delta=0.1).fit(rows(150, 0))


@pytest.fixture(scope="module")
def tables():
    with pytest.warns(UserWarning, match="left out 'case_id'"):
        model = TableDetector(KNNDetector()).fit(mixed(200, 0))
    odd = mixed(60, 1)
    odd.loc[3, "mass"] = 900.0
    return model, odd


@pytest.mark.parametrize(
    "make",
    [
        lambda: VAAKELM(delta=0.1),
        lambda: VAAKELM(confidence=0.9),
        lambda: VAAKELM(delta=0.0),
        lambda: NaiveParzen(),
        lambda: make_pipeline(RobustScaler(), KNNDetector()),
        lambda: OneClassSearchCV(VAAKELM(), {"C": [1.0, 10.0]}, criterion="likelihood"),
    ],
    ids=["kernel machine", "confident", "no alarms", "baseline", "pipeline", "search"],
)
def test_every_step_flags_what_predict_flags_at_its_rate(make, new):
    model = make().fit(rows(120, 0))
    steps = report(model, new).summary["steps"]
    asked = oneclass.base.pipeline.with_verbs(model)
    for step in steps:
        assert step["flagged"] == np.count_nonzero(asked.predict(new, delta=step["delta"]) == -1)
    own = [step["flagged"] for step in steps if step["own"]]
    assert own == [np.count_nonzero(model.predict(new) == -1)]
    assert [step["delta"] for step in steps] == sorted(step["delta"] for step in steps)


def test_a_threshold_on_training_losses_is_one_of_the_steps(new):
    model = VAAKELM(threshold="train").fit(rows(120, 0))
    said = report(model, new).summary
    [own] = [step for step in said["steps"] if step["own"]]
    assert own["flagged"] == said["alarms"]["flagged"] == np.count_nonzero(model.predict(new) == -1)
    beyond = np.count_nonzero(np.asarray(model.calibration_.losses) > -model.offset_)
    assert own["delta"] == pytest.approx(beyond / 121)
    assert not said["alarms"]["held_out"]
    assert any("threshold='held_out'" in words for words in said["advice"])


def test_false_alarms_are_those_of_the_calibration(model, new):
    said = report(model, new).summary["alarms"]
    known = model.calibration_
    assert said["interval"] == list(model.false_alarm_interval())
    assert said["in_1000"] == known.alarms(0.1)._asdict()
    assert said["if_all_normal"] == known.alarms(0.1, len(new))._asdict()
    assert said["safe_delta"] == known.budget(0.1)
    assert said["beyond_training"]["rows"] == np.count_nonzero(-model.score_samples(new) > known.losses.max())


def test_the_most_unusual_rows_are_listed_first_with_the_reasons_of_the_model(model, new):
    said = report(model, new, rows=20).summary["rows"]
    order = np.argsort(model.score_samples(new))[:20]
    assert [row["row"] for row in said] == (order + 1).tolist()
    np.testing.assert_array_equal([row["p_value"] for row in said], model.p_value(new)[order])
    reasons = model.explain(new[order]).top(3)
    assert [[r["column"] for r in row["reasons"]] for row in said] == [[r.column for r in row] for row in reasons]
    for i, row in zip(order, said, strict=True):
        assert all(reason["value"] == new[i, reason["column"]] for reason in row["reasons"])


def test_resemblance_is_the_two_sample_kolmogorov_smirnov_test(model):
    new = rows(70, 2) * 1.3
    said = report(model, new).summary["resemblance"]
    expected = ks_2samp(np.asarray(model.calibration_.losses), -model.score_samples(new), method="asymp")
    assert said["distance"] == pytest.approx(expected.statistic)
    assert said["p_value"] == pytest.approx(expected.pvalue, abs=0.02)
    assert said["more_unusual"]
    assert sum(said["histogram"]) == 70


def by_name(found):
    return {column["name"]: column for column in found.summary["columns"]}


def test_distance_of_a_column_is_that_of_the_two_samples_to_the_width_of_a_quantile(model):
    old, new = rows(150, 0), rows(400, 3) + np.array([0.0, 0.5, 0.0])
    for name, column in by_name(report(model, new)).items():
        exact = ks_2samp(old[:, name], new[:, name]).statistic
        assert exact - 2 / 32 < column["distance"] <= exact + 1e-9
        assert column["changed"] == ("clearly" if name == 1 else "no")
        outside = (new[:, name] < old[:, name].min()) | (new[:, name] > old[:, name].max())
        assert column["outside"] == pytest.approx(outside.mean())
        np.testing.assert_allclose(column["training"]["quantiles"], np.quantile(old[:, name], LEVELS))


def test_a_column_of_few_distinct_values_is_not_called_changed():
    old, new = (np.random.default_rng(seed).integers(0, 3, size=(500, 2)).astype(float) for seed in (0, 1))
    model = KNNDetector().fit(old)
    assert {column["changed"] for column in report(model, new).summary["columns"]} == {"no"}


def test_a_change_of_flagged_rows_only_is_attributed_to_them(model):
    new = rows(400, 4)
    new[:90, 1] += 8
    assert by_name(report(model, new))[1]["changed"] == "flagged"


def test_given_training_rows_are_summarised_as_the_model_summarised_them(tables):
    model, odd = tables
    kept, given = by_name(report(model, odd)), by_name(report(model, odd, X_train=mixed(200, 0)))
    assert kept.keys() == given.keys() == {"mass", "ward", "seen", "male", "lab"}
    for name in kept:
        assert kept[name]["training"] == given[name]["training"]


def test_categories_and_gaps_are_compared_by_their_shares(tables):
    model, _ = tables
    new = mixed(300, 5)
    new["ward"] = np.where(np.arange(300) % 2 == 0, "A", new["ward"])
    new.loc[:9, "ward"] = "Z"
    new["lab"] = np.where(np.arange(300) % 4 == 0, 1.0, np.nan)
    with pytest.warns(oneclass.ColumnWarning, match="no training row has: 'Z'"):
        columns = by_name(report(model, new))
    old_shares, new_shares = (frame["ward"].value_counts(normalize=True) for frame in (mixed(200, 0), new))
    distance = old_shares.sub(new_shares, fill_value=0).abs().sum() / 2
    assert columns["ward"]["distance"] == pytest.approx(distance)
    assert columns["ward"]["unseen"] == ["Z"]
    gaps = np.array([[f["lab"].isna().sum(), f["lab"].notna().sum()] for f in (mixed(200, 0), new)])
    assert columns["lab"]["p_value"] <= 2 * chi2_contingency(gaps).pvalue
    assert columns["lab"]["distance"] >= abs(np.subtract(*gaps[:, 0] / gaps.sum(axis=1)))
    assert columns["lab"]["changed"] == columns["ward"]["changed"] == "clearly"


def test_rows_of_a_table_are_labelled_by_their_ids(tables):
    model, odd = tables
    first = report(model, odd).summary["rows"][0]
    assert (first["row"], first["labels"]) == (4, {"case_id": "c00003"})
    assert (first["reasons"][0]["column"], first["reasons"][0]["value"]) == ("mass", 900.0)
    odd = odd.set_index(pd.Index([f"p{i}" for i in range(len(odd))], name="patient"))
    assert report(model, odd).summary["rows"][0]["labels"]["patient"] == "p3"


@pytest.mark.parametrize("detector", [VAAKELM, TableDetector])
def test_labels_and_names_of_several_levels_are_joined_by_commas(new, detector):
    names, labels = [("a", 1), ("a", 2), ("b", 1)], [(i % 2, f"p{i}") for i in range(len(new))]
    old = pd.DataFrame(rows(150, 0), columns=pd.MultiIndex.from_tuples(names))
    deep = pd.DataFrame(new, pd.MultiIndex.from_tuples(labels), old.columns)
    flat = deep.set_axis([f"{i}, {label}" for i, label in labels]).set_axis(["a, 1", "a, 2", "b, 1"], axis=1)
    found = report(detector().fit(old), deep)
    expected = report(detector().fit(old.set_axis(flat.columns, axis=1)), flat)
    assert found.summary == expected.summary
    assert found.to_html() == expected.to_html()


def test_text_in_a_table_is_read_as_the_numbers_that_it_is(tables):
    model, odd = tables
    text = odd.astype({"mass": str, "lab": str, "seen": str})
    found, expected = report(model, text).summary, report(model, odd).summary
    assert found["rows"][0]["reasons"][0]["value"] == 900.0
    assert found["columns"] == expected["columns"]


def test_numbers_that_stand_for_categories_are_not_written_as_amounts():
    zips = np.random.default_rng(0).choice([1010101, 2020202], 200)
    old = pd.DataFrame({"zip": zips, "mass": rows(200, 1, 1)[:, 0]})
    model = TableDetector(KNNDetector(), {"zip": "category"}).fit(old)
    with pytest.warns(UserWarning, match="no training row has: '3030303'"):
        found = report(model, old[:50].assign(zip=3030303))
    assert found.summary["rows"][0]["reasons"][0]["value"] == "3030303"
    for text in (found.to_html(), found.to_markdown()):
        assert "3030303" in text
        assert "3,030,303" not in text


def test_columns_of_a_pipeline_are_those_that_it_is_given(new):
    model = make_one_class_pipeline(RobustScaler(), VAAKELM()).fit(rows(150, 0))
    without, given = (report(model, new, X_train=train) for train in (None, rows(150, 0)))
    assert not any("training" in column for column in without.summary["columns"])
    assert any("X_train" in words for words in without.summary["advice"])
    assert by_name(given)[0]["training"]["median"] == pytest.approx(np.median(rows(150, 0)[:, 0]))
    assert without.summary["rows"][0]["reasons"][0]["column"] == 1


def test_a_report_without_reasons_says_why(new):
    model = make_one_class_pipeline(PolynomialFeatures(2), KNNDetector()).fit(rows(150, 0))
    said = report(model, new)
    assert said.summary["rows"][0]["reasons"] == []
    assert "several others" in said.summary["explanation"]
    assert "several others" in said.to_html()


@pytest.mark.parametrize(
    "model", [OCKELM(threshold="train"), VOCKELM(threshold="mean"), OCSVM(threshold="boundary")], ids=str
)
def test_without_held_out_losses_there_is_a_report_of_scores_without_rates(model, new):
    said = report(model.fit(rows(150, 0)), new)
    assert said.summary["steps"] == []
    assert "rate" not in said.summary["alarms"]
    assert any("threshold='held_out'" in words for words in said.summary["advice"])
    page, text = said.to_html(), said.to_markdown()
    assert ">Score</button>" in page
    assert "| row | score | reasons |" in text
    assert "this unusual" not in page + text
    assert f"| {said.summary['rows'][0]['score']:.4g} |" in text
    assert json.loads(said.to_json())["rows"][0]["p_value"] is None


@pytest.mark.parametrize("name", oneclass.machines.__all__ + oneclass.baselines.__all__)
def test_every_classifier_has_a_report(name, new):
    options = {"random_state": 0} if name in ("OCRF", "AutoencoderDetector") else {}
    model = getattr(oneclass, name)(**options).fit(rows(60, 0))
    found = report(model, new, rows=10)
    assert found.summary["alarms"]["flagged"] == np.count_nonzero(model.predict(new) == -1)
    assert "training" in found.summary["columns"][0]
    assert json.loads(found.to_json())["rows"][0]["reasons"]
    assert found.to_html().count("<section") == 8
    assert found.to_markdown().count("\n## ") == 5


def test_models_of_earlier_versions_have_a_report():
    model = oneclass.load(Path(__file__).parents[1] / "files" / "versions" / "1-vaakelm.oneclass")
    new = pd.DataFrame(rows(30, 0, model.n_features_in_), columns=model.feature_names_in_)
    said = report(model, new).summary
    assert not any("training" in column for column in said["columns"])


def test_groups_and_streams_are_named(new):
    grouped = report(VAAKELM().fit(rows(150, 0), groups=np.arange(150) % 30), new).summary
    assert "on 30 groups" in grouped["findings"][0]
    assert grouped["advice"][-1].endswith("fit on at least 76 groups.")
    stream = oneclass.Stream()
    stream.watch(rows(150, 0))
    said = report(stream, new).summary
    assert said["model"]["name"] == "Stream"
    assert not any("threshold='held_out'" in words for words in said["advice"])


def test_rows_that_would_take_too_long_to_explain_have_no_reasons(new, monkeypatch):
    monkeypatch.setattr("oneclass.reporting.summary._SUBSTITUTIONS", 6 * 25)
    measured, exact = (report(machine().fit(rows(60, 0)), new).summary for machine in (oneclass.OCKELM, VAAKELM))
    assert [bool(row["reasons"]) for row in measured["rows"][:26]] == [True] * 25 + [False]
    assert all(row["reasons"] for row in exact["rows"])


def test_one_row_and_no_alarm_make_a_report(model):
    found = report(model, [[0.0, 0.0, 0.0]])
    assert found.summary["alarms"]["flagged"] == 0
    assert "no row to look at" in found.summary["advice"][0]
    assert "0 of 1 rows flagged" in repr(found)
    found.to_html(), found.to_markdown()


def test_files_have_the_format_of_their_suffix(model, new, tmp_path):
    found = report(model, new, title="A <b>title</b>")
    for ending, text in {"html": found.to_html(), "md": found.to_markdown(), "json": found.to_json()}.items():
        found.save(tmp_path / f"report.{ending}")
        assert (tmp_path / f"report.{ending}").read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match=r"must end in .html, .md or .json, got 'report.pdf'"):
        found.save("report.pdf")
    assert json.loads(found.to_json())["made"] == date.today().isoformat()


def test_without_jinja2_a_page_names_the_extra_and_other_formats_are_written(model, new, monkeypatch):
    html._templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    found = report(model, new)
    with pytest.raises(ImportError, match=r"an HTML report needs Jinja2: pip install 'oneclass\[report\]'"):
        found.to_html()
    assert found.to_markdown()
    assert found.to_json()


def test_what_cannot_be_reported_is_refused(model, new):
    with pytest.raises(ValueError, match="rows must be at least 1, got 0"):
        report(model, new, rows=0)
    dask = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="got a Dask collection"):
        report(model, dask.from_array(new))


def test_the_largest_numbers_make_a_page(model, new):
    top = np.finfo(float).max
    wild = new.copy()
    wild[:3, 0] = [top, -top, 1e-300]
    train = rows(150, 0)
    train[:2, 1] = [top, -top]
    for page in (report(model, wild).to_html(), report(VAAKELM().fit(train), train).to_html()):
        assert re.findall(r"\b-?(?:nan|inf)\b", page) == []


def test_frames_of_every_library_have_the_same_report(tables):
    model, odd = tables
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = report(model, odd).to_json()
    assert report(model, polars.from_pandas(odd)).to_json() == expected
    assert report(model, arrow.Table.from_pandas(odd)).to_json() == expected


@pytest.mark.slow
def test_rows_of_one_distribution_are_seldom_called_different():
    rng, called, changed, times = np.random.default_rng(0), [], 0, 100
    for _ in range(times):
        old, new = np.round(rng.normal(size=(200, 5)), 1), np.round(rng.normal(size=(150, 5)), 1)
        said = report(KNNDetector().fit(old), new, rows=1).summary
        called.append(likeness(said["resemblance"], said["alarms"]))
        changed += any(column["changed"] != "no" for column in said["columns"])
    assert called.count("different") + called.count("slightly different") <= binom.ppf(0.999, times, 0.01)
    assert called.count("mostly similar") <= binom.ppf(0.999, times, 0.05)
    assert changed <= binom.ppf(0.999, times, 0.05)


def test_a_hundred_thousand_rows_make_a_page_below_three_megabytes():
    rng = np.random.default_rng(0)
    names = [f"a rather long name of a column, number {j}" for j in range(30)]
    model = PCADetector().fit(pd.DataFrame(rng.normal(size=(5000, 30)), columns=names))
    new = pd.DataFrame(rng.normal(size=(100_000, 30)) * 1.2, columns=names)
    new.index = pd.Index([f"patient {i:07d}" for i in range(len(new))], name="patient")
    found = report(model, new)
    assert len(found.summary["rows"]) == 1000
    assert len(found.to_html().encode()) < 3e6


def test_numbers_are_written_with_few_digits():
    assert [number(value) for value in (0, 0.00012, 5.25, 1234.5, -11_512_345.6, 2.5e9)] == [
        *("0", "0.00012", "5.25", "1,234", "-11,512,346", "2.5e+09")
    ]
    assert [percent(share).replace("\N{NO-BREAK SPACE}", " ") for share in (0, 1e-7, 0.0005, 0.123, 1)] == [
        *("0 %", "< 0.01 %", "0.05 %", "12.3 %", "100 %")
    ]


HUGE = {
    "one row": np.full((1, 2), 1e8),
    "rows of one size": np.full((3, 2), 1e300),
    "neighbors among numbers": 1e16 + np.arange(6.0).reshape(3, 2) * 2,
    "rows of all sizes": huge_rows(np.zeros((1, 2))),
    "beside normal ones": np.concatenate([rows(20, 1, 2), huge_rows(np.zeros((1, 2)))[::5]]),
}


@pytest.mark.parametrize("X", HUGE.values(), ids=HUGE.keys())
@pytest.mark.parametrize("model", [KNNDetector(), PCADetector(), NaiveParzen(), VAAKELM(), OCSVM()], ids=repr)
def test_rows_of_any_size_are_reported(model, X):
    known = rows(100, 0, 2)
    found = report(model.fit(known), pd.DataFrame(X, columns=["a", "b"]).to_numpy(), X_train=known)
    summary = json.loads(found.to_json())
    assert sum(summary["scores"]["counts"]) == len(X)
    assert summary["alarms"]["flagged"] == int((model.predict(X) == -1).sum())
    for text in (found.to_html(), found.to_markdown()):
        assert not re.search(r"\b(nan|inf)\b", text)


def test_every_category_that_a_page_shows_has_its_share_of_the_training_rows():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"city": rng.choice([f"c{i:02d}" for i in range(12)], 600), "x": rng.normal(size=600)})
    model, new = TableDetector(KNNDetector()).fit(table), table[:60].assign(city="c11")
    new.loc[:5, "x"] = 40.0
    column = next(c for c in report(model, new).summary["columns"] if c["name"] == "city")
    expected = (table["city"] == "c11").mean()
    assert column["training"]["shares"]["c11"] == pytest.approx(expected)
    assert {name: old for name, old, _ in html._card(column)["shares"]}["c11"] == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_a_report_reads_cells_as_the_model_reads_them_and_shows_bad_ones():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "price": [f"$1,{i:03d}.50" for i in rng.integers(0, 999, 120)], "x": rng.normal(size=120),
        "size": rng.choice(["S", "M", "L"], 120), "at": [f"{i}:05" for i in rng.integers(6, 20, 120)],
    })  # fmt: skip
    model = TableDetector(KNNDetector()).fit(table)
    new = table[:40].copy()
    new.loc[3, "price"] = "#REF!"
    found = report(model, new)
    columns = {c["name"]: c for c in found.summary["columns"]}
    assert columns["price"]["training"]["median"] == pytest.approx(columns["price"]["new"]["median"], rel=0.2)
    assert set(columns["size"]["training"]["shares"]) == {"S", "M", "L"}
    assert columns["at"]["kind"] == "clock"
    assert "price = \\#REF!" in found.to_markdown()
    assert report(model, new, X_train=table).summary["columns"]


def test_a_report_takes_segments_that_are_no_column_and_names_no_slider_that_is_not_there():
    site, X = np.repeat(["A", "B"], [200, 100]), rows(300, 0) * np.repeat([1, 3], [200, 100])[:, None]
    model, new, given = KNNDetector(delta=0.1).fit(X, segments=site), rows(60, 1), np.repeat(["A", "B"], 30)
    found = report(model, new, segments=given)
    flagged = model.predict(new, segments=given) < 0
    of_segments = {segment["segment"]: segment["flagged"] for segment in found.summary["segments"]}
    assert of_segments == {"A": flagged[:30].sum(), "B": flagged[30:].sum()}
    assert found.summary["advice"][0].endswith("To keep only the most unusual rows, fit with a lower rate.")
    with pytest.raises(ValueError, match="segments must be None, because the fit had no segments"):
        report(KNNDetector().fit(X), new, segments=given)


@pytest.mark.parametrize("named", [True, False])
def test_the_column_of_segments_is_no_column_of_the_report(named):
    site, X = np.repeat([0, 1], [200, 100]), rows(300, 0)
    table, new = np.column_stack([site, X]), np.column_stack([np.repeat([0, 1], 30), rows(60, 1) + 2])
    given = [pd.DataFrame(one, columns=["site", "a", "b", "c"]) if named else one for one in (table, new)]
    model = KNNDetector(delta=0.1).fit(given[0], segments="site" if named else 0)
    stored, compared = report(model, given[1]), report(model, given[1], X_train=given[0])
    for found in (stored, compared):
        medians = {c["name"]: c["training"]["median"] for c in found.summary["columns"]}
        assert set(medians) == ({"a", "b", "c"} if named else {0, 1, 2})
        np.testing.assert_allclose([medians[name] for name in sorted(medians)], np.median(X, axis=0), atol=0.02)
        assert "<table" in found.to_html()


def test_flagged_rows_of_every_segment_are_listed_first():
    site, X = np.repeat(["A", "B"], [200, 200]), rows(400, 0) * np.repeat([1, 20], [200, 200])[:, None]
    model, new, given = KNNDetector().fit(X, segments=site), rows(60, 1), np.repeat(["A", "B"], 30)
    new[30:] *= 20
    new[:5] += 6  # unusual in A, and nothing unusual beside the rows of B
    found = report(model, new, segments=given).summary
    flagged = np.flatnonzero(model.predict(new, segments=given) < 0)
    assert {row["row"] - 1 for row in found["rows"]} == set(flagged) >= set(range(5))
    assert all(row["flagged"] for row in found["rows"])
    p = [row["p_value"] for row in found["rows"]]
    assert p == sorted(p)


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_a_flag_written_as_a_number_is_compared_as_a_flag_and_an_empty_cell_is_missing():
    rng = np.random.default_rng(0)
    train = pd.DataFrame({"a": rng.normal(size=80), "f": rng.choice(["True", "False"], 80)})
    new = train.astype(object).iloc[:40].copy()
    new.iloc[0, 1], new.iloc[1, 0] = "1", ""
    model = TableDetector().fit(train)
    summary = report(model, new).summary
    [flag] = [column for column in summary["columns"] if column["name"] == "f"]
    assert flag["new"]["missing"] == 0
    assert flag["changed"] == "no"
    assert model.compare_batch(new).columns[1].distance < 0.2
    [row] = [row for row in summary["rows"] if row["row"] == 2]
    assert [reason["value"] for reason in row["reasons"] if reason["column"] == "a"] == [None]


def orders(n, seed, start="2024-01-01"):
    rng = np.random.default_rng(seed)
    items = rng.integers(1, 12, n)
    return pd.DataFrame(
        {
            "ordered": pd.Timestamp(start) + pd.to_timedelta(np.sort(rng.integers(0, 90 * 24 * 60, n)), unit="min"),
            "items": items,
            "weight": (items * 0.35 * rng.lognormal(0, 0.15, n)).round(2),
            "country": rng.choice(["AT", "DE", "IT"], n),
            "gift": rng.random(n) < 0.3,
        }
    )


@pytest.fixture(scope="module")
def shop():
    """A report on 1,000 orders, of which 20 have an unknown country and ten are too heavy."""
    new = orders(1000, 1, "2024-04-01")
    new.loc[600:619, "country"] = "XX"
    new.loc[100:109, "weight"] *= 30
    with pytest.warns(UserWarning, match="no training row has: 'XX'"):
        return report(TableDetector(VAAKELM(delta=0.01)).fit(orders(800, 0)), new).summary


def test_the_verdict_names_the_excess_over_chance_and_the_largest_groups(shop):
    verdict, alarms = shop["verdict"], shop["alarms"]
    assert verdict["odd"] == max(round(alarms["flagged"] - alarms["if_all_normal"]["expected"]), verdict["at_least"])
    assert verdict["sentence"].startswith(f"About {verdict['odd']} of 1,000 rows are odd beyond chance; ")
    assert "country = XX (20 rows)" in verdict["sentence"]
    assert 0 < verdict["at_least"] <= 30


def test_the_lower_bound_on_odd_rows_holds_in_nineteen_of_twenty_batches():
    broken = 0
    for seed in range(60):
        new = rows(400, 1000 + seed)
        new[:12, 0] += 9
        found = report(KNNDetector(delta=0.02).fit(rows(500, seed)), new, rows=1).summary["verdict"]
        broken += (found["at_least"] or 0) > 12
    assert broken <= binom.ppf(0.999, 60, 0.05)


def test_reasons_of_extreme_rows_are_those_of_these_rows_only():
    new = rows(300, 7)
    new[:8, 2] = 40
    said = report(VAAKELM(delta=0.1).fit(rows(400, 0)), new).summary
    beyond = said["alarms"]["beyond_training"]["rows"]
    assert said["alarms"]["flagged"] <= said["alarms"]["if_all_normal"]["most"]
    assert said["verdict"]["sentence"].startswith(f"{beyond} of 300 rows are more unusual than every training row")
    assert "the most common reason is 2 too high (8 rows)" in said["verdict"]["sentence"]


def test_normal_rows_are_said_to_be_explained_by_chance(model):
    sentence = report(model, rows(200, 9)).summary["verdict"]["sentence"]
    assert sentence.startswith("Nothing stands out: chance alone may explain the ")


def test_without_held_out_losses_the_verdict_counts_only(new):
    verdict = report(OCSVM(threshold="boundary").fit(rows(150, 0)), new).summary["verdict"]
    assert (verdict["odd"], verdict["at_least"]) == (None, None)
    assert "not known how many rows chance alone would flag" in verdict["certainty"]


def test_groups_hold_the_rows_with_the_same_main_reason(shop):
    flagged = [row for row in shop["rows"] if row["flagged"]]
    assert sum(group["rows"] for group in shop["groups"]) == len(flagged)
    for place, group in enumerate(shop["groups"]):
        members = [row for row in flagged if row["group"] == place]
        assert len(members) == group["rows"]
        assert {row["reasons"][0]["column"] for row in members} <= {group["column"]}
    named = {group["reason"]: group for group in shop["groups"]}
    assert sorted(row["row"] for row in flagged if shop["groups"][row["group"]]["reason"] == "country = XX") == [
        *range(601, 621)
    ]
    assert named["weight too high"]["rows"] >= 10
    assert [group["rows"] for group in shop["groups"]] == sorted((g["rows"] for g in shop["groups"]), reverse=True)


def test_alarms_over_time_are_counted_in_equal_spans(shop):
    times, ordered = shop["times"], orders(1000, 1, "2024-04-01")["ordered"]
    edges = pd.date_range(ordered.min(), ordered.max(), periods=len(times["rows"]) + 1)
    assert (times["column"], times["edges"][0]) == ("ordered", str(ordered.min().date()))
    assert times["rows"] == np.histogram(ordered.astype(np.int64), edges.astype(np.int64))[0].tolist()
    at = ordered[[row["row"] - 1 for row in shop["rows"] if row["flagged"]]].astype(np.int64)
    assert times["flagged"] == np.histogram(at, edges.astype(np.int64))[0].tolist()
    np.testing.assert_allclose(times["expected"], np.multiply(times["rows"], shop["alarms"]["rate"]))


def test_times_that_go_on_are_later_and_not_changed(shop):
    assert {column["name"]: column["changed"] for column in shop["columns"]}["ordered"] == "later"
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=300)[::-1], "x": rows(300, 0, 1)[:, 0]})
    days = days.sample(frac=1, random_state=0)
    model = TableDetector(KNNDetector(), {"day": "date"}).fit(days)
    with pytest.warns(oneclass.ColumnWarning, match="day"):
        later = report(model, days[:90].assign(day=days["day"] + pd.Timedelta(days=400)))
    assert by_name(later)["day"]["changed"] == "later"
    assert not any("day" in words for words in later.summary["advice"])


def test_flags_are_true_or_false_and_times_have_no_nanoseconds(shop):
    [gift] = [column for column in shop["columns"] if column["name"] == "gift"]
    share = orders(1000, 1)["gift"].mean()
    assert gift["new"]["shares"] == pytest.approx({"true": share, "false": 1 - share}, abs=1 / 16)
    stamp = pd.Timestamp("2024-01-01 10:11:12.123456789", tz="Europe/Vienna")
    assert plain(stamp) == "2024-01-01 10:11:12+01:00"
    assert plain(stamp.to_pydatetime(warn=False)) == "2024-01-01 10:11:12+01:00"


def test_the_page_names_what_was_expected(shop):
    [row] = [row for row in shop["rows"] if row["row"] == 101]
    reason = row["reasons"][0]
    assert reason["column"] == "weight"
    assert expected_text(reason) == f"{reason['low']:.3g} to {reason['high']:.3g}"
    country = next(row for row in shop["rows"] if row["row"] == 601)["reasons"][0]
    text = expected_text(country).replace("\N{NO-BREAK SPACE}", " ")
    assert text == f"{country['expected']} ({100 * country['probability']:.3g} %)"

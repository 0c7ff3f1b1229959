"""Known outliers: held-out losses equal refits, no outliers change nothing, and labels help without harm."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.preprocessing import StandardScaler

from oneclass import (
    AAKELM,
    OCELM,
    OCKELM,
    VAAKELM,
    VOCKELM,
    KNNDetector,
    Nystrom,
    OneClassSearchCV,
    TableDetector,
    load,
    make_one_class_pipeline,
    to_onnx,
)
from oneclass.core.known import COST_SHARE, solve_codes

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3))
KNOWN = RNG.normal(size=(5, 3)) + np.array([3, 0, 0])
Y = np.repeat([1, -1], [N, len(KNOWN)])
FRESH = np.concatenate([RNG.normal(size=(30, 3)), RNG.normal(size=(10, 3)) + np.array([3, 0, 0])])
MACHINES = [AAKELM, VAAKELM, OCKELM, VOCKELM]
EACH = pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)


@EACH
@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
def test_labels_and_a_table_of_outliers_mean_the_same(make, approximation):
    by_label = make(approximation=approximation).fit(np.concatenate([X, KNOWN]), Y)
    by_table = make(approximation=approximation).fit(X, outliers=KNOWN)
    np.testing.assert_array_equal(by_label.score_samples(FRESH), by_table.score_samples(FRESH))
    assert by_label.offset_ == by_table.offset_
    plain = make(approximation=approximation).fit(X)
    assert np.mean(by_table.p_value(FRESH[30:])) < np.mean(plain.p_value(FRESH[30:]))


@EACH
def test_without_known_outliers_a_fit_is_the_same_bit_by_bit(make):
    plain, other = make().fit(X), make(known_outliers="ignore").fit(np.concatenate([X, KNOWN]), Y)
    for model in (other, make().fit(X, np.ones(N)), make().fit(X, outliers=KNOWN).fit(X)):
        np.testing.assert_array_equal(model.score_samples(FRESH), plain.score_samples(FRESH))
        assert model.offset_ == plain.offset_
        assert not hasattr(model, "known_")


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
@pytest.mark.parametrize("labels", [None, np.r_[np.arange(N) // 3, [0, 1, 99, 99, 99]]], ids=["rows", "groups"])
@pytest.mark.filterwarnings("ignore:VAAKELM. rows that weigh 2 or more")
@pytest.mark.parametrize("weights", [None, RNG.integers(1, 4, N + 5)], ids=["plain", "copies"])
def test_held_out_losses_are_sums_of_both_parts_fitted_without_the_row(approximation, labels, weights):
    both = np.concatenate([X, KNOWN])
    given = {"sample_weight": weights, "groups": labels}
    plain = VAAKELM(approximation=approximation, known_outliers="ignore").fit(both, Y, **given)
    model = VAAKELM(approximation=approximation).fit(both, Y, **given)
    known, C = model.known_, COST_SHARE * model.C_
    w = np.ones(N + 5) if weights is None else weights.astype(float)
    w[N:] *= w[:N].sum() / w[N:].sum()
    Z, numbers = model.scaler_(both), np.arange(N + 5) if labels is None else labels
    kernel = model.kernel_(Z, Z)
    scores = np.empty(N)
    for i in range(N):
        removed = w * (numbers == numbers[i]) if labels is not None else np.minimum(w, 1) * (numbers == i)
        left = w - removed
        kept = left > 1e-9
        inside = np.linalg.inv(kernel[np.ix_(kept, kept)] + np.diag(1 / (C * left[kept])))
        scores[i] = kernel[i, kept] @ inside @ (Y[kept] == -1)
    expected = known.combined(-plain.held_out_scores_[:N], scores)
    np.testing.assert_allclose(-model.held_out_scores_[:N], expected, rtol=1e-8, atol=1e-8)


def test_rows_that_the_codes_were_not_fitted_to_are_held_out_with_their_group(monkeypatch):
    monkeypatch.setattr("oneclass.core.known.MOST_ROWS", 25)
    labels = np.arange(N) // 3
    for groups in (None, labels):
        plain = VAAKELM(approximation=Nystrom(30)).fit(X, groups=groups)
        model = VAAKELM(approximation=Nystrom(30)).fit(X, groups=groups, outliers=KNOWN)
        assert len(model.known_.normal) == 25
        Z, rows = np.concatenate([model.known_.normal, model.known_.rows]), model.scaler_(X)
        inside = np.array([np.flatnonzero((row == rows).all(axis=1))[0] for row in model.known_.normal])
        numbers = np.r_[(np.arange(N) if groups is None else labels)[inside], np.full(5, -1)]
        w, codes = np.r_[np.ones(25), np.full(5, 5.0)], np.r_[np.zeros(25), np.ones(5)]
        scores = []
        for i in range(N):
            kept = numbers != (i if groups is None else labels[i])
            part = solve_codes(model.kernel_, Z[kept], w[kept], codes[kept], C=COST_SHARE * model.C_)
            scores.append((model.kernel_(rows[i : i + 1], Z[kept]) @ part.alpha)[0])
        expected = model.known_.combined(-plain.held_out_scores_, np.array(scores))
        np.testing.assert_allclose(-model.held_out_scores_, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
def test_the_order_of_known_outliers_does_not_matter(approximation):
    model = VAAKELM(approximation=approximation).fit(X, outliers=KNOWN)
    turned = VAAKELM(approximation=approximation).fit(X, outliers=KNOWN[::-1])
    np.testing.assert_allclose(model.score_samples(FRESH), turned.score_samples(FRESH), rtol=1e-9)


def test_outliers_in_labels_and_in_a_table_add_up():
    some = VAAKELM().fit(np.concatenate([X, KNOWN[:2]]), Y[:-3], outliers=KNOWN[2:])
    np.testing.assert_array_equal(some.score_samples(FRESH), VAAKELM().fit(X, outliers=KNOWN).score_samples(FRESH))


def test_known_outliers_survive_a_file(tmp_path):
    for approximation in (None, Nystrom(30)):
        model = VAAKELM(approximation=approximation).fit(X, outliers=KNOWN)
        model.save(tmp_path / "model.oneclass", force=True)
        loaded = load(tmp_path / "model.oneclass")
        np.testing.assert_array_equal(loaded.score_samples(FRESH), model.score_samples(FRESH))
        np.testing.assert_array_equal(loaded.known_.rows, model.known_.rows)


def test_wrappers_pass_known_outliers_on():
    rows, known = (pd.DataFrame(of, columns=list("abc")) for of in (X, KNOWN))
    both = pd.concat([rows, known], ignore_index=True)
    table = TableDetector().fit(rows, outliers=known)
    fresh = pd.DataFrame(FRESH, columns=list("abc"))
    np.testing.assert_allclose(table.score_samples(fresh), TableDetector().fit(both, Y).score_samples(fresh))
    pipe = make_one_class_pipeline(StandardScaler(), VAAKELM())
    scaler = StandardScaler().fit(X)
    alone = VAAKELM().fit(scaler.transform(X), outliers=scaler.transform(KNOWN))
    expected = alone.score_samples(scaler.transform(FRESH))
    np.testing.assert_array_equal(pipe.fit(X, outliers=KNOWN).score_samples(FRESH), expected)
    with config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(pipe.fit(X, outliers=KNOWN).score_samples(FRESH), expected)
    with pytest.raises(ValueError, match="TableDetector: outliers must be rows with the columns of X"):
        TableDetector().fit(rows, outliers=known[["a", "b"]])


@pytest.mark.filterwarnings("ignore:OneClassSearchCV. 5 outliers compare")
def test_a_search_does_not_depend_on_what_is_done_with_labelled_outliers():
    both = np.concatenate([X, KNOWN])
    found = [
        OneClassSearchCV(VAAKELM(known_outliers=what), {"C": [1.0, 8.0]}, scoring="auroc", cv=2).fit(both, Y)
        for what in ("learn", "ignore")
    ]
    learn, ignore = found
    np.testing.assert_array_equal(learn.cv_results_["mean_test_score"], ignore.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(learn.score_samples(FRESH), ignore.score_samples(FRESH))


def world(rng, n, kind):
    """Normal rows, or one of three kinds of outliers, which overlap with them."""
    shift = {"normal": 0, "one": 2.5, "two": -2.5}[kind]
    return rng.normal(size=(n, 4)) * [1, 1, 1, 2] + np.array([shift, 0, shift, 0])


@pytest.mark.parametrize("k", [1, 3, 20, 100])
def test_the_false_alarm_rate_is_kept_and_known_kinds_are_found_more_often(k):
    alarms, found, before, others, others_before = [], [], [], [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        train, known = world(rng, 150, "normal"), world(rng, k, "one")
        known[: k // 10] = world(rng, k // 10, "normal")  # a tenth of the labels is wrong
        model, plain = AAKELM().fit(train, outliers=known), AAKELM().fit(train)
        alarms.append(np.mean(model.predict(world(rng, 400, "normal")) == -1))
        of_kind, of_other = world(rng, 200, "one"), world(rng, 200, "two")
        found.append(np.mean(model.predict(of_kind) == -1))
        before.append(np.mean(plain.predict(of_kind) == -1))
        others.append(np.mean(model.predict(of_other) == -1))
        others_before.append(np.mean(plain.predict(of_other) == -1))
    assert 0.03 < np.mean(alarms) < 0.07
    assert np.mean(found) > np.mean(before) + 0.03
    assert np.mean(others) > np.mean(others_before) - 0.08


def test_p_values_of_new_normal_rows_are_valid_with_known_outliers_and_groups():
    rates = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        centres = rng.normal(size=(80, 4))
        groups = np.repeat(np.arange(40), 5)
        train = centres[groups] + 0.3 * rng.normal(size=(200, 4))
        known = rng.normal(size=(8, 4)) + np.array([3, 0, 0, 0])
        model = AAKELM().fit(train, groups=groups, outliers=known)
        fresh = centres[40 + groups] + 0.3 * rng.normal(size=(200, 4))
        rates.append(np.mean(model.p_value(fresh) <= 0.1))
    assert 0.05 < np.mean(rates) < 0.14


@pytest.mark.parametrize(
    ("outliers", "said"),
    [
        (KNOWN[:, :2], "2 features"),
        (np.full((2, 3), np.nan), "NaN"),
        (np.empty((0, 3)), "0 sample"),
        (pd.DataFrame(KNOWN, columns=["a", "b", "d"]), "feature names"),
    ],
    ids=["columns", "NaN", "none", "names"],
)
def test_a_table_of_outliers_that_does_not_fit_is_refused(outliers, said):
    rows = pd.DataFrame(X, columns=["a", "b", "c"]) if isinstance(outliers, pd.DataFrame) else X
    with pytest.raises(ValueError, match=f"VAAKELM: outliers must be rows with the columns of X: (.*\n)*.*{said}"):
        VAAKELM().fit(rows, outliers=outliers)


def test_what_cannot_learn_known_outliers_refuses_them_by_name():
    with pytest.raises(ValueError, match="OCELM: outliers must be None in machines that ignore known outliers"):
        OCELM().fit(X, outliers=KNOWN)
    with pytest.raises(ValueError, match="VAAKELM: known outliers need threshold='held_out', got 'train'"):
        VAAKELM(threshold="train").fit(X, outliers=KNOWN)
    with pytest.raises(ValueError, match="VAAKELM: known_outliers must be one of 'learn', 'ignore'; got 'no'"):
        VAAKELM(known_outliers="no").fit(X, outliers=KNOWN)
    kernel = X @ X.T + 1
    with pytest.raises(ValueError, match="AAKELM: known outliers need a kernel of rows"):
        AAKELM(kernel="precomputed", loss="reconstruction").fit(kernel, np.repeat([1, -1], [50, 10]))


def test_contradictions_and_majorities_are_warned_about():
    with pytest.warns(UserWarning, match="VAAKELM: 2 of 7 known outliers have the same values as a row"):
        VAAKELM().fit(X, outliers=np.concatenate([KNOWN, X[:2]]))
    with pytest.warns(UserWarning, match="VAAKELM: 100 known outliers are more than the 60 rows"):
        VAAKELM().fit(X, outliers=RNG.normal(size=(100, 3)) + 4)


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
def test_explanations_say_which_part_of_the_loss_decides(approximation):
    model = VAAKELM(approximation=approximation).fit(X, outliers=KNOWN)
    rows = np.concatenate([KNOWN + 0.01, [[-9.0, 0, 0], [3.0, 0, 9.0]]])
    found = model.explain(rows)
    own, added = model.known_.parts(model.machine_, model.scaler_(rows))
    np.testing.assert_allclose(own + added, -model.score_samples(rows), rtol=1e-12)
    np.testing.assert_array_equal(found.known.decides, added > np.maximum(own, 0))
    np.testing.assert_array_equal(found.known.numbers[:5], np.arange(1, 6))
    np.testing.assert_allclose(found.known.values[:5], KNOWN)
    np.testing.assert_allclose(found.known.gaps, np.abs(model.scaler_(rows) - model.scaler_(found.known.values)))
    assert found.causes()[5] == "unlike the normal rows"
    assert found[:1].known.causes(found.names) == found.causes()[:1]
    assert found.to_dicts()[5]["cause"] == "unlike the normal rows"
    assert VAAKELM(approximation=approximation).fit(X).explain(rows).known is None


def test_a_cause_names_the_known_outlier_and_the_columns_in_which_they_differ():
    rng = np.random.default_rng(0)
    normal, known = rng.normal(size=(300, 6)), np.zeros((3, 6)) + np.diag([2.5, 2.5, 2.5], k=3)[:3]
    row = known[1:2] + np.array([[0, 0, -2, 0.1, 0, 0.1]])
    found = AAKELM().fit(normal, outliers=known).explain(row)
    assert found.causes() == ["like known outlier 2 (differs in 2)"]
    table, strange = (pd.DataFrame(of, columns=list("abcdef")) for of in (normal, known))
    detector = TableDetector(AAKELM()).fit(table, outliers=strange)
    assert detector.explain(pd.DataFrame(row, columns=list("abcdef"))).causes() == [
        "like known outlier 2 (differs in c)"
    ]
    pipe = make_one_class_pipeline(StandardScaler(), AAKELM()).fit(normal, outliers=known)
    assert pipe.explain(row).causes() == found.causes()
    np.testing.assert_allclose(pipe.explain(row).known.values, known[1:2], atol=1e-12)
    assert found.folded({"first three": [0, 1, 2]}).causes() == ["like known outlier 2 (differs in first three)"]


@pytest.mark.parametrize("wrap", [TableDetector, make_one_class_pipeline], ids=lambda wrap: wrap.__name__)
def test_wrappers_of_classifiers_that_do_not_learn_outliers_refuse_them_by_name(wrap):
    model = wrap(KNNDetector())
    with pytest.raises(TypeError, match=f"{type(model).__name__}: outliers must be None, because KNNDetector does not"):
        model.fit(X, outliers=KNOWN)


@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
@pytest.mark.parametrize("groups", [None, np.arange(N) // 3], ids=["rows", "groups"])
def test_arrays_of_another_library_give_the_same(approximation, groups):
    xp = pytest.importorskip("array_api_strict")
    ours = VAAKELM(approximation=approximation).fit(X, outliers=KNOWN, groups=groups)
    theirs = VAAKELM(approximation=approximation).fit(xp.asarray(X), outliers=xp.asarray(KNOWN), groups=groups)
    fresh = xp.asarray(FRESH)
    np.testing.assert_allclose(np.asarray(theirs.score_samples(fresh)), ours.score_samples(FRESH), rtol=1e-8, atol=1e-8)
    assert theirs.explain(fresh).causes() == ours.explain(FRESH).causes()
    np.testing.assert_array_equal(theirs.suggest(fresh, k=3), ours.suggest(FRESH, k=3))
    if approximation is not None:
        return
    ours.learn_from(FRESH[:2], [1, -1])
    theirs.learn_from(fresh[:2, :], [1, -1])
    np.testing.assert_allclose(np.asarray(theirs.score_samples(fresh)), ours.score_samples(FRESH), rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
@pytest.mark.parametrize("approximation", [None, Nystrom(30)], ids=["exact", "landmarks"])
@EACH
def test_graphs_answer_as_machines_with_known_outliers(make, approximation):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = make(approximation=approximation).fit(X, outliers=KNOWN)
    graph = to_onnx(model, dtype="float64").SerializeToString()
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (score,) = session.run(["score"], {"rows": FRESH})
    np.testing.assert_allclose(np.ravel(score), model.score_samples(FRESH), rtol=1e-8, atol=1e-8)

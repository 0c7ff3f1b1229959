"""Contaminated tables: the rows that a screen names, and the model after the screen."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import RobustScaler

from oneclass import AAKELM, VAAKELM, KNNDetector, Nystrom, load, make_one_class_pipeline, to_onnx
from oneclass.core import screening as bulk
from oneclass.core.calibration import Calibration
from oneclass.core.screening import p_values_by_tail, remoteness, settle
from oneclass.machines import approximate
from oracle.comparison import assert_agree

pytestmark = pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")

Q = 0.1


def normal_rows(kind, n, rng):
    """Rows of several tails and shapes."""
    if kind == "gaussian":
        return rng.normal(size=(n, 5))
    if kind == "heavy":
        return rng.standard_t(3, size=(n, 5))
    if kind == "skewed":
        return rng.lognormal(size=(n, 5))
    if kind == "correlated":
        return rng.normal(size=(n, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5))
    return rng.normal(size=(n, 5)) + 6 * rng.integers(0, 3, size=(n, 1))  # three kinds


KINDS = ("gaussian", "heavy", "skewed", "correlated", "kinds")


def dirty(kind, share, rng, *, clumped, n=200, away=(8, 12)):
    """Rows of which the first are outliers: in all directions from the others, or together on one side of them."""
    low, high = away
    X = normal_rows(kind, n, rng)
    k = round(share * n)
    away = rng.normal(size=(1 if clumped else k, 5))
    away *= rng.uniform(low, high, size=(len(away), 1)) / np.linalg.norm(away, axis=1, keepdims=True)
    X[:k] = X.mean(axis=0) + (away + 0.2 * rng.normal(size=(k, 5))) * X.std(axis=0)
    return X, np.arange(n) < k


def verdicts(kind, share, repeats, **options):
    for seed in range(repeats):
        X, y = dirty(kind, share, np.random.default_rng([seed, len(kind)]), **options)
        yield settle(partial(remoteness, X), len(X), q=Q), y


# False discoveries and power.


@pytest.mark.parametrize("kind", KINDS)
def test_a_clean_table_has_rows_named_no_more_often_than_asked_for(kind):
    named = sum(verdict.odd.any() for verdict, _ in verdicts(kind, 0, 50, clumped=False))
    assert named <= binom.ppf(0.999, 50, Q)


@pytest.mark.parametrize("clumped", [False, True], ids=["scattered", "clumped"])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
def test_false_discoveries_are_as_few_as_asked_for_and_outliers_are_found(share, clumped):
    false, found = [], []
    for kind in KINDS:
        for verdict, y in verdicts(kind, share, 8, clumped=clumped):
            false.append(np.sum(verdict.odd & ~y) / max(1, verdict.odd.sum()))
            found.append(verdict.odd[y].mean())
    assert np.mean(false) <= Q + 3 * np.std(false) / np.sqrt(len(false))
    assert np.mean(found) > 0.7


NEARLY_ONE = {
    "normal": lambda rng: rng.normal(size=(400, 1)),
    "heavy": lambda rng: rng.standard_t(3, size=(400, 1)),
    "skewed": lambda rng: rng.exponential(size=(400, 1)),
    "five columns in step": lambda rng: rng.normal(size=(400, 1)) + 0.5 * rng.normal(size=(400, 5)),
}


@pytest.mark.parametrize("draw", NEARLY_ONE.values(), ids=NEARLY_ONE)
def test_a_one_dimensional_tail_that_its_bulk_does_not_predict_is_not_odd(draw):
    named, false = 0, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = draw(rng)
        named += settle(partial(remoteness, X), 400, q=Q).odd.any()
        away = rng.normal(size=(20, X.shape[1]))
        X[:20] = X.mean(axis=0) + 10 * X.std(axis=0) * away / np.linalg.norm(away, axis=1, keepdims=True)
        odd = settle(partial(remoteness, X), 400, q=Q).odd
        assert odd[:20].mean() > 0.5
        false.append(odd[20:].sum() / odd.sum())
    assert named <= binom.ppf(0.999, 20, Q)
    assert np.mean(false) <= Q + 3 * np.std(false) / np.sqrt(20)


def test_a_cluster_of_outliers_is_normal_to_a_model_fitted_to_it_and_found_by_a_screen():
    X, y = dirty("gaussian", 0.1, np.random.default_rng(0), clumped=True)
    assert np.mean(VAAKELM().fit_predict(X)[y] == -1) < 0.2
    assert VAAKELM().screen(X).odd[y].all()


def test_p_values_beyond_an_exponential_bulk_are_exact():
    """Of new rows beyond the edge, a share alpha has a p-value of at most alpha, for every alpha."""
    rng = np.random.default_rng(0)
    samples, fresh = rng.exponential(size=(3000, 60)), rng.exponential(size=3000)
    p = np.array([p_values_by_tail(bulk, x[None])[0] for bulk, x in zip(samples, fresh, strict=True)])
    for alpha in (0.05, 0.01, 0.003):
        assert binom.cdf(np.sum(p <= alpha), 3000, alpha) > 0.001
        assert binom.sf(np.sum(p <= alpha) - 1, 3000, alpha) > 0.001


# How rows are scored.


def slow_remoteness(X, kept, groups):
    rows = X[kept]
    low, middle, high = np.quantile(rows, [0.1, 0.5, 0.9], axis=0)
    T = np.arcsinh((X - middle) / ((high - low) / 2.563))
    inside = [i for i in range(len(X)) if kept[i]]
    apart = np.sort([np.abs(T[i] - T[j]).sum() for i in inside for j in inside if i < j])
    reach, near = np.mean(apart) / 3, apart[: len(apart) // 4]
    spread = min(np.var(apart) / np.mean(apart), 8.5 * np.var(near) / np.mean(near))
    result = []
    for i in range(len(X)):
        others = [j for j in inside if groups[j] != groups[i]]
        w = [1 / sum(groups[m] == groups[j] for m in inside) for j in others]
        near = [np.exp(-np.abs(T[i] - T[j]).sum() / reach) for j in others]
        result.append(-reach / spread * np.log(np.dot(w, near) / np.sum(w)))
    return np.array(result)


@pytest.mark.parametrize("grouped", [False, True])
def test_remoteness_leaves_out_the_row_its_group_and_rows_that_are_not_kept(grouped, xp):
    rng = np.random.default_rng(0)
    X, kept = rng.normal(size=(46, 3)), np.arange(46) < 41  # quantiles of 41 rows are rows
    groups = rng.integers(0, 10, size=46) if grouped else np.arange(46)
    found = remoteness(xp.asarray(X), kept, groups=groups if grouped else None)
    assert_agree(found, slow_remoteness(X, kept, groups), 1e-10)


def test_groups_of_one_row_each_equal_no_groups():
    X, _ = dirty("gaussian", 0.05, np.random.default_rng(0), clumped=False)
    plain, grouped = KNNDetector().screen(X), KNNDetector().screen(X, groups=np.arange(200))
    np.testing.assert_array_equal(plain.p_values, grouped.p_values)


def test_a_person_whose_rows_are_alike_is_named_as_a_whole():
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(60), 5)
    X = rng.normal(size=(60, 4))[owner] + 0.1 * rng.normal(size=(300, 4))
    X[owner < 2] += 15
    np.testing.assert_array_equal(VAAKELM().screen(X, groups=owner).odd, owner < 2)


def test_the_order_of_the_rows_does_not_matter():
    X, _ = dirty("skewed", 0.05, np.random.default_rng(0), clumped=False)
    order = np.random.default_rng(1).permutation(200)
    found, again = KNNDetector().screen(X), KNNDetector().screen(X[order])
    np.testing.assert_array_equal(again.odd, found.odd[order])
    assert_agree(again.p_values, found.p_values[order], 1e-9)


def test_many_rows_are_compared_with_some(monkeypatch):
    X, y = dirty("gaussian", 0.05, np.random.default_rng(0), clumped=True)
    monkeypatch.setattr(bulk, "_MOST_COMPARED", 60)
    np.testing.assert_array_equal(settle(partial(remoteness, X), 200, q=Q).odd, y)


def test_a_screen_that_cycles_stops():
    distances = np.random.default_rng(0).exponential(size=100)
    turns = []

    def judge(kept, reach):
        turns.append(kept)
        return distances + 50 * (np.arange(100) == len(turns) % 2)

    verdict = settle(judge, 100, q=Q)
    assert not verdict.settled
    assert len(turns) < 10


@pytest.mark.parametrize(
    "X",
    [np.ones((30, 2)), np.arange(4.0).reshape(2, 2), np.repeat(np.eye(2), 20, axis=0)],
    ids=["constant", "two rows", "two places"],
)
def test_losses_without_a_tail_name_no_row(X):
    assert not settle(partial(remoteness, X), len(X), q=Q).odd.any()


def test_values_near_the_largest_number_are_odd_and_no_trouble():
    X = np.random.default_rng(0).normal(size=(100, 2))
    X[0], X[1] = 1e308, -1e308
    assert settle(partial(remoteness, X), 100, q=Q).odd[:2].all()


# The model after a screen.


def test_the_classifier_is_the_one_of_the_rows_that_stayed(classifier):
    X, y = dirty("gaussian", 0.05, np.random.default_rng(0), clumped=False, n=100, away=(40, 50))
    model = classifier(delta=0.2)
    found = model.screen(X)
    np.testing.assert_array_equal(found.odd, y)
    assert found.classifier is model
    alone = classifier(delta=0.2).fit(X[~y])
    assert_agree(model.score_samples(X), alone.score_samples(X), 1e-12)
    assert model.calibration_.total == pytest.approx(95 + Q * 5)
    assert model.offset_ <= alone.offset_


def test_rows_removed_for_being_extreme_still_count():
    losses = np.random.default_rng(0).exponential(size=200)
    whole = Calibration.of(losses, np.ones(200))
    stayed = np.sort(losses)[:-7]
    left = Calibration.of(stayed, np.ones(193)).beside(7)
    assert left.smallest_budget == pytest.approx(8 / 201)
    for delta in (0.05, 0.1, 0.4):
        assert left.threshold(delta) == whole.threshold(delta)
    np.testing.assert_array_equal(left.p_value(stayed), whole.p_value(stayed))


@pytest.mark.parametrize("make", [VAAKELM, KNNDetector])
def test_what_was_removed_counts_in_groups_where_these_weigh_one(make):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(45, 1, 3)) + 25.0 * (np.arange(45) >= 40)[:, None, None]
    X = (centres + 0.1 * rng.normal(size=(45, 20, 3))).reshape(-1, 3)
    found = make(delta=0.2).screen(X, groups=np.repeat(np.arange(45), 20))
    np.testing.assert_array_equal(found.odd, np.arange(900) >= 800)
    assert found.classifier.calibration_.removed == pytest.approx(Q * 5)
    assert found.classifier.calibration_.total == pytest.approx(40 + Q * 5)


def test_removed_rows_count_by_their_share_if_a_sample_of_the_rows_is_scored(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(950, 2)), 30 + rng.normal(size=(50, 2))])
    monkeypatch.setattr(approximate, "_THRESHOLD_ROWS", 190)
    monkeypatch.setattr(approximate, "_EXTRA_PASS_COST", 0)
    model = VAAKELM(approximation=Nystrom(50), delta=0.2)
    odd = model.screen(X).odd
    assert odd[950:].all()
    judged = model.calibration_.total - model.calibration_.removed
    assert judged == pytest.approx(190)
    assert model.calibration_.removed == pytest.approx(Q * odd.sum() * 190 / (~odd).sum())


@pytest.mark.parametrize("make", [partial(AAKELM, C=4.0), KNNDetector], ids=["AAKELM", "KNNDetector"])
def test_thresholds_after_a_screen_of_clean_rows_keep_the_rate(make):
    rates = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = make(delta=0.1)
        model.screen(normal_rows("gaussian", 120, rng))
        rates.append(np.mean(model.predict(normal_rows("gaussian", 200, rng)) == -1))
    assert abs(np.mean(rates) - 0.1) < 3 * np.std(rates) / np.sqrt(40)


@pytest.mark.filterwarnings("ignore::oneclass.UnreachableRateWarning")
def test_thresholds_are_corrected_where_normal_rows_were_removed():
    """Unscaled heavy tails break the screen's assumption: it removes normal rows, but few fresh ones are rejected."""
    corrected, naive = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X, fresh = rng.standard_t(2, size=(200, 3)), rng.standard_t(2, size=(500, 3))
        model = KNNDetector(delta=0.1, scale=False)
        found = model.screen(X, q=0.9)
        corrected.append(np.mean(model.predict(fresh) == -1))
        naive.append(np.mean(KNNDetector(delta=0.1, scale=False).fit(X[~found.odd]).predict(fresh) == -1))
    assert abs(np.mean(corrected) - 0.1) < 0.015
    assert np.mean(naive) > np.mean(corrected) + 0.01


def test_tables_keep_their_names_and_their_order():
    X, y = dirty("gaussian", 0.05, np.random.default_rng(0), clumped=False, away=(40, 50))
    model = VAAKELM(approximation=Nystrom(30))
    found = model.screen(pd.DataFrame(X, columns=list("abcde")))
    assert list(model.feature_names_in_) == list("abcde")
    np.testing.assert_array_equal(np.isnan(model.held_out_scores_), found.odd)
    assert found.odd[y].all()
    assert found.odd.sum() <= 13
    assert found.scores[y].max() < found.scores[~y].min()
    assert str(found).startswith("Screening: about 1")


def test_a_pipeline_screens_what_its_steps_make_of_the_table():
    X, y = dirty("gaussian", 0.05, np.random.default_rng(0), clumped=False)
    pipe = make_one_class_pipeline(RobustScaler(), KNNDetector())
    found = pipe.screen(X)
    alone = KNNDetector()
    np.testing.assert_array_equal(found.odd, alone.screen(RobustScaler().fit_transform(X)).odd)
    assert found.classifier is pipe
    np.testing.assert_array_equal(pipe.predict(X[y]), -1)
    np.testing.assert_array_equal(pipe.held_out_scores_, alone.held_out_scores_)


@pytest.mark.parametrize("make", [VAAKELM, KNNDetector], ids=lambda m: m.__name__)
def test_files_and_graphs_keep_the_correction(make, tmp_path):
    X, _ = dirty("gaussian", 0.05, np.random.default_rng(0), clumped=False)
    model = make()
    model.screen(X)
    model.save(tmp_path / "model.oneclass")
    np.testing.assert_array_equal(load(tmp_path / "model.oneclass").p_value(X), model.p_value(X))
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    (p,) = session.run(["p_value"], {session.get_inputs()[0].name: X})
    assert_agree(p.ravel(), model.p_value(X), 1e-9)


def test_arrays_of_other_libraries_are_screened_where_they_are(xp):
    X, _ = dirty("gaussian", 0.05, np.random.default_rng(0), clumped=False)
    np.testing.assert_array_equal(VAAKELM().screen(xp.asarray(X)).odd, VAAKELM().screen(X).odd)


def test_what_cannot_be_screened_is_refused_and_leaves_the_classifier_as_it_was():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = VAAKELM().fit(X)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"VAAKELM: q must be a number in \(0, 1\), got 1"):
        model.screen(X, q=1)
    with pytest.raises(ValueError, match="VAAKELM: groups must be one label a row"):
        model.screen(X, groups=np.ones(3))
    with pytest.raises(ValueError, match="NaN"):
        model.screen(np.full((50, 2), np.nan))
    assert vars(model) == before
    with pytest.raises(ValueError, match="VAAKELM: screen must have the rows themselves, in memory; got kernel values"):
        VAAKELM(kernel="precomputed", loss="reconstruction").screen(rbf_kernel(X))
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="got a Dask collection"):
        model.screen(dask.from_array(X))

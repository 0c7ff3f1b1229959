"""Detectors of other libraries under the contract of this one."""

import json
import os
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import SGDOneClassSVM
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import oneclass
from oneclass import Calibrated
from oneclass.core.hold_out import fold_rows, split_rows


class LikePyOD:
    """The interface of PyOD's detectors: a larger score is odder."""

    def __init__(self, contamination=0.1):
        self.contamination = contamination

    def get_params(self, deep=True):
        return {"contamination": self.contamination}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        self.decision_scores_ = self.decision_function(X)
        return self

    def decision_function(self, X):
        return ((X - self.mean_) ** 2).sum(axis=1)


ESTIMATORS = {
    "isolation": IsolationForest(n_estimators=20, random_state=0),
    "lof": LocalOutlierFactor(novelty=True),
    "ocsvm": OneClassSVM(),
    "sgd": SGDOneClassSVM(random_state=0),
    "envelope": EllipticEnvelope(random_state=0),
    "kde": KernelDensity(),
    "mixture": GaussianMixture(2, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), OneClassSVM()),
    "pyod": LikePyOD(),
    "machine": oneclass.VAAKELM(),
    "table": oneclass.TableDetector(oneclass.KNNDetector()),
}
every = pytest.mark.parametrize("name", ESTIMATORS)


def size(X):
    return (X**2).sum(axis=1)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(90, 3))


@pytest.fixture(scope="module")
def fresh():
    random = np.random.default_rng(1)
    return np.concatenate([random.normal(size=(40, 3)), random.normal(size=(20, 3)) + 6])


def losses(estimator, X, T):
    """Losses of rows after a fit to others."""
    fitted = estimator.fit(X)
    if hasattr(fitted, "decision_scores_"):
        return fitted.decision_function(T)
    return -fitted.score_samples(T)


@pytest.mark.filterwarnings("ignore::oneclass.OneClassWarning")
@every
def test_plus_gives_the_p_values_of_refits(name, rows, fresh):
    model = Calibrated(ESTIMATORS[name], hold_out="plus").fit(rows)
    beyond = np.zeros(60)
    for seen, unseen in fold_rows(model.scaler_(rows), None, folds=5):
        known = losses(ESTIMATORS[name], rows[seen], np.concatenate([rows[unseen], fresh]))
        beyond += (known[: len(unseen)] >= known[len(unseen) :, None] - 1e-9).sum(axis=1)
    np.testing.assert_allclose(model.p_value(fresh), (1 + beyond) / 91)
    if name != "sgd":  # a plane
        assert (model.label_batch(fresh) == -1)[40:].all()


@pytest.mark.filterwarnings("ignore::oneclass.OneClassWarning")
@every
def test_split_gives_the_ranks_among_rows_that_the_estimator_did_not_see(name, rows, fresh):
    model = Calibrated(ESTIMATORS[name], hold_out=0.4, random_state=3).fit(rows)
    seen, unseen = split_rows(90, None, share=0.4, seed=3)
    known = losses(ESTIMATORS[name], rows[seen], np.concatenate([rows[unseen], fresh]))
    expected = (1 + (known[:36] >= known[36:, None] - 1e-9).sum(axis=1)) / 37
    np.testing.assert_allclose(model.p_value(fresh), expected)


@every
def test_it_has_every_verb(name, rows, fresh):
    model = Calibrated(ESTIMATORS[name], hold_out="folds", delta=0.1).fit(rows)
    table = model.score_table(fresh)
    np.testing.assert_array_equal(table["label"], model.predict(fresh))
    assert np.array_equal(model.predict(fresh, delta=0.2) == -1, model.p_value(fresh) <= 0.2)
    assert model.held_out_scores_.shape == model.held_out_p_values_.shape == (90,)
    low, high = model.false_alarm_interval()
    assert low < 0.1 < high
    found = model.explain(fresh[40:42])
    assert found.parts.shape == (2, 3)
    assert not found.exact
    dirty = np.concatenate([rows, fresh[40:43] + 30])
    assert np.flatnonzero(model.screen(dirty).odd).tolist() == [90, 91, 92]


def test_explanations_name_the_column_that_is_off(rows):
    model = Calibrated(KernelDensity(), hold_out="split").fit(rows)
    assert model.explain([[0.0, 7.0, 0.0]]).shares[0].argmax() == 1


def test_scores_alone_and_functions_hold_out_every_row(rows, fresh):
    alone = Calibrated(direction="odd").fit(size(rows)[:, None])
    function = Calibrated(size, direction="odd").fit(rows)
    normal = Calibrated(lambda X: -size(X), direction="normal").fit(rows)
    expected = (1 + (size(rows) >= size(fresh)[:, None] - 1e-12).sum(axis=1)) / 91
    for p in (alone.p_value(size(fresh)[:, None]), function.p_value(fresh), normal.p_value(fresh)):
        np.testing.assert_allclose(p, expected)
    assert len(oneclass.report(alone, size(fresh)[:, None]).to_html()) > 1_000
    assert alone.false_alarm_interval()[1] < 0.2


def test_scores_alone_can_be_saved(rows, tmp_path):
    model = Calibrated(direction="odd").fit(size(rows)[:, None])
    model.save(tmp_path / "scores.oneclass")
    loaded = oneclass.load(tmp_path / "scores.oneclass")
    assert loaded.p_value([[9.0]]) == model.p_value([[9.0]])


@pytest.mark.parametrize("hold_out", ["plus", "split", "folds"])
def test_own_classifiers_can_be_saved_and_others_by_joblib(hold_out, rows, fresh, tmp_path):
    model = Calibrated(oneclass.VAAKELM(), hold_out=hold_out).fit(rows)
    model.save(tmp_path / "model.oneclass")
    np.testing.assert_array_equal(oneclass.load(tmp_path / "model.oneclass").p_value(fresh), model.p_value(fresh))
    other = Calibrated(KernelDensity(), hold_out=hold_out).fit(rows)
    with pytest.raises(TypeError, match=r"is of type KernelDensity, .* without pickle, .* skops.io.dump"):
        other.save(tmp_path / "other.oneclass")
    assert not (tmp_path / "other.oneclass").exists()
    joblib.dump(other, tmp_path / "other.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "other.joblib").p_value(fresh), other.p_value(fresh))


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")
def test_whole_weights_are_copies_for_every_estimator(rows, fresh):
    w = np.arange(90) % 3
    for estimator in (LikePyOD(), KernelDensity()):
        weighted = Calibrated(estimator).fit(rows, sample_weight=w)
        repeated = Calibrated(estimator).fit(np.repeat(rows, w, axis=0))
        np.testing.assert_allclose(weighted.p_value(fresh), repeated.p_value(fresh))
    with pytest.raises(AttributeError, match="rows that count as copies"):
        _ = weighted.held_out_scores_


def test_other_weights_reach_estimators_that_take_them(rows, fresh):
    w = np.random.default_rng(0).uniform(0.5, 2, size=90)
    model = Calibrated(KernelDensity(), hold_out="folds").fit(rows, sample_weight=w)
    expected = KernelDensity().fit(rows, sample_weight=w).score_samples(fresh)
    np.testing.assert_allclose(model.score_samples(fresh), expected)
    with pytest.raises(ValueError, match=r"sample_weight must be whole numbers.* LikePyOD has no sample_weight"):
        Calibrated(LikePyOD()).fit(rows, sample_weight=w)


class ByBatch(LikePyOD):
    """Scores that depend on the other rows of the batch, as those of PyOD's ECOD."""

    def decision_function(self, X):
        return ((X - self.mean_) ** 2).sum(axis=1) + X.mean()


def test_a_score_that_depends_on_the_batch_is_computed_row_by_row(rows, fresh):
    model = Calibrated(ByBatch(), hold_out="split").fit(rows)
    one_by_one = [model.score_samples(row[None])[0] for row in fresh]
    np.testing.assert_array_equal(model.score_samples(fresh), one_by_one)
    assert not Calibrated(LikePyOD()).fit(rows).model_.alone


@pytest.mark.parametrize("hold_out", ["plus", "split"])
def test_detectors_of_pyod_are_found_by_their_interface(hold_out, rows, fresh):
    for name in ("ecod.ECOD", "knn.KNN"):
        module, _, kind = name.partition(".")
        detector = getattr(pytest.importorskip(f"pyod.models.{module}"), kind)()
        model = Calibrated(detector, hold_out=hold_out, delta=0.1).fit(rows)
        assert (model.predict(fresh)[40:] == -1).all()
        assert (model.predict(fresh)[:40] == 1).mean() > 0.6


@pytest.mark.parametrize("hold_out", ["plus", "split", "folds"])
def test_groups_are_held_out_whole(hold_out, rows):
    groups = np.repeat(np.arange(18), 5)
    model = Calibrated(KernelDensity(), hold_out=hold_out, delta=0.2).fit(rows, groups=groups)
    assert model.calibration_.total == pytest.approx(9 if hold_out == "split" else 18)


def test_tables_pipelines_and_searches_wrap_it(rows, fresh):
    table = pd.DataFrame(rows, columns=list("abc")).assign(kind=np.where(rows[:, 0] > 0, "x", "y"))
    model = oneclass.TableDetector(Calibrated(IsolationForest(n_estimators=10, random_state=0))).fit(table)
    assert model.explain(table[:2]).names == ("a", "b", "c", "kind")
    assert model.p_value(table).min() > 0
    pipeline = oneclass.make_one_class_pipeline(StandardScaler(), Calibrated(LikePyOD())).fit(rows)
    assert (pipeline.predict(fresh)[40:] == -1).all()
    X, y = np.concatenate([rows, fresh[40:]]), np.repeat([1, -1], [90, 20])
    grid = {"estimator__bandwidth": [0.1, 1.0]}
    search = oneclass.OneClassSearchCV(Calibrated(KernelDensity(), hold_out="folds"), grid, scoring="auroc", cv=3)
    assert search.fit(X, y).best_params_ in ({"estimator__bandwidth": 0.1}, {"estimator__bandwidth": 1.0})


def test_parallel_fits_give_the_same_and_verbose_says_how_many(rows, fresh, capsys):
    one = Calibrated(KernelDensity(), verbose=True).fit(rows)
    said = capsys.readouterr().err
    assert said.startswith("Calibrated: 6 fits of KernelDensity, 5 without one fold\n")
    assert "folds: 5 fits" in said
    two = Calibrated(KernelDensity(), n_jobs=2).fit(rows)
    np.testing.assert_array_equal(one.score_samples(fresh), two.score_samples(fresh))


@pytest.mark.parametrize(
    ("estimator", "options", "rule"),
    [
        (LocalOutlierFactor(), {}, "estimator must score new rows .* novelty=True; LocalOutlierFactor does not"),
        (IsolationForest, {}, "estimator must be an object, got the class IsolationForest"),
        (3, {}, "estimator must be an object with fit and scores, a function of rows, or None; got 3"),
        (size, {}, "direction must be 'normal' or 'odd' for scores of a function"),
        (None, {"direction": "odd"}, "X must be one column of scores if estimator is None, got 3"),
        (KernelDensity(), {"hold_out": "loo"}, "hold_out must be one of 'plus', 'split', 'folds'; got 'loo'"),
        (KernelDensity(), {"n_folds": 1}, "n_folds must be a whole number of at least 2, got 1"),
        (KernelDensity(), {"direction": "up"}, "direction must be one of 'auto', 'normal', 'odd'; got 'up'"),
        (lambda X: X, {"direction": "odd"}, "function must give one score for each row, got shape"),
    ],
)
def test_errors_name_the_parameter_the_rule_and_the_value(estimator, options, rule, rows):
    with pytest.raises(ValueError, match=f"Calibrated: {rule}"):
        Calibrated(estimator, **options).fit(rows)


CHECKS = """
import json, warnings
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import check_estimator
from oneclass import Calibrated
warnings.simplefilter("ignore")
models = Calibrated(KernelDensity()), Calibrated(IsolationForest(n_estimators=10, random_state=0), hold_out="folds")
checks = [c for model in models for c in check_estimator(model, on_skip=None, on_fail=None)]
print(json.dumps([(c["check_name"], c["status"], repr(c["exception"])) for c in checks]))
"""


def test_every_check_of_scikit_learn_passes():
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", CHECKS], env=environment, capture_output=True, text=True, check=True)
    assert [c for c in json.loads(run.stdout) if c[1] != "passed"] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("hold_out", ["plus", "split"])
@pytest.mark.parametrize("name", ["lof", "ocsvm", "kde"])
def test_the_rate_is_the_one_asked_for(name, hold_out):
    rates = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        model = Calibrated(ESTIMATORS[name], hold_out=hold_out, delta=0.2).fit(random.standard_t(3, size=(39, 4)))
        rates.append(np.mean(model.predict(random.standard_t(3, size=(200, 4))) == -1))
    assert np.mean(rates) < 0.2 + 3 * np.std(rates) / np.sqrt(40)

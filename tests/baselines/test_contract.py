import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from oneclass import baselines
from oracle import decisions
from oracle.estimator_checks import assert_all_passed
from oracle.held_out import losses_held_out, training_of

CHECKS = """
import json, sys, warnings
from sklearn.utils.estimator_checks import check_estimator
from oneclass import baselines
warnings.simplefilter("ignore")
checks = check_estimator(getattr(baselines, sys.argv[1])(), on_skip=None, on_fail=None)
print(json.dumps([(c["check_name"], c["status"], repr(c["exception"])) for c in checks]))
"""


@pytest.mark.parametrize("name", sorted(baselines.__all__))
def test_every_check_of_scikit_learn_passes(name):
    # In a process of its own, where scikit-learn's array API check can run.
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHECKS, name]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    checks = json.loads(run.stdout)
    assert_all_passed(checks)


def test_there_are_eleven_and_every_parameter_is_keyword_only():
    assert len(baselines.__all__) == 11
    for name in baselines.__all__:
        with pytest.raises(TypeError, match="positional"):
            getattr(baselines, name)(1)


def test_explanations_sum_to_the_score_exactly(explained, rows, fresh):
    model = explained().fit(rows)
    parts = model.explain(fresh).parts
    assert parts.shape == fresh.shape
    least = np.broadcast_to(model.model_.least, 3).sum()
    np.testing.assert_allclose(parts.sum(axis=1) + least, -model.score_samples(fresh), rtol=1e-13)


def test_the_first_reason_is_the_feature_that_is_off(explained, rows):
    model = explained().fit(rows)
    if type(model).__name__ == "PCADetector":
        pytest.skip("the residual is what strays across the plane, in all features")
    for feature in range(3):
        stray = rows.mean(axis=0)
        stray[feature] += 40 * rows[:, feature].std()
        assert model.explain([stray]).shares[0].argmax() == feature


def test_strays_score_lower_than_their_neighborhood(baseline, rows, fresh):
    scores = baseline().fit(rows).score_samples(fresh)
    assert scores[10:].max() < np.median(scores[:10])


def test_p_values_are_the_ranks_among_held_out_losses(baseline, rows, fresh):
    model = baseline(scale="robust").fit(rows)
    held_out = losses_held_out(model, rows)
    losses = -model.score_samples(fresh)
    expected = [decisions.p_value(loss, held_out) for loss in losses]
    np.testing.assert_allclose(model.p_value(fresh), expected, rtol=1e-12)


#: Classifiers whose every fit has held-out losses.
FREE = {"KNNDetector", "NaiveParzen", "OCRF", "PCADetector", "Parzen"}


@pytest.mark.parametrize("threshold", ["train", "authors"])
def test_p_values_do_not_depend_on_the_threshold_or_say_which_one_they_need(baseline, rows, fresh, threshold):
    model = baseline(threshold=threshold).fit(rows)
    name = type(model).__name__
    if name in FREE:
        assert np.array_equal(model.p_value(fresh), baseline().fit(rows).p_value(fresh))
        return
    assert model.calibration_ is None
    message = (
        f"{name}: p-values and other budgets need held-out losses, .* threshold='{threshold}' .* threshold='held_out'"
    )
    for verb in (model.p_value, model.label_batch, lambda X: model.predict(X, delta=0.1)):
        with pytest.raises(ValueError, match=message):
            verb(fresh)


def test_rejected_at_delta_means_a_p_value_of_at_most_delta(baseline, rows, fresh):
    model = baseline(delta=0.1).fit(rows)
    assert np.array_equal(model.predict(fresh) == -1, model.p_value(fresh) <= 0.1)


def test_the_false_alarm_rate_is_the_one_asked_for(baseline):
    random = np.random.default_rng(2)
    rates = []
    for _ in range(6):
        model = baseline(delta=0.2).fit(random.normal(size=(80, 2)))
        rates.append(np.mean(model.predict(random.normal(size=(500, 2))) == -1))
    # The rate given the rows has a standard deviation of about 0.045 around at most 0.2; folds promise a bit less.
    assert 0.08 < np.mean(rates) < 0.27


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.25])
def test_train_is_the_midpoint_rule_of_dd_tools(baseline, rows, delta):
    model = baseline(threshold="train", delta=delta).fit(rows)
    if type(model).__name__ == "MSTDetector":
        pytest.skip("its rule reads edges")
    losses = np.sort(model._training_losses(model.model_, training_of(model, rows)))
    k = int(np.floor((1 - delta) * 60 + 0.5))
    expected = (losses[k - 1] + losses[k]) / 2 if k < 60 else losses[-1]
    assert -model.offset_ == pytest.approx(expected, rel=1e-6, abs=1e-7 * np.ptp(losses))


def test_without_a_budget_every_training_row_is_accepted(baseline, rows):
    for threshold in ("held_out", "train"):
        assert (baseline(delta=0.0, threshold=threshold).fit(rows).predict(rows) == 1).all()


def test_shifted_and_stretched_features_change_nothing(baseline, rows, fresh):
    stretch, shift = np.array([8.0, 0.25, 64.0]), np.array([1.0, -2.0, 0.5])
    before = baseline().fit(rows).score_samples(fresh)
    after = baseline().fit(rows * stretch + shift).score_samples(fresh * stretch + shift)
    tolerance = 0.2 if type(baseline()).__name__ == "AutoencoderDetector" else 1e-6
    np.testing.assert_allclose(after, before, rtol=tolerance, atol=tolerance)


def test_without_scaling_the_features_are_taken_as_they_are(baseline, rows, fresh):
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    model = baseline(scale=False).fit(scaled)
    expected = baseline().fit(rows).score_samples(fresh)
    actual = model.score_samples((fresh - rows.mean(axis=0)) / rows.std(axis=0, ddof=1))
    tolerance = 0.2 if type(model).__name__ == "AutoencoderDetector" else 1e-6
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def test_a_pickled_copy_answers_alike(baseline, rows, fresh):
    model = baseline().fit(rows)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.score_samples(fresh), model.score_samples(fresh))
    assert np.array_equal(copy.p_value(fresh), model.p_value(fresh))


def test_a_seed_makes_fits_repeat(baseline, rows, fresh):
    model = baseline()
    if "random_state" in model.get_params():
        model.set_params(random_state=7)
    first = model.fit(rows).decision_function(fresh)
    assert np.array_equal(clone(model).fit(rows).decision_function(fresh), first)


def test_names_of_features_are_kept(baseline, rows, fresh):
    columns = ["length", "width", "weight"]
    model = baseline().fit(pd.DataFrame(rows, columns=columns))
    assert list(model.feature_names_in_) == columns
    scores = model.score_samples(pd.DataFrame(fresh, columns=columns))
    assert np.array_equal(scores, baseline().fit(rows).score_samples(fresh))


def test_arrays_of_other_libraries_are_refused_by_name(baseline, rows):
    strict = pytest.importorskip("array_api_strict")
    model = baseline()
    with pytest.raises(TypeError, match=f"{type(model).__name__}: X must be a NumPy array.*got array_api_strict"):
        model.fit(strict.asarray(rows))


@pytest.mark.parametrize(
    ("parameter", "value", "rule"),
    [
        ("delta", 1.0, r"delta must be a number in \[0, 1\), got 1.0"),
        ("threshold", "mean", "threshold must be one of 'held_out', 'train', 'authors'"),
        ("scale", "yes", "scale must be 'robust', 'zscore' or False; got 'yes'"),
    ],
)
def test_errors_name_the_classifier_the_parameter_the_rule_and_the_value(baseline, rows, parameter, value, rule):
    model = baseline().set_params(**{parameter: value})
    with pytest.raises(ValueError, match=f"{type(model).__name__}: {rule}"):
        model.fit(rows)


@pytest.mark.parametrize(
    ("name", "parameters", "rule"),
    [
        ("KNNDetector", {"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1, got 0"),
        ("KNNDetector", {"n_neighbors": 60}, "n_neighbors must be below the number of training rows 60, got 60"),
        ("KNNDetector", {"method": "beta"}, "method must be one of 'kappa', 'delta', 'gamma'; got 'beta'"),
        ("KMeansDetector", {"n_clusters": 2.5}, "n_clusters must be a whole number of at least 1, got 2.5"),
        ("KMeansDetector", {"init": "far"}, r"init must be one of 'k-means\+\+', 'random'; got 'far'"),
        ("KCentersDetector", {"n_centers": 0}, "n_centers must be a whole number of at least 1, got 0"),
        ("KCentersDetector", {"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
        ("Parzen", {"bandwidth": "wide"}, "bandwidth must be one of 'shared', 'full'; got 'wide'"),
        ("PCADetector", {"n_components": 3}, "n_components must be below n_features = 3, got 3"),
        ("PCADetector", {"n_components": 1.5}, r"n_components must be a number in \(0, 1\), got 1.5"),
        ("MSTDetector", {"n_paths": -1}, "n_paths must be a whole number of at least 0, got -1"),
        ("AutoencoderDetector", {"hidden_layer_sizes": (5, 0)}, r"hidden_layer_sizes must be .* got \(5, 0\)"),
        ("AutoencoderDetector", {"alpha": -1.0}, r"alpha must be a number in \[0, 1e\+100\), got -1.0"),
        ("OCSVM", {"nu": 0.0}, r"nu must be a number in \(0, 1\], got 0.0"),
        ("OCSVM", {"kernel": "cosine"}, "kernel must be one of .* got 'cosine'"),
        ("SVDD", {"sigma": -1.0}, "sigma must be a number in .* got -1.0"),
        ("SVDD", {"kernel": "precomputed"}, r"a precomputed kernel must be square at fit, got shape \(60, 3\)"),
        ("OCRF", {"n_estimators": 0}, "n_estimators must be a whole number of at least 1, got 0"),
        ("OCRF", {"enlargement": 0.9}, r"enlargement must be a number in \[1, 1e\+06\], got 0.9"),
        ("OCRF", {"outlier_ratio": 0}, r"outlier_ratio must be a number in \(0, 1000\], got 0"),
    ],
)
def test_each_classifier_checks_its_own_parameters(rows, name, parameters, rule):
    with pytest.raises(ValueError, match=f"{name}: {rule}"):
        getattr(baselines, name)(**parameters).fit(rows)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("draw", ["lognormal", "standard_cauchy"])
def test_heavy_tails_of_few_rows_get_the_false_alarms_asked_for(baseline, draw):
    rates = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, Z = (getattr(rng, draw)(size=(n, 12)) for n in (60, 400))
        X, Z = (A**2 if draw == "lognormal" else A for A in (X, Z))
        rates.append(np.mean(baseline().fit(X).predict(Z) == -1))
    # Three in 61 rows; six thresholds on 60 rows each have a standard error of 1.2 points.
    assert np.mean(rates) < 3 / 61 + 3 * np.sqrt(0.05 * 0.95 / (60 * 6))

"""A stream is a classifier of scikit-learn, and of the library."""

import json
import os
import subprocess
import sys

import numpy as np
from sklearn.base import clone

from oneclass import AAKELM, Patience, Stream
from oracle.estimator_checks import assert_all_passed

CHECKS = """
import json, warnings
from sklearn.utils.estimator_checks import check_estimator
from oneclass import AAKELM, Nystrom, Stream
warnings.filterwarnings("ignore", message=".*target")
stream = Stream(AAKELM(approximation=Nystrom(20)))
checks = check_estimator(stream, on_skip=None, on_fail=None)
print(json.dumps([(c["check_name"], c["status"], repr(c["exception"])) for c in checks]))
"""


def test_every_check_of_scikit_learn_passes():
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", CHECKS], env=environment, capture_output=True, text=True, check=True)
    checks = json.loads(run.stdout)
    assert_all_passed(checks)


def test_choices_are_read_and_set_as_in_scikit_learn(aakelm):
    stream = Stream(aakelm, half_life=50, window=None, patience=Patience(90))
    again = clone(stream).set_params(estimator__C=0.25, patience=None)
    assert (again.half_life, again.estimator.C, again.patience) == (50, 0.25, None)
    assert stream.patience == Patience(rows=90)
    assert stream.estimator.C == 1.0


def test_labels_p_values_and_levels_agree(aakelm, rows, fresh):
    stream = Stream(aakelm).fit(rows[:300]).partial_fit(rows[300:])
    np.testing.assert_array_equal(stream.predict(fresh) < 0, stream.p_value(fresh) <= stream.level_)
    np.testing.assert_array_equal(stream.predict(fresh) < 0, stream.decision_function(fresh) < 0)
    np.testing.assert_array_equal(stream.predict(fresh, delta=0.2) < 0, stream.p_value(fresh) <= 0.2)


def test_what_a_stream_watched_is_what_it_would_have_said(aakelm, rows):
    stream = Stream(aakelm).fit(rows[:300])
    labels, scores = stream.predict(rows[300:350]), stream.score_samples(rows[300:350])
    verdict = stream.watch(rows[300:350])
    np.testing.assert_array_equal(verdict.labels, labels)
    np.testing.assert_allclose(verdict.scores, scores, rtol=1e-12)
    np.testing.assert_array_equal(verdict.rows, np.arange(300, 350))


def test_shares_of_columns_sum_to_the_score(aakelm, rows, fresh):
    stream = Stream(aakelm).fit(rows)
    np.testing.assert_allclose(-stream.explain(fresh).parts.sum(axis=1), stream.score_samples(fresh), rtol=1e-10)


def test_labels_of_an_opening_are_those_of_a_machine(aakelm, rows, fresh):
    y = np.where(np.arange(600) < 550, 1, -1)
    stream = Stream(aakelm, window=None, patience=None).fit(rows, y)
    batch = clone(aakelm).set_params(known_outliers="ignore").fit(rows, y)
    np.testing.assert_allclose(stream.score_samples(fresh), batch.score_samples(fresh), rtol=1e-8)


def test_a_screened_opening_is_begun_without_its_odd_rows(aakelm, rows, fresh):
    dirty = rows.copy()
    dirty[[10, 200, 400]] += 20 * rows.std(axis=0)
    stream = Stream(aakelm, window=None)
    found = stream.screen(dirty)
    assert set(np.flatnonzero(found.odd)) >= {10, 200, 400}
    clean = Stream(aakelm, window=None).fit(dirty[~found.odd])
    np.testing.assert_allclose(stream.score_samples(fresh), clean.score_samples(fresh), rtol=1e-8)
    assert isinstance(stream.estimator, AAKELM)

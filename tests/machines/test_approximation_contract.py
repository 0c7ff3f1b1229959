import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from oneclass import AAKELM, VAAKELM, Fourier, Nystrom
from oracle.estimator_checks import assert_all_passed

CHECKS = """
import json, warnings
from sklearn.utils.estimator_checks import check_estimator
import oneclass
from oneclass import AAKELM, VOCKELM, Fourier, Nystrom
warnings.simplefilter("ignore", oneclass.UnreachableRateWarning)
report = {}
for name, machine in (("Nystrom", AAKELM(approximation=Nystrom(20))), ("Fourier", VOCKELM(approximation=Fourier(20)))):
    checks = check_estimator(machine, on_skip=None, on_fail=None)
    report[name] = [(c["check_name"], c["status"], repr(c["exception"])) for c in checks]
print(json.dumps(report))
"""


@pytest.fixture(scope="module")
def sklearn_report():
    """Results of scikit-learn's own checks, in a process where its array API check can run."""
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHECKS]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@pytest.mark.parametrize("approximation", ["Nystrom", "Fourier"])
def test_every_check_of_scikit_learn_passes(approximation, sklearn_report):
    checks = sklearn_report[approximation]
    assert_all_passed(checks)


@pytest.mark.parametrize("approximation", [Nystrom(20), Fourier(20)], ids=str)
@pytest.mark.parametrize("threshold", ["held_out", "train"])
def test_a_pickled_machine_gives_the_same_scores_and_a_clone_fits_the_same(rows, fresh, approximation, threshold):
    model = VAAKELM(C=8.0, approximation=approximation, threshold=threshold).fit(rows)
    twins = pickle.loads(pickle.dumps(model)), clone(model).fit(rows)
    for twin in twins:
        for verb in ("score_samples", "predict", "p_value", "reconstruct", "explain"):
            np.testing.assert_array_equal(getattr(twin, verb)(fresh), getattr(model, verb)(fresh))


@pytest.mark.parametrize("approximation", [Nystrom(20), Fourier(20)], ids=str)
def test_a_fitted_approximation_keeps_no_training_rows(approximation):
    rng = np.random.default_rng(0)
    sizes = [
        len(pickle.dumps(AAKELM(C=8.0, sigma=1.0, approximation=approximation).fit(rng.normal(size=(n, 50)))))
        for n in (1000, 3000)
    ]
    # A held-out loss, in order and ranked, a weight and a key each.
    assert sizes[1] - sizes[0] < 2000 * 36

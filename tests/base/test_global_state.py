"""Fits, also in several threads, change nothing that other code of the process uses."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from classifiers import BASELINES, MACHINES, quick
from oneclass import DependentRowsWarning, FewRowsWarning
from oneclass.base.warnings import collected, ignoring, warn

ROWS = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("name", [name for name in (*MACHINES, *BASELINES) if name != "Calibrated"])
def test_a_fit_draws_nothing_from_the_global_generator_of_numpy(name):
    before = np.random.get_state()  # noqa: NPY002
    quick(name).fit(ROWS).score_samples(ROWS[:3])
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


def test_warnings_of_scikit_learn_are_ignored_until_the_last_block_ends():
    def raised():
        source = "import warnings; warnings.warn('slow', C)"
        exec(source, {"__name__": "sklearn.svm._base", "C": ConvergenceWarning})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before, entered, leave = [*warnings.filters], threading.Event(), threading.Event()

        def other():
            with ignoring(ConvergenceWarning):
                entered.set()
                leave.wait()

        thread = threading.Thread(target=other)
        thread.start()
        entered.wait()
        with ignoring(ConvergenceWarning):
            leave.set()
            thread.join()
            raised()
        assert [*warnings.filters] == before
        with pytest.raises(ConvergenceWarning):
            raised()


def test_collected_takes_the_warnings_of_its_categories_alone():
    with collected() as outer:
        with collected(FewRowsWarning) as inner:
            warn("few", FewRowsWarning)
            warn("dependent", DependentRowsWarning)
        assert (inner, outer) == (["few"], ["dependent"])


def test_a_whole_number_of_hundreds_of_digits_is_refused_by_name():
    for X in ([[10**400, 1.0], [2.0, 3.0]], np.array([[10**400, 1.0], [2.0, 3.0]], dtype=object)):
        with pytest.raises(ValueError, match="KNNDetector: X must hold a number in every cell, but column 0"):
            quick("KNNDetector").fit(X)


def test_a_spanning_tree_of_rows_with_thousands_of_columns():
    model = quick("MSTDetector", delta=0.1).fit(np.random.default_rng(0).normal(size=(12, 2000)))
    assert np.isfinite(model.score_samples(ROWS[:1, :1] * np.ones((1, 2000)))).all()

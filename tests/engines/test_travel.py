"""What travels to the workers of a cluster: recipe and plan for a fit, and no more than the model for answers."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

da = pytest.importorskip("dask.array")

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, KMeansDetector, Nystrom, PCADetector  # noqa: E402
from oneclass.engines.dask import DaskRows  # noqa: E402

VERBS = ["score_samples", "decision_function", "predict", "explain"]


@pytest.mark.parametrize("machine", [OCKELM, VOCKELM, AAKELM, VAAKELM], ids=lambda m: m.__name__)
def test_what_travels_to_a_worker_does_not_grow_with_the_rows(monkeypatch, machine):
    sizes = []
    original = DaskRows.total

    def weighed(self, step, label):
        sizes.append(len(pickle.dumps((step, self._read))))
        return original(self, step, label)

    monkeypatch.setattr(DaskRows, "total", weighed)
    rng = np.random.default_rng(0)
    model = machine(approximation=Nystrom(20), sigma=1.0)
    travelled = []
    for before, n in ((50, 400), (900, 1600)):
        model.set_params(approximation=None).fit(rng.normal(size=(before, 3)))  # an exact model that must stay at home
        sizes.clear()
        model.set_params(approximation=Nystrom(20)).fit(da.from_array(rng.normal(size=(n, 3)), chunks=(100, 3)))
        travelled.append(list(sizes))
    assert [len(passes) for passes in travelled] == [len(travelled[0])] * 2
    assert max(travelled[1]) <= max(travelled[0]) + 100
    assert max(travelled[1]) < 50_000


@pytest.mark.parametrize(
    ("model", "verb"),
    [
        *product([VAAKELM(approximation=Nystrom(20))], [*VERBS, "reconstruct"]),
        *product([PCADetector(), KMeansDetector()], VERBS),
    ],
    ids=str,
)
def test_what_answers_take_to_a_worker_does_not_grow_with_the_training_rows(model, verb):
    cloudpickle = pytest.importorskip("cloudpickle")
    rng = np.random.default_rng(0)
    fresh = da.from_array(rng.normal(size=(30, 3)), chunks=(10, 3))
    sizes = []
    for n in (400, 4000):
        model = clone(model).fit(rng.normal(size=(n, 3)))
        sizes.append(len(cloudpickle.dumps(dict(getattr(model, verb)(fresh).__dask_graph__()))))
    assert sizes[1] < sizes[0] + 1000


@pytest.mark.parametrize("verb", [*VERBS, "p_value"])
def test_answers_are_those_of_the_model_that_was_asked(verb):
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(100, 3)), rng.normal(size=(30, 3))
    model = VAAKELM().fit(X)
    asked, expected = getattr(model, verb)(da.from_array(fresh, chunks=(10, 3))), getattr(model, verb)(fresh)
    model.fit(3 * X + 7)
    np.testing.assert_allclose(asked.compute(), getattr(expected, "shares", expected), rtol=1e-9)


def test_neighbors_leave_out_rows_that_are_not_in_memory():
    model = VAAKELM().fit(np.random.default_rng(0).normal(size=(60, 3)))
    with pytest.raises(ValueError, match="VAAKELM: neighbors must be 0 for a Dask collection, got 2"):
        model.explain(da.zeros((4, 3), chunks=(2, 3)), neighbors=2)

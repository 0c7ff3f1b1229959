"""What travels to the workers of a cluster: the recipe and the plan, whatever the machine was fitted on before."""

import pickle

import numpy as np
import pytest

da = pytest.importorskip("dask.array")

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Nystrom  # noqa: E402
from oneclass.engines.dask import DaskRows  # noqa: E402


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

import os

import numpy as np
import pytest

import oneclass
from oneclass.base import memory
from oneclass.base.memory import available_bytes


def test_available_memory_is_within_the_machine(xp):
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < available_bytes(xp.ones(3)) <= physical


def test_a_loaded_machine_checks_memory_before_it_computes_its_factor(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(800, 1))
    oneclass.AAKELM(approximation=None).fit(X).save(tmp_path / "model.oneclass")
    loaded = oneclass.load(tmp_path / "model.oneclass")
    with monkeypatch.context() as patch:
        patch.setattr(memory, "available_bytes", lambda like: 10**6)
        with pytest.raises(MemoryError, match=r"the factor of 800 rows .* needs about 0.0 GB, but 0.0 GB are free"):
            loaded.predict(X)
    assert set(loaded.predict(X)) == {1, -1}

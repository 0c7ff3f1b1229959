"""Fixtures that every room's tests share."""

from __future__ import annotations

from importlib.util import find_spec

import array_api_compat
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("theorems", deadline=None, max_examples=15, derandomize=True, database=None)
settings.load_profile("theorems")


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Small matrices gain nothing from threads, and lose much on a busy machine."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", params=["numpy", "torch", "array_api_strict"])
def xp(request):
    """The array libraries that run the same lines, one after the other."""
    library = pytest.importorskip(request.param)
    return array_api_compat.array_namespace(library.zeros(1))

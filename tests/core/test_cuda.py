"""City-block distances and kernel values of one kernel on a GPU, and what is done without a compiler for it."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from oneclass.core import arrays, cuda

torch = pytest.importorskip("torch")


def on_torch(x, dtype):
    return torch.asarray(x, dtype=getattr(torch, dtype), device="cuda")


def on_cupy(x, dtype):
    return pytest.importorskip("cupy").asarray(x, dtype=dtype)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("to", [on_torch, on_cupy])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 3, 2), (0, 3, 2), (130, 70, 17), (1000, 333, 32), (64, 129, 200)])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-5)])
def test_values_equal_those_of_scipy(to, sizes, dtype, tolerance):
    n, m, d = sizes
    rng = np.random.default_rng(n)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    for layout in (lambda x: x, lambda x: x[:, ::-1][:, ::-1] if to is on_cupy else x.T.contiguous().T):
        distances = arrays.to_numpy(cuda.city_block(layout(to(X, dtype)), to(Y, dtype)))
        expected = cdist(X.astype(dtype), Y.astype(dtype), "cityblock")
        np.testing.assert_allclose(distances, expected, rtol=tolerance, atol=tolerance)
        values = arrays.to_numpy(cuda.city_block(to(X, dtype), layout(to(Y, dtype)), -1 / d))
        np.testing.assert_allclose(values, np.exp(-expected / d), rtol=10 * tolerance)


def test_without_a_compiler_the_distances_of_the_library_are_used(monkeypatch):
    monkeypatch.setattr(cuda, "_compiled", lambda *args: None)
    monkeypatch.setattr(arrays, "on_host", lambda x: False)
    X, Y = np.random.default_rng(0).normal(size=(2, 7, 3))
    distances = arrays.city_block(torch.asarray(X), torch.asarray(Y))
    np.testing.assert_allclose(arrays.to_numpy(distances), cdist(X, Y, "cityblock"), rtol=1e-13)
    values = arrays.exp_city_block(torch.asarray(X), torch.asarray(Y), -0.5)
    np.testing.assert_allclose(arrays.to_numpy(values), np.exp(-cdist(X, Y, "cityblock") / 2), rtol=1e-13)


def test_pytorch_without_its_compiler_of_kernels_gives_none(monkeypatch):
    class NoDevice:
        def __init__(self, where):
            raise RuntimeError("no NVRTC")

    monkeypatch.setattr(torch.cuda, "device", NoDevice)
    assert cuda._with_torch("", "cuda:0") is None

"""The machines on a CUDA device give what they give on the host, and stay there."""

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom

pytestmark = pytest.mark.gpu

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

RNG = np.random.default_rng(0)
# So few rows that the host fits them exactly, too, and to score that it does not round them to single precision.
X, FRESH = RNG.normal(size=(2000, 6)), RNG.normal(size=(120, 6)) * 1.5
MACHINES = [
    OCKELM(),
    VOCKELM(threshold="mean"),
    AAKELM(loss="reconstruction"),
    VAAKELM(),
    VAAKELM(kernel="rbf", sigma="local", scale="zscore"),
    VAAKELM(variance="class", loss="uncertainty"),
    VAAKELM(approximation=Nystrom(200)),
    VAAKELM(approximation=Nystrom(200, landmarks="kmeans"), centering="global"),
    AAKELM(approximation=Fourier(200), kernel="laplacian"),
]


def on_torch(x, dtype):
    return torch.asarray(x, dtype=getattr(torch, dtype), device="cuda")


def on_cupy(x, dtype):
    return pytest.importorskip("cupy").asarray(x, dtype=dtype)


def host(x):
    return x.get() if hasattr(x, "get") else x.cpu().numpy()


def answers_of(model, rows):
    """Scores, labels and, if rows were held out, p-values."""
    known = [] if model.calibration_ is None else [model.p_value]
    return [verb(rows) for verb in (model.score_samples, model.predict, *known)]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("to", [on_torch, on_cupy])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-7), ("float32", 0.1)])
def test_a_device_gives_what_the_host_gives(machine, to, dtype, tolerance):
    scores, labels, *p = answers_of(machine.fit(X.astype(dtype)), FRESH.astype(dtype))
    fresh = to(FRESH, dtype)
    answers = answers_of(machine.fit(to(X, dtype)), fresh)
    assert all(type(answer) is type(fresh) for answer in answers)
    assert str(answers[0].dtype).endswith(dtype)
    spread = np.ptp(scores)
    assert np.max(np.abs(host(answers[0]) - scores)) <= tolerance * spread
    assert np.mean(host(answers[1]) == labels) >= 1 - tolerance
    for actual, known in zip(answers[2:], p, strict=True):
        assert np.max(np.abs(host(actual) - known)) <= max(0.001, tolerance)


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_nothing_of_a_fit_on_the_device_is_on_the_host(machine):
    model = machine.fit(on_torch(X, "float64")).model_
    factored = getattr(model, "factored", None)  # of exact machines whose loss uses uncertainty
    arrays = [value for value in (model.weights, factored, getattr(model, "L", None)) if value is not None]
    assert all(value.device.type == "cuda" for value in arrays)


def test_a_device_by_name_takes_and_gives_numpy():
    machine = VAAKELM(device="cuda").fit(X)
    plain = VAAKELM().fit(X)
    for verb in ("score_samples", "predict", "p_value", "reconstruct"):
        found = getattr(machine, verb)(FRESH)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, getattr(plain, verb)(FRESH), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("machine", [VAAKELM, OCKELM])
def test_rows_are_explained_on_the_device_as_on_the_host(machine):
    found = machine(device="cuda").fit(X).explain(FRESH, neighbors=2)
    expected = machine().fit(X).explain(FRESH, neighbors=2)
    for name in ("shares", "expected", "neighbors"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-5, atol=1e-8)

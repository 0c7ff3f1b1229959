"""After `forget` the threshold is finite, and rows far from all learned rows are outliers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom, Stream

#: How adopted rows arrive: instead of the others, as half of all rows, as a few of all rows, or around the others.
KINDS = {
    "change": lambda rng, X, size: X + size,
    "half": lambda rng, X, size: X + size * (np.arange(len(X)) % 2)[:, None],
    "mode": lambda rng, X, size: X + size * (rng.random(len(X)) < 0.4)[:, None],
    "wider": lambda rng, X, size: X * np.where(rng.random(len(X)) < 0.5, size / 4, 1)[:, None],
}
SPANS = [{"window": 1000}, {"window": 150}, {"window": None, "half_life": 100.0}, {"window": None}]
MACHINES = {"OCKELM": OCKELM, "VOCKELM": VOCKELM, "AAKELM": AAKELM, "VAAKELM": VAAKELM}


def fed(stream, rng, kind, *, size, columns, opening, batches):
    """Feed rows of a kind to the stream, forget each adopted change, and yield the forgotten events."""
    stream.fit(rng.normal(size=(opening, columns)))
    for _ in range(batches):
        for event in stream.watch(KINDS[kind](rng, rng.normal(size=(50, columns)), size)).events:
            if event.kind in ("change", "mode", "wider"):
                yield stream.forget(event) and event


def assert_sees(stream, columns, *, far):
    """The threshold and the losses behind it are finite; far rows are outliers if the loss is unbounded."""
    losses = stream.calibration_.losses
    assert np.isfinite(stream.offset_)
    assert np.abs(losses).max() < 1e100
    assert np.all(np.isfinite(stream.state_.machine.model.weights))
    if far:
        assert np.all(stream.predict([[1e6] * columns, [-1e4] * columns, [1e9] + [0.0] * (columns - 1)]) < 0)


@pytest.mark.parametrize("machine", [VAAKELM, VOCKELM], ids=lambda m: m.__name__)
def test_a_stream_sees_after_all_rows_of_a_cluster_were_forgotten(machine):
    forgotten = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        stream = Stream(machine())
        for event in fed(stream, rng, "half", size=40.0, columns=2, opening=30, batches=6):
            forgotten += event.kind == "change"
            assert_sees(stream, 2, far=True)
            assert np.mean(stream.predict(rng.normal(size=(200, 2)) + 40) < 0) > 0.9
            assert np.mean(stream.predict(rng.normal(size=(200, 2))) < 0) < 0.3
    assert forgotten


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=15)
@given(data=st.data())
def test_a_stream_sees_after_forgetting_any_adoption_with_any_machine(name, data):
    machine = MACHINES[name]
    rebuilds, embeds = machine in (AAKELM, VAAKELM), machine in (VOCKELM, VAAKELM)
    options = {
        "C": data.draw(st.sampled_from([0.05, 1.0, 30.0])),
        "kernel": data.draw(st.sampled_from(["rbf", "laplacian"])),
        "scale": data.draw(st.sampled_from(["robust", "zscore"])),
        "approximation": data.draw(st.sampled_from([Nystrom(8), Nystrom(40), Nystrom(20, "uniform"), Fourier(30)])),
    }
    if rebuilds:
        options["loss"] = data.draw(st.sampled_from(["reconstruction", "uncertainty", "predictive", "either"]))
    if embeds:
        options["variance"] = data.draw(st.sampled_from(["subclass", "class"]))
        options["n_clusters"] = data.draw(st.integers(2, 8))
        options["centering"] = data.draw(st.sampled_from(["own", "global"]))
    patience, span = data.draw(st.sampled_from(["prompt", 60])), data.draw(st.sampled_from(SPANS))
    stream = Stream(machine(**options), patience=patience, **span)
    columns = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    for _ in fed(
        stream,
        rng,
        data.draw(st.sampled_from(list(KINDS))),
        size=data.draw(st.sampled_from([40.0, 6.0, 1e3])),
        columns=columns,
        opening=data.draw(st.integers(20, 100)),
        batches=8,
    ):
        # Losses of a constant target are at most the constant: a threshold may be above it.
        assert_sees(stream, columns, far=rebuilds)

"""Losses of NaN or infinity never become a threshold: they are refused, or rank above all others."""

import numpy as np
import pytest

from classifiers import BASELINES, quick
from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Nystrom, Stream
from oneclass.baselines import _base
from oneclass.baselines._base import Baseline
from oneclass.core.machine import Machine
from oneclass.core.threshold import LossError

ROWS = np.random.default_rng(0).normal(size=(60, 2))
OWNERS = np.arange(60) % 20
FAR = np.array([[1e6, 1e6]])


def chunks(machine, **options):
    """The machine fitted to chunks of the rows."""
    return machine.set_params(approximation=Nystrom(20)).fit_chunks([ROWS[:30], ROWS[30:]], **options)


def chunks_of_groups(machine):
    with_owners = np.column_stack([ROWS, OWNERS])
    return machine.set_params(approximation=Nystrom(20)).fit_chunks([with_owners[:30], with_owners[30:]], groups=2)


#: Every way to compute the threshold of a machine.
WAYS = {
    "exact": lambda machine: machine.fit(ROWS),
    "weights": lambda machine: machine.fit(ROWS, sample_weight=(1.0 + OWNERS) / 20),
    "single precision": lambda machine: machine.fit(ROWS.astype(np.float32)),
    "groups": lambda machine: machine.fit(ROWS, groups=OWNERS),
    "landmarks": lambda machine: machine.set_params(approximation=Nystrom(20)).fit(ROWS),
    "landmarks and groups": lambda machine: machine.set_params(approximation=Nystrom(20)).fit(ROWS, groups=OWNERS),
    "chunks": chunks,
    "groups in chunks": chunks_of_groups,
    "training losses": lambda machine: machine.set_params(threshold="train").fit(ROWS),
    "screening": lambda machine: machine.screen(ROWS).classifier,
}


def spoil(monkeypatch, value, rows):
    """Give some of the rows whose losses are asked for this loss."""
    sound = Machine.loss

    def loss(self, residuals, variance):
        found = np.array(sound(self, residuals, variance))
        found[rows] = value
        return found

    monkeypatch.setattr(Machine, "loss", loss)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("machine", [OCKELM, VOCKELM, AAKELM, VAAKELM], ids=lambda m: m.__name__)
def test_a_machine_with_a_loss_that_is_nan_is_refused_with_its_numbers(monkeypatch, machine, way):
    model = machine(C=2.0, sigma=1.5, delta=0.1)
    spoil(monkeypatch, np.nan, slice(0, 1))
    with pytest.raises(
        LossError, match=rf"^{machine.__name__}: no threshold can be put on .* NaN.*; C=2.0, .*sigma=1.5"
    ):
        WAYS[way](model)
    assert not hasattr(model, "offset_")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("machine", [OCKELM, VAAKELM], ids=lambda m: m.__name__)
def test_a_machine_with_an_infinite_loss_keeps_a_threshold_among_the_others(monkeypatch, machine, way):
    model = machine(C=2.0, sigma=1.5, delta=0.3)
    sound = WAYS[way](model).offset_
    spoil(monkeypatch, np.inf, slice(0, 1))
    offset = WAYS[way](model).offset_
    assert 10 * sound <= offset <= sound
    monkeypatch.undo()
    assert model.predict(FAR.astype(np.float32) if way == "single precision" else FAR).tolist() == [-1]


@pytest.mark.parametrize("threshold", ["held_out", "train"])
@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.filterwarnings("ignore:AutoencoderDetector. the network did not converge")
def test_a_baseline_with_a_loss_that_is_nan_is_refused(monkeypatch, name, threshold):
    model = quick(name, delta=0.2, threshold=threshold)
    held_out, kind = _base.HeldOut, type(model)
    losses = np.append(np.nan, np.arange(59.0))
    monkeypatch.setattr(_base, "HeldOut", lambda _, *more: held_out(losses, *more))
    monkeypatch.setattr(kind, "_training_losses", lambda *_: losses)
    with pytest.raises(LossError, match=f"^{name}: no threshold can be put on the losses of .* 1 of 60 are NaN"):
        model.fit(ROWS)
    assert not hasattr(model, "offset_")


@pytest.mark.parametrize("name", ["OCSVM", "SVDD"])
def test_a_boundary_of_nan_is_refused_as_threshold(monkeypatch, name):
    monkeypatch.setattr(Baseline, "_threshold", lambda *_: np.nan)
    monkeypatch.setattr(type(quick(name)), "_threshold", lambda *_: np.nan)
    with pytest.raises(LossError, match=f"^{name}: the threshold must be a finite number, but threshold='boundary'"):
        quick(name, threshold="boundary").fit(ROWS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_stream_none_of_whose_losses_is_finite_is_refused_and_stays_as_it_was(monkeypatch, value):
    stream = Stream(AAKELM(C=1.0, approximation=Nystrom(20))).fit(ROWS)
    state = stream.state_
    spoil(monkeypatch, value, slice(None))
    with pytest.raises(LossError, match=r"^Stream: no threshold can be put on the losses of .* all are infinite"):
        stream.fit(ROWS)
    assert stream.state_ is state


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_stream_some_of_whose_losses_are_infinite_keeps_a_threshold_among_the_others(monkeypatch, value):
    spoil(monkeypatch, value, slice(0, 6))
    stream = Stream(AAKELM(C=1.0, approximation=Nystrom(20)), delta=0.05).fit(ROWS)
    assert np.isfinite(stream.offset_)
    assert -stream.offset_ < 1e3
    monkeypatch.undo()
    assert stream.predict(FAR).tolist() == [-1]


def test_a_row_with_an_infinite_held_out_loss_has_the_lowest_score_and_p_value(monkeypatch):
    spoil(monkeypatch, np.inf, slice(3, 4))
    model = OCKELM(C=2.0, sigma=1.5, delta=0.2).fit(ROWS)
    assert model.held_out_scores_[3] == np.finfo(float).min
    assert model.held_out_p_values_[3] == pytest.approx(1 / 60)

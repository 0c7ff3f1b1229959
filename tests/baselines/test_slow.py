import numpy as np
import pytest

from oneclass import OCRF, OCSVM, SVDD, KCentersDetector, MSTDetector, Parzen
from oneclass.baselines import _slow


class StartedError(Exception):
    pass


def stop(self, Z):
    raise StartedError


@pytest.mark.parametrize(
    ("model", "shape", "time", "instead"),
    [
        (OCSVM(), (100_000, 5), r"\d+ minutes", "VAAKELM"),
        (SVDD(), (100_000, 5), r"\d+ minutes", "VAAKELM"),
        (OCRF(), (100_000, 5), r"\d+ minutes", "KNNDetector"),
        (MSTDetector(), (100_000, 20), r"\d+ minutes", "KNNDetector"),
        (Parzen(), (100_000, 5), r"\d+ (seconds|minutes)", "NaiveParzen"),
        (KCentersDetector(), (500_000, 2), r"\d+ minutes", "KMeansDetector"),
        (KCentersDetector(n_init=10**6), (10_000, 2), r"\d+ hours", "KMeansDetector"),
    ],
    ids=lambda v: type(v).__name__ if hasattr(v, "fit") else None,
)
def test_a_fit_that_takes_long_says_so_before_it_starts(model, shape, time, instead, monkeypatch):
    monkeypatch.setattr(type(model), "_learn", stop)
    X = np.zeros(shape)
    X[0] = 1
    message = f"{type(model).__name__}: fitting {shape[0]:,} rows takes about {time}; use .*{instead}"
    with pytest.warns(UserWarning, match=message) as caught, pytest.raises(StartedError):
        model.fit(X)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("model", [OCSVM(), SVDD(), OCRF(), MSTDetector(), KCentersDetector(), Parzen()])
def test_a_fit_that_is_quick_says_nothing(model, monkeypatch):
    monkeypatch.setattr(type(model), "_learn", stop)
    X = np.arange(6000.0).reshape(2000, 3)
    with pytest.raises(StartedError):  # and no warning, which would be an error
        model.fit(X)


@pytest.mark.parametrize(("seconds", "words"), [(61, "61 seconds"), (150, "2 minutes"), (7200, "2 hours")])
def test_durations_are_written_in_words(seconds, words):
    assert _slow._in_words(seconds) == words

"""The figures of docs/plots.md and docs/start.md, each by the call on the page: python -m examples.plots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.model_selection import train_test_split

from oneclass import VAAKELM, KNNDetector, Stream, plot

from .style import DOCS, RC, plt, save

FOLDER = DOCS / "plots"


class Drawn(Protocol):
    """A display."""

    figure_: Figure


def tumours() -> dict[str, Callable[[], Drawn]]:
    """Benign tumours for training, and new rows of both classes."""
    data = load_breast_cancer(as_frame=True)
    benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
    train, fresh = train_test_split(benign, train_size=250, random_state=0)
    model = VAAKELM(delta=0.05).fit(train)
    X = pd.concat([fresh, malignant[:60]])
    y = np.repeat(["normal", "odd"], [len(fresh), 60])
    return {
        "threshold": lambda: plot.ThresholdDisplay.from_estimator(model, X, y),
        "scores": lambda: plot.ScoreDisplay.from_estimator(model, X, y),
        "rates": lambda: plot.RateDisplay.from_estimator(model, fresh),
        "p_values_like": lambda: plot.PValueDisplay.from_estimator(model, fresh),
        "p_values_unlike": lambda: plot.PValueDisplay.from_estimator(model, X),
        "map": lambda: plot.MapDisplay.from_estimator(model, X),
        "explanation": lambda: plot.ExplanationDisplay.from_estimator(model, malignant),
        "roc": lambda: plot.roc_display(model, X, y, plot_chance_level=True),
        "precision_recall": lambda: plot.precision_recall_display(model, X, y),
    }


def start() -> Drawn:
    """The first example: new benign and malignant tumours."""
    X, y = load_breast_cancer(as_frame=True, return_X_y=True)
    benign, malignant = X[y == 1], X[y == 0]
    train, fresh = train_test_split(benign, train_size=280, random_state=0)
    model, rows = VAAKELM(delta=0.05).fit(train), pd.concat([fresh, malignant])
    labels = np.repeat([1, -1], [len(fresh), len(malignant)])
    return plot.ThresholdDisplay.from_estimator(model, rows, labels)


def digits() -> dict[str, Callable[[], Drawn]]:
    """An eight among ones."""
    X, y = load_digits(return_X_y=True)
    model = VAAKELM().fit(np.random.default_rng(0).permutation(X[y == 1]))
    eights = X[y == 8]
    return {"image": lambda: plot.ExplanationDisplay.from_estimator(model, eights, image_shape=(8, 8))}


def moons() -> dict[str, Callable[[], Drawn]]:
    """Two moons."""
    X, _ = make_moons(300, noise=0.08, random_state=0)
    model = VAAKELM(C=32.0, delta=0.05).fit(X)
    fresh = np.vstack([make_moons(100, noise=0.08, random_state=1)[0], [[0.5, 0.25], [2.0, 1.2], [-0.9, -0.5]]])
    return {"boundary": lambda: plot.BoundaryDisplay.from_estimator(model, fresh)}


def drifting() -> dict[str, Callable[[], Drawn]]:
    """Drifting sensor data, scored by a model that is not updated and by a stream."""
    rng = np.random.default_rng(0)
    start, t = rng.normal(size=(500, 3)), np.arange(3000)
    X = rng.normal(size=(3000, 3)) + np.where(t < 1000, 0, np.minimum((t - 1000) / 700, 1.5))[:, None]
    X[2300:] += 6
    stream = Stream(window=600).fit(start)
    verdicts = [stream.watch(block) for block in np.split(X, 60)]
    return {
        "drift": lambda: plot.DriftDisplay.from_estimator(KNNDetector().fit(start), X),
        "stream": lambda: plot.DriftDisplay.from_verdicts(verdicts, delta=stream.delta),
    }


def main() -> None:
    """Draw."""
    FOLDER.mkdir(exist_ok=True)
    with plt.rc_context(RC):
        save(start().figure_, DOCS / "front" / "start.png")
        for scene in (tumours, digits, moons, drifting):
            for name, draw in scene().items():
                save(draw().figure_, FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()

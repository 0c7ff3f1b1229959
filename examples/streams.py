"""Five streams with drift: an ageing sensor, an abrupt change, a new mode, a burst, and a long attack.

In each, 3,000 rows arrive in blocks of 50. A stream scores each block and then learns from it. A machine that was
fitted once scores the same rows, and so do river's half-space trees if river is installed. Draws docs/streams.png
(needs matplotlib):

    python -m examples.streams
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from oneclass import VAAKELM, Stream

from .style import BLUE, DOCS, GREEN, GREY, ORANGE, RC, VERMILION, plt, save

OPENING, LENGTH, BLOCK, DELTA = 500, 3000, 50, 0.05
FREQUENCIES = np.random.default_rng(1).normal(size=(2, 6))
COLOURS = {"strange": ORANGE, "change": GREEN, "mode": GREEN, "wider": GREEN}

Rows = NDArray[np.float64]
Marks = NDArray[np.bool_]


def sensors(rng: np.random.Generator, n: int) -> Rows:
    """Six sensors, each a different function of two hidden variables."""
    return np.tanh(rng.normal(size=(n, 2)) @ FREQUENCIES) * 3 + 0.3 * rng.normal(size=(n, 6))


def scattered(X: Rows, rng: np.random.Generator, share: float = 0.02) -> Marks:
    """Replace some rows by anomalies: sensors that do not fit together."""
    anomaly = rng.random(len(X)) < share
    X[anomaly] = rng.permuted(X[anomaly], axis=1) + rng.normal(size=(int(anomaly.sum()), 6)) * 1.5
    return anomaly


def ageing(rng: np.random.Generator) -> tuple[Rows, Marks]:
    """Three sensors drift away, one loses half of its gain."""
    X, t = sensors(rng, LENGTH), np.linspace(0, 1, LENGTH)
    anomaly = scattered(X, rng)
    X[:, :3] += 5 * t[:, None]
    X[:, 4] *= 1 - t / 2
    return X, anomaly


def changed(rng: np.random.Generator) -> tuple[Rows, Marks]:
    """Row 1,000: another operating point."""
    X = sensors(rng, LENGTH)
    anomaly = scattered(X, rng)
    X[1000:] += np.array([6, 0, -5, 0, 4, 0])
    return X, anomaly


def new_mode(rng: np.random.Generator) -> tuple[Rows, Marks]:
    """From row 1,000 on a quarter of the rows are of a second mode."""
    X = sensors(rng, LENGTH)
    anomaly = scattered(X, rng)
    second = (np.arange(LENGTH) >= 1000) & (rng.random(LENGTH) < 0.25)
    X[second & ~anomaly] += np.array([0, 7, 0, -7, 0, 7])
    return X, anomaly


def burst(rng: np.random.Generator) -> tuple[Rows, Marks]:
    """Rows 1,000 to 1,120: nine of ten rows are anomalies of one kind."""
    return attacked(rng, 120)


def attack(rng: np.random.Generator) -> tuple[Rows, Marks]:
    """Rows 1,000 to 2,000: the same for a thousand rows."""
    return attacked(rng, 1000)


def attacked(rng: np.random.Generator, length: int) -> tuple[Rows, Marks]:
    """Rows of one kind of anomaly from row 1,000 on."""
    X = sensors(rng, LENGTH)
    anomaly = scattered(X, rng, 0.01)
    hit = np.arange(LENGTH) - 1000
    kind = (hit >= 0) & (hit < length) & (rng.random(LENGTH) < 0.9)
    X[kind] = np.array([5, -4, 5, -4, 5, -4]) + 0.4 * rng.normal(size=(int(kind.sum()), 6))
    return X, anomaly | kind


SCENES: dict[str, tuple[Callable[[np.random.Generator], tuple[Rows, Marks]], str | float]] = {
    "a sensor ages": (ageing, "prompt"),
    "an abrupt change": (changed, "prompt"),
    "a new mode": (new_mode, "prompt"),
    "a burst of 120 rows": (burst, "prompt"),
    "an attack of 1,000 rows, patience 1,500": (attack, 1500),
}


def rolling(alarms: Marks, anomaly: Marks, n: int = 200) -> Rows:
    """Share of alarms among the last `n` normal rows, at every row; NaN before there are half as many."""
    normal = ~anomaly
    false, seen = (np.cumsum(np.r_[0, part]) for part in (alarms & normal, normal))
    ago = np.maximum(np.arange(1, len(alarms) + 1) - n, 0)
    rows = seen[1:] - seen[ago]
    return np.where(rows >= n // 2, (false[1:] - false[ago]) / np.maximum(rows, 1), np.nan)


def half_space_trees(opening: Rows, X: Rows) -> Marks | None:
    """Alarms of river's detector: scores above their sliding quantile, if river is installed."""
    try:
        from river import anomaly, compose, preprocessing
    except ImportError:
        return None
    model = compose.Pipeline(preprocessing.MinMaxScaler(), anomaly.HalfSpaceTrees(seed=0, window_size=250))
    scores = []
    for row in np.concatenate([opening, X]):
        x = dict(enumerate(row.tolist()))
        scores.append(model.score_one(x))
        model.learn_one(x)
    found = np.array(scores)
    limits = [np.quantile(found[i - 400 : i], 1 - DELTA) for i in range(OPENING, len(found))]
    return found[OPENING:] > np.array(limits)


def main() -> None:
    """Draw the picture."""
    figure, axes = plt.subplots(len(SCENES), 2, figsize=(11, 2.2 * len(SCENES)), layout="constrained", sharex=True)
    for (name, (scene, patience)), (left, right) in zip(SCENES.items(), axes, strict=True):
        rng = np.random.default_rng(7)
        opening, (X, anomaly) = sensors(rng, OPENING), scene(rng)
        stream = Stream(window=1000, delta=DELTA, patience=patience).fit(opening)
        ratio, alarms = [], []
        for a in range(0, LENGTH, BLOCK):
            threshold = -stream.offset_
            verdict = stream.watch(X[a : a + BLOCK])
            ratio.append(-verdict.scores / threshold)
            alarms.append(verdict.labels < 0)
        loss, alarm = np.concatenate(ratio), np.concatenate(alarms)
        frozen = VAAKELM(delta=DELTA).fit(opening).predict(X) < 0
        row = np.arange(LENGTH)
        for which, colour, size, label in ((~anomaly, GREY, 3, "normal row"), (anomaly, VERMILION, 6, "anomaly")):
            left.scatter(row[which], loss[which], s=size, color=colour, label=label, linewidths=0, rasterized=True)
        left.axhline(1, color="black", linewidth=0.8)
        left.set(yscale="log", title=name, ylabel="loss / threshold")
        trees = half_space_trees(opening, X)
        lines = {"stream": (alarm, BLUE), "fitted once": (frozen, VERMILION)}
        lines |= {} if trees is None else {"river's half-space trees": (trees, ORANGE)}
        for label, (given, colour) in lines.items():
            right.plot(row, 100 * rolling(given, anomaly), color=colour, label=label)
        right.axhline(100 * DELTA, color="black", linewidth=0.8, linestyle=":")
        found = ", ".join(f"{label} {np.mean(given[anomaly]):.0%}" for label, (given, _) in lines.items())
        right.set(ylim=(0, 102), ylabel="false alarms, % of 200")
        right.set_title(f"anomalies found: {found}", fontsize=9)
        events = [(event.kind, event.row - OPENING) for event in stream.events_ if event.kind in COLOURS]
        for i, (kind, place) in enumerate(events):
            for axis in (left, right):
                axis.axvline(place, color=COLOURS[kind], linewidth=1.2, alpha=0.8)
            right.text(place + 15, 90 - 12 * i, kind, color=COLOURS[kind], fontsize=9)
        print(f"{name}: {events}")
    for axis in axes[-1]:
        axis.set_xlabel("row")
    (left_handles, left_labels), (right_handles, right_labels) = (ax.get_legend_handles_labels() for ax in axes[0])
    figure.legend(left_handles, left_labels, loc="outside lower left", ncols=2, markerscale=3)
    figure.legend(right_handles, right_labels, loc="outside lower right", ncols=len(right_labels))
    save(figure, DOCS / "streams.png")


if __name__ == "__main__":
    with plt.rc_context(RC):
        main()

"""Streams that were held out at first and have been used for choices since: rows that river contains, and digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from _arrays import Rng, Rows
from _streams import LENGTH, OPENING, Drift, assembled, coarser, direction, drawn, of_classes, rows_of


def _river(name: str) -> tuple[Rows, NDArray[np.str_]]:
    """The rows and labels of a dataset in river."""
    from river import datasets

    pairs = list(getattr(datasets, name)())
    return np.array([list(x.values()) for x, _ in pairs], dtype=float), np.array([str(y) for _, y in pairs])


def _segments() -> dict[str, Rows]:
    X, y = _river("ImageSegments")
    return {kind: X[y == kind] for kind in np.unique(y).tolist()}


def segments_switch(rng: Rng) -> Drift:
    """Image segments: brick and cement, then foliage and windows, then paths and sky; anomalies are grass."""
    of = _segments()
    kinds = (("brickface", "cement"), ("foliage", "window"), ("path", "sky"))
    return of_classes("segments switch", [[of[a], of[b]] for a, b in kinds], of["grass"], rng)


def segments_gradual(rng: Rng) -> Drift:
    """Cement among brick, gradually more; anomalies are windows."""
    of = _segments()
    phases = [[of["brickface"]], [of["brickface"], of["cement"]]]
    return of_classes("segments gradual", phases, of["window"], rng, gradual=True)


def shuttle(rng: Rng) -> Drift:
    """Readings of a space shuttle in their own order, whose sensors shift; anomalies are its rare states."""
    X, y = _river("Shuttle")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    shift, normal, rare = 2 * direction(X.shape[1], rng), X[y == "0"], X[y == "1"]
    start = int(rng.integers(len(normal) - OPENING - LENGTH))
    return assembled(
        "shuttle",
        lambda t, rng: normal[start : start + t.size] + t[:, None] * shift,
        lambda t, rng: drawn(rare, t.size, rng) + t[:, None] * shift,
        rng,
    )


def bananas(rng: Rng) -> Drift:
    """A banana-shaped class that is rotated by 90 degrees; anomalies are of the other class, rotated too."""
    X, y = _river("Bananas")

    def turned(rows: Rows, t: Rows) -> Rows:
        c, s = np.cos(t * np.pi / 2), np.sin(t * np.pi / 2)
        return np.column_stack([c * rows[:, 0] - s * rows[:, 1], s * rows[:, 0] + c * rows[:, 1]])

    return assembled(
        "bananas",
        lambda t, rng: turned(drawn(X[y == "False"], t.size, rng), t),
        lambda t, rng: turned(drawn(X[y == "True"], t.size, rng), t),
        rng,
    )


def _semeion(digit: int) -> Rows:
    """The images of a digit, averaged over four pixels."""
    return coarser(rows_of(f"semeion_{digit}"))


def whole_bursts(rng: Rng) -> Drift:
    """Handwritten ones and zeros, and four bursts of 60 to 120 rows of another digit each, and of nothing else."""
    normal, others = np.concatenate([_semeion(0), _semeion(1)]), [_semeion(digit) for digit in (4, 2, 7, 6)]

    def anomalous(t: Rows, rng: Rng) -> Rows:
        kind = np.minimum((4 * t).astype(np.intp), 3)
        X = np.empty((t.size, 64))
        for k, rows in enumerate(others):
            X[kind == k] = drawn(rows, int(np.sum(kind == k)), rng)
        return X

    times = tuple((700 + 1250 * k, n) for k, n in enumerate((60, 80, 100, 120)))
    return assembled(
        "whole bursts", lambda t, rng: drawn(normal, t.size, rng), anomalous, rng, bursts=times, share=0.01, within=1.0
    )


HELD_OUT = (segments_switch, segments_gradual, shuttle, bananas, whole_bursts)

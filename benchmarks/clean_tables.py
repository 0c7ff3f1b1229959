"""Simulated clean tables: how often `screen` names a row, and values six deviations off that it names.

The constants of `screen` were chosen on other distributions. Tables have 400 rows. In 60 clean tables of each
distribution, a row is named at q = 0.1 or not. In 30 tables of some of them, six deviations are added to or subtracted
from one value in each of eight rows. Writes a table of docs/dirty_measured.md.

``python benchmarks/clean_tables.py [TABLES]``
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import screen

ROWS, WRONG, SHIFT, Q = 400, 8, 6.0, 0.1

Generator = np.random.Generator


def normal(rng: Generator, d: int, correlation: float = 0.0) -> Rows:
    """Normal columns of equal correlation."""
    common = rng.normal(size=(ROWS, 1))
    return np.asarray(correlation**0.5 * common + (1 - correlation) ** 0.5 * rng.normal(size=(ROWS, d)))


def joint_t(rng: Generator, d: int, correlation: float, freedom: float) -> Rows:
    """Columns that have a multivariate t distribution."""
    return normal(rng, d, correlation) / np.sqrt(rng.chisquare(freedom, size=(ROWS, 1)) / freedom)


def t_copula(rng: Generator) -> Rows:
    """Normal columns with the dependence of t(3)."""
    return np.asarray(norm.ppf(np.clip(student.cdf(joint_t(rng, 6, 0.7, 3), 3), 1e-12, 1 - 1e-12)))


def growing_noise(rng: Generator) -> Rows:
    """Regressions whose noise grows with the value."""
    x = rng.gamma(3, size=ROWS)
    noisy = x + 0.3 * x * rng.normal(size=ROWS)
    return np.column_stack([x, noisy, x**2 * np.exp(0.2 * rng.normal(size=ROWS)), rng.normal(size=ROWS)])


def ring(rng: Generator) -> Rows:
    """A ring in two columns, and noise."""
    angle = rng.uniform(0, 6.28, ROWS)
    around = np.column_stack([np.cos(angle), np.sin(angle), rng.normal(size=ROWS)])
    return around + 0.1 * rng.normal(size=(ROWS, 3))


#: Distributions by name, and whether values are made wrong in them.
LAWS: dict[str, tuple[Callable[[Generator], Rows], bool]] = {
    "normal, 3 columns": (lambda rng: rng.normal(size=(ROWS, 3)), True),
    "normal, 12 columns": (lambda rng: rng.normal(size=(ROWS, 12)), True),
    "normal, correlation 0.5, 4 columns": (lambda rng: normal(rng, 4, 0.5), True),
    "3 normal factors, 12 columns": (
        lambda rng: rng.normal(size=(ROWS, 3)) @ rng.normal(size=(3, 12)) + 0.5 * rng.normal(size=(ROWS, 12)),
        True,
    ),
    "joint t(3), correlation 0.5, 4 columns": (lambda rng: joint_t(rng, 4, 0.5, 3), False),
    "joint t(3), correlation 0.8, 12 columns": (lambda rng: joint_t(rng, 12, 0.8, 3), True),
    "joint t(3), correlation 0.8, 3 columns": (lambda rng: joint_t(rng, 3, 0.8, 3), True),
    "joint t(5), correlation 0.8, 6 columns": (lambda rng: joint_t(rng, 6, 0.8, 5), False),
    "joint t(2), correlation 0.6, 6 columns": (lambda rng: joint_t(rng, 6, 0.6, 2), False),
    "independent t(3), 6 columns": (lambda rng: rng.standard_t(3, size=(ROWS, 6)), False),
    "joint lognormal, correlation 0.7, 6 columns": (lambda rng: np.exp(normal(rng, 6, 0.7)), False),
    "normal, but a tenth of the rows three times as wide": (
        lambda rng: normal(rng, 6, 0.6) * np.where(rng.random((ROWS, 1)) < 0.1, 3, 1),
        False,
    ),
    "joint Laplace, correlation 0.8, 6 columns": (
        lambda rng: normal(rng, 6, 0.8) * np.sqrt(rng.exponential(size=(ROWS, 1))),
        False,
    ),
    "normal columns, dependence of t(3), 6 columns": (t_copula, False),
    "uniform, 6 columns": (lambda rng: rng.uniform(size=(ROWS, 6)), False),
    "noise that grows with the value, 4 columns": (growing_noise, False),
    "a ring, 3 columns": (ring, False),
}


def planted(draw: Callable[[Generator], Rows], seed: int) -> tuple[float, float]:
    """Share of the wrong rows that are named, and share of normal rows among those named."""
    rng = np.random.default_rng([seed, 7001])
    X = draw(rng)
    i, j = rng.permutation(ROWS)[:WRONG], rng.integers(0, X.shape[1], WRONG)
    X[i, j] += SHIFT * rng.choice([-1, 1], WRONG) * X.std(axis=0)[j]
    odd = screen(X, q=Q).odd
    return float(odd[i].mean()), float((odd.sum() - odd[i].sum()) / max(1, odd.sum()))


def main() -> None:
    warnings.simplefilter("ignore")
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    lines = []
    for name, (draw, wrong) in LAWS.items():
        named = np.mean([screen(draw(np.random.default_rng([seed, 7000])), q=Q).odd.any() for seed in range(tables)])
        found = np.mean([planted(draw, seed) for seed in range(tables // 2)], axis=0) if wrong else None
        told = ["", ""] if found is None else [f"{share:.0%}" for share in found]
        lines.append([name, f"{named:.0%}", *told])
        print(lines[-1], flush=True)
    heads = ["distribution", "clean tables with a named row", "wrong values named", "normal rows among those named"]
    text = markdown(heads, lines)
    if tables == 60:
        write_between_markers(Path(__file__).parents[1] / "docs" / "dirty_measured.md", "dirty-clean", text)


if __name__ == "__main__":
    main()

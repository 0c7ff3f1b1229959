"""Cost of `screen` against rows and columns, beside the bare arithmetic.

`screen` predicts every column from the other columns by regressions on up to 800 rows, or on 5,000 rows by 300
landmarks. "Bare" is the least work for that: kernel values without each column in turn, the Gram matrices of landmarks,
one factorisation for each column, and the products that predict. Processor time on one thread. Writes a table of
docs/speed.md.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import screen

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
ROWS, COLUMNS = (100, 300, 800, 3_000, 10_000, 100_000), (5, 20, 60)
EXACT, FITTED, LANDMARKS, BLOCK = 800, 5_000, 300, 2_000


def table(n: int, d: int) -> Rows:
    """Correlated columns."""
    rng = np.random.default_rng(n + d)
    hidden = rng.normal(size=(n, 4))
    return hidden[:, np.arange(d) % 4] + 0.5 * rng.normal(size=(n, d))


def bare(X: Rows) -> None:
    """Kernel values without each column, and a system for each column."""
    n, d = X.shape
    others = X if n <= EXACT else X[:LANDMARKS]
    systems = [np.eye(len(others)) for _ in range(d)]
    for a in range(0, n, BLOCK):
        part = X[a : a + BLOCK]
        whole = cdist(part, others, "cityblock")
        for j in range(d):
            K = whole - np.abs(part[:, j, None] - others[None, :, j])
            K *= -1 / d
            np.exp(K, out=K)
            if n <= EXACT:
                systems[j] += K
            elif a < FITTED:
                systems[j] += K.T @ K
            K @ np.ones(len(others))
    for system in systems:
        cho_factor(system, check_finite=False)


def seconds(run: object, X: Rows) -> float:
    start = time.process_time()
    run(X)  # type: ignore[operator]
    return time.process_time() - start


def main() -> None:
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    screen(table(100, 5))
    body = []
    for n in ROWS:
        cells = []
        for d in COLUMNS:
            X = table(n, d)
            least, ours = seconds(bare, X), seconds(screen, X)
            cells.append(f"{ours:.2f} ({ours / least:.1f})")
        body.append([f"{n:,}", *cells])
        print(body[-1], flush=True)
    head = ["rows", *(f"{d} columns, s (over bare)" for d in COLUMNS)]
    write_between_markers(PAGE, "screening-cost", markdown(head, body))


if __name__ == "__main__":
    main()

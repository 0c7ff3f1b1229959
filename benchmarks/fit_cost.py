"""The default fit against the bare cost of its own kernel, in processor time on one thread.

"Bare" is the least work: kernel blocks by SciPy's city-block distances and `exp`, then one Cholesky factorisation and
one solve; with landmarks their Gram matrix too. Fits use no compiled code, except in one column of landmark fits.
Writes the tables of docs/speed.md.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from _arrays import Rows
from _compiled import allow_compiled
from _table import markdown, write_between_markers
from oneclass import VAAKELM, Nystrom
from oneclass.core import compiled

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
D, M = 20, 1000
EXACT, MANY = (300, 1000, 3000, 8000), (10_000, 50_000, 200_000)
#: Earlier ratio of `train` to its kernel, with RBF and a bandwidth chosen by the likelihood.
BEFORE = {1000: "6.3", 3000: "2.1", 10_000: "9", 50_000: "3.5 to 4.7"}


def rows(n: int) -> Rows:
    """Rows of a mixture of five Gaussians."""
    rng = np.random.default_rng(n)
    centres = 2 * np.random.default_rng(0).normal(size=(5, D))
    return centres[rng.integers(0, 5, n)] + rng.normal(size=(n, D))


def kernel(X: Rows, Y: Rows, out: Rows) -> None:
    """Values of the default kernel, in blocks that stay in a core's cache."""
    step = max(1, 2**18 // len(Y))
    for a in range(0, len(X), step):
        K = cdist(X[a : a + step], Y, "cityblock")
        K *= -1 / (1.2 * D)
        np.exp(K, out=out[a : a + step])


def solve(G: Rows, T: Rows) -> None:
    """Weights by one factorisation."""
    G[np.diag_indices_from(G)] += 1 / 8
    cho_solve(cho_factor(G.T, overwrite_a=True, check_finite=False), T, check_finite=False)


def bare_exact(X: Rows) -> None:
    """All pairs of rows, and their system."""
    K = np.empty((len(X), len(X)))
    kernel(X, X, K)
    solve(K, X)


def bare_landmarks(X: Rows) -> None:
    """All rows with all landmarks, and the normal equations."""
    landmarks, G, FT = X[:M].copy(), np.zeros((M, M)), np.zeros((M, D))
    for a in range(0, len(X), 8192):
        F = np.empty((min(8192, len(X) - a), M))
        kernel(X[a : a + 8192], landmarks, F)
        G += F.T @ F
        FT += F.T @ X[a : a + 8192]
    solve(G, FT)


def medians(runs: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Median processor time of each, interleaved."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def line(n: int, bare: Callable[[Rows], None], rounds: int, *, fast: bool, approximation: Nystrom | None) -> list[str]:
    """Bare seconds, and the ratios of fits with either threshold, the last with compiled kernel values."""
    X = rows(n)

    def fit(rule: str, yes: bool) -> None:
        allow_compiled(yes)
        VAAKELM(threshold=rule, approximation=approximation).fit(X)

    runs = {"bare": lambda: bare(X), "train": lambda: fit("train", False), "held_out": lambda: fit("held_out", False)}
    if fast:
        runs["compiled"] = lambda: fit("held_out", True)
        runs["compiled"]()  # loads the code
    bare_s, *fits = medians(runs, rounds=rounds).values()
    return [f"{n:,}", f"{bare_s:.3f}", BEFORE.get(n, ""), *(f"{t / bare_s:.2f}" for t in fits)]


def main() -> None:
    threadpool_limits(1)
    rounds = int(sys.argv[1]) if sys.argv[1:] else 5
    fast = compiled.load() is not None
    head = ["bare, s", "train, before", 'threshold="train"', 'threshold="held_out"']
    exact = [line(n, bare_exact, max(1, rounds * 5000 // n), fast=False, approximation=None) for n in EXACT]
    write("fit-cost", [f"rows (d = {D}), exact", *head], exact)
    times = {n: max(1, min(rounds, 3 * 50_000 // n)) for n in MANY}
    many = [line(n, bare_landmarks, times[n], fast=fast, approximation=Nystrom(M)) for n in MANY]
    write("landmark-cost", [f"rows (d = {D}), m = {M:,}", *head, *(["loo, extra `fast`"] if fast else [])], many)


def write(name: str, head: list[str], body: list[list[str]]) -> None:
    """Print a table, and write it to the page."""
    table = markdown(head, body)
    print(table, flush=True)
    write_between_markers(PAGE, name, table)


if __name__ == "__main__":
    main()

"""Cheaper approximations of the uncertainty of an exact machine: their error, and the change of AUROC.

`rank`: a sixth of the eigenvectors of the system, the leading ones. `nearest`: the nearest training rows alone.
`both`: these rows beside the eigenvectors. `single`: the product in single precision. Writes a table of docs/speed.md.
Reads the paper's datasets: set ONECLASS_DATA to their folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import AAKELM
from reproduction.datasets import load

NEAREST = 32


def tasks() -> Iterator[tuple[str, Rows, Rows, Rows]]:
    """Training rows, new normal rows and outliers."""
    rng = np.random.default_rng(0)
    for d in (5, 30):
        centres, turns = 2.5 * rng.normal(size=(5, d)), rng.normal(size=(5, d, d)) / np.sqrt(d)
        label = rng.integers(0, 5, 2100)
        X = centres[label] + np.einsum("ijk,ik->ij", turns[label], rng.normal(size=(2100, d)))
        anomalous = np.concatenate([X[:150] + rng.normal(size=(150, d)), rng.uniform(X.min(0), X.max(0), (150, d))])
        yield f"mixture, {d} features", X[:1500], X[1500:], anomalous
    digits = load_digits()
    inside = rng.permutation(digits.data[digits.target != 9])
    yield "digits 0 to 8 (9)", inside[:1100], inside[1100:], digits.data[digits.target == 9]
    for name in ("waveform", "breast_cancer", "diabetic_retinopathy"):
        data, y = load(name)
        X = data.to_numpy(dtype=float)
        inside = rng.permutation(X[y == 1])
        n = round(0.7 * len(inside))
        yield name, inside[:n], inside[n:], X[y != 1]


def cheaper(G: Rows, L: Rows, k: Rows) -> dict[str, Rows]:
    """The explained part ``k' G^-1 k`` of rows with kernel values `k`, by each approximation."""
    n = len(G)
    values, Q = eigh(G, subset_by_index=[n - n // 6, n - 1])
    along = k @ Q
    by_rank = (along**2 / values).sum(axis=1)
    found = {"rank": by_rank, "nearest": _given(k, lambda N: G[N[:, :, None], N[:, None, :]])}

    def less(N: NDArray[np.intp]) -> Rows:
        return np.asarray(G[N[:, :, None], N[:, None, :]] - (Q[N] * values) @ Q[N].transpose(0, 2, 1))

    found["both"] = by_rank + _given(k - along @ Q.T, less)
    inverse = solve_triangular(L, np.eye(n), lower=True).astype(np.float32)
    found["single"] = ((k.astype(np.float32) @ inverse.T).astype(float) ** 2).sum(axis=1)
    return found


def _given(k: Rows, system: Callable[[NDArray[np.intp]], Rows]) -> Rows:
    """``k' G^-1 k`` of the few columns where k is largest."""
    N = np.argpartition(-np.abs(k), NEAREST, axis=1)[:, :NEAREST]
    parts = np.array_split(np.arange(len(k)), max(1, len(k) // 200))
    few = np.take_along_axis(k, N, axis=1)
    solved = [np.linalg.solve(system(N[rows]), few[rows][..., None])[..., 0] for rows in parts]
    return np.asarray(np.vecdot(few, np.concatenate(solved)))


def study(kernel: str, train: Rows, normal: Rows, anomalous: Rows) -> list[str]:
    model = AAKELM(kernel=kernel).fit(train)
    machine, y = model.machine_, np.repeat([0, 1], [len(normal), len(anomalous)])
    Z = model.scaler_(np.concatenate([normal, anomalous]))
    features, L = model.model_.features(Z), np.tril(model.model_.factored)
    residuals, variance = machine.judge(Z)
    squares, weight = np.vecdot(residuals, residuals), Z.shape[1] * model.signal_
    exact = roc_auc_score(y, squares + weight * variance)
    line = [f"{exact:.4f}"]
    for explained in cheaper(L @ L.T, L, features).values():
        v = np.clip(model.kernel_.diagonal(Z) - explained, 0, None) / machine.plan.recipe.lam
        off = np.median(np.abs(v - variance) / variance)
        change = roc_auc_score(y, squares + weight * v) - exact
        line.append(f"{100 * off:.1f} %, {change:+.4f}")
    return line


def main() -> None:
    body = [[name, kernel, *study(kernel, *rows)] for name, *rows in tasks() for kernel in ("laplacian", "rbf")]
    head = ["task", "kernel", "AUROC", "rank n / 6", f"{NEAREST} nearest rows", "both", "single precision"]
    table = markdown(head, body)
    print(table)
    write_between_markers(Path(__file__).parents[1] / "docs" / "speed.md", "uncertainty", table)


if __name__ == "__main__":
    main()

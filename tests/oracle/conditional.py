"""Slow predictions of a set of columns from the other columns: universal kriging, written as one bordered system."""

import numpy as np

from oneclass.core.kernels import Laplacian


def gaps(kernel, X, Y, columns):
    """Distances in these columns."""
    apart = X[:, None, columns] - Y[None, :, columns]
    return np.abs(apart).sum(axis=2) if isinstance(kernel, Laplacian) else (apart**2).sum(axis=2) / 2


def widths(kernel, Z, w, S):
    """The divisor of distances without the columns S: the kernel's, times the others' share of the mean distance."""
    d = Z.shape[1]
    means = np.array([w @ gaps(kernel, Z, Z, [j]) @ w for j in range(d)])
    others = [j for j in range(d) if j not in S]
    return (kernel.sigma if isinstance(kernel, Laplacian) else kernel.sigma**2) * means[others].sum() / means.sum()


def predict_without(kernel, Z, S, new, *, C, w, width):
    """Predictions of the columns S of new rows, and their variances."""
    n, others = len(Z), [j for j in range(Z.shape[1]) if j not in S]
    bordered = np.ones((n + 1, n + 1))
    bordered[:n, :n] = np.exp(-gaps(kernel, Z, Z, others) / width) + np.diag(1 / (C * w))
    bordered[n, n] = 0
    k = np.ones((len(new), n + 1))
    k[:, :n] = np.exp(-gaps(kernel, new, Z, others) / width)
    solved = np.linalg.solve(bordered, k.T)
    return solved[:n].T @ Z[:, list(S)], 1 - np.sum(solved * k.T, axis=0)

"""The numbered equations as they are printed: one row, one pair, one feature at a time."""

from __future__ import annotations

import math

import numpy as np

__all__ = [
    "KERNELS",
    "bandwidth",
    "city_block",
    "collapse",
    "euclidean",
    "kernel_matrix",
    "outputs",
    "repeat",
    "scaling",
    "score",
    "spread",
    "variance_matrix",
    "weights",
]


def euclidean(x, y):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def city_block(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


KERNELS = {
    "rbf": lambda x, y, sigma: math.exp(-(euclidean(x, y) ** 2) / (2 * sigma**2)),
    "laplacian": lambda x, y, sigma: math.exp(-city_block(x, y) / sigma),
    "polynomial": lambda x, y, sigma: (dot(x, y) / len(x) + 1) ** 3,
    "linear": lambda x, y, sigma: dot(x, y),
}


def kernel_matrix(name, X, Y, sigma=1.0):
    """Omega of the paper."""
    return np.array([[KERNELS[name](x, y, sigma) for y in Y] for x in X])


def repeat(X, w):
    """Row i, w[i] times."""
    return np.array([x for x, copies in zip(X, w, strict=True) for _ in range(int(copies))])


def collapse(A, w):
    """Sums of the rows that belong to the copies of one row: the way back from `repeat`."""
    sums = np.zeros((len(w), *A.shape[1:]))
    for a, owner in zip(A, repeat(np.arange(len(w)), w), strict=True):
        sums[owner] += a
    return sums


def spread(M, w):
    """A matrix over copies whose sums over the copies of two rows give back the entries of `M`."""
    owners = repeat(np.arange(len(w)), w)
    return np.array([[M[a, b] / (w[a] * w[b]) for b in owners] for a in owners])


def bandwidth(rule, X, distance=euclidean):
    """Sigma by rule: `mean` and `median` over pairs, `rms` over all n^2 ordered pairs, zeros included."""
    n = len(X)
    pairs = [distance(X[i], X[j]) for i in range(n) for j in range(i)]
    if rule == "mean":
        return sum(pairs) / len(pairs)
    if rule == "median":
        return float(np.median(pairs))
    squared = [euclidean(x, y) ** 2 for x in X for y in X]
    return math.sqrt(sum(squared) / n**2 / 2)


def scaling(X):
    """Mean and (n - 1) standard deviation of each column; 1 for a constant column."""
    n, d = X.shape
    means = [sum(X[i, j] for i in range(n)) / n for j in range(d)]
    variances = [sum((X[i, j] - means[j]) ** 2 for i in range(n)) / (n - 1) for j in range(d)]
    constant = [max(X[:, j]) == min(X[:, j]) for j in range(d)]
    return np.array(means), np.array([1.0 if c else math.sqrt(v) for v, c in zip(variances, constant, strict=True)])


def variance_matrix(variance, labels, *, centering="own", without=()):
    """M of `model_CVdecomp` (class) and `model_SV` (subclass): a sum over rows of squared deviations from a mean.

    Rows `without` which it is wanted leave sums and means; the shares of the clusters stay.
    """
    n = len(labels)
    M = np.zeros((n, n))
    for i in (i for i in range(n) if i not in without):
        cluster = [j for j in range(n) if labels[j] == labels[i]]
        share = {"none": 0.0, "class": 1 / n, "subclass": len(cluster) / n}[variance]
        peers = cluster if variance == "subclass" and centering == "own" else range(n)
        peers = [j for j in peers if j not in without]
        deviation = np.zeros(n)
        deviation[i] = 1.0
        for j in peers:
            deviation[j] -= 1 / len(peers)
        M += share * np.outer(deviation, deviation)
    return M


def weights(K, T, M, *, C, lam):
    """A of `model_betaK`, as printed."""
    n = len(K)
    return np.linalg.solve(K + M @ K / C + lam * np.eye(n) / C, T)


def outputs(name, Z, X, A, sigma=1.0):
    """O of `model_outK_test`."""
    return np.array([sum(KERNELS[name](z, x, sigma) * a for x, a in zip(X, A, strict=True)) for z in Z])


def score(machine, target, output):
    """Loss of one row by the name of the machine."""
    if machine == "OCKELM":
        return abs(output[0] - target[0])
    return sum((o - t) ** 2 for o, t in zip(output, target, strict=True))

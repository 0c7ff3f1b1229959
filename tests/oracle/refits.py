"""Leave-one-out by fitting again, and linear systems solved without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

__all__ = ["exact_solve", "gaussian_process", "held_out_residuals", "held_out_variances", "posterior_variances"]


def held_out_residuals(K, T, M, w, *, C, lam):
    """Residual of each row under the minimum of tr(b'(V + lam I)b) + C sum_j w_j |e_j|^2, one unit of w_i removed.

    V = F'MF stays that of all rows, or M is a function of the row that is held out. F is any matrix with FF' = K.
    """
    eigenvalues, vectors = np.linalg.eigh(K)
    F = vectors * np.sqrt(np.clip(eigenvalues, 0, None))
    residuals = []
    for i in range(len(K)):
        left = np.array(w, dtype=float)
        left[i] -= min(1.0, left[i])
        W = np.diag(left)
        m = M(i) if callable(M) else M
        b = np.linalg.solve(F.T @ m @ F + lam * np.eye(len(K)) + C * F.T @ W @ F, C * F.T @ W @ T)
        residuals.append(T[i] - F[i] @ b)
    return np.array(residuals)


def exact_solve(A, B):
    """Solution of A X = B in rational arithmetic, rounded once at the end."""
    rows = [[Fraction(v) for v in (*a, *b)] for a, b in zip(A, B, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                rows[r] = [v - rows[r][i] * p for v, p in zip(rows[r], rows[i], strict=True)]
    return [row[n:] for row in rows]


def posterior_variances(K, M, w, *, C, lam, k_new=None, k_self=None):
    """v of new rows: f'(V + lam I + C F'WF)^-1 f, the Gaussian-process posterior variance; of training rows if none."""
    n = len(K)
    joint = K if k_new is None else np.block([[K, k_new.T], [k_new, k_self]])
    eigenvalues, vectors = np.linalg.eigh(joint)
    F = vectors * np.sqrt(np.clip(eigenvalues, 0, None))
    rows, new = F[:n], (F if k_new is None else F[n:])
    precision = rows.T @ (M + C * np.diag(w)) @ rows + lam * np.eye(len(joint))
    return np.array([f @ np.linalg.solve(precision, f) for f in new])


def held_out_variances(K, M, w, *, C, lam):
    """v of each training row after one unit of its weight is removed."""
    variances = []
    for i in range(len(K)):
        left = np.array(w, dtype=float)
        left[i] -= min(1.0, left[i])
        variances.append(posterior_variances(K, M, left, C=C, lam=lam)[i])
    return np.array(variances)


def gaussian_process(K, T, M, *, C, lam):
    """Covariance K~ + I/C and the maximum-likelihood signal variance tau^2 = tr(T'(K~ + I/C)^-1 T) / (n d)."""
    n, d = T.shape
    covariance = K @ np.linalg.inv(lam * np.eye(n) + M @ K) + np.eye(n) / C
    return covariance, float(np.trace(T.T @ np.linalg.solve(covariance, T))) / (n * d)

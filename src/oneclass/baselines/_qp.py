"""The quadratic program of support vector data descriptions, solved by Clarabel."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.arrays import Array

__all__ = ["solve_box_qp"]

#: Distance from a bound, relative to the largest multiplier, up to which a multiplier is set to the bound. An
#: interior-point method approaches bounds without reaching them.
_BOUND_TOLERANCE = 1e-7


def solve_box_qp(Q: Array, linear: Array, signs: Array, upper: Array, *, caller: str) -> Array:
    """The vector a that minimizes ``a'Qa + linear'a`` subject to ``signs'a = 1`` and ``0 <= a <= upper``."""
    try:
        import clarabel
    except ImportError:
        raise ImportError(
            f"{caller}: a kernel without a constant diagonal, and labelled outliers, need the package clarabel: "
            "pip install 'oneclass[qp]'"
        ) from None
    n = len(linear)
    bounded = np.flatnonzero(np.isfinite(upper))
    eye = sparse.eye_array(n, format="csc")
    A = sparse.vstack([sparse.csc_array(signs[None, :]), -eye, eye[bounded]], format="csc")
    b = np.concatenate([[1.0], np.zeros(n), upper[bounded]])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n + len(bounded))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    P = sparse.csc_matrix(np.triu(2 * Q))
    solution = clarabel.DefaultSolver(P, linear, sparse.csc_matrix(A), b, cones, settings).solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise ValueError(
            f"{caller}: the quadratic program was not solved ({solution.status}); kernel must be positive semi-definite"
        )
    a = np.asarray(solution.x)
    near = _BOUND_TOLERANCE * a.max()
    a = np.where(a <= near, 0.0, a)
    return np.where(a >= upper - near, upper, a)

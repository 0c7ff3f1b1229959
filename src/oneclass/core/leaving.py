r"""What the machine would say of rows that it did not see: one row, or all rows of a group, left out in closed form.

The outputs minimise :math:`\sum_i w_i |t_i - f_i|^2 + f'Mf / C + \lambda f'K^{-1}f / C`, so :math:`f = Q W T` with
:math:`Q = (W + M/C + \lambda K^{-1}/C)^{-1}`, C times the covariance of the outputs in the Gaussian-process view.
Rows leave in two steps. Without their errors, the embedding held, residuals are :math:`E^{-1} e_g` with
:math:`E = I - Q_{gg} U_g`, U_g the weights that leave. Then they leave the embedding too: M changes in the span of the
rows themselves and of the few columns V of `Embedding.basis`, by a small matrix D (`Embedding.change`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .arrays import Array, blocks, device, namespace

__all__ = ["Fixed", "leave", "leave_one_by_one"]


@dataclass(frozen=True)
class Fixed:
    """What of a fit does not depend on who leaves: the embedding's columns V, seen through Q and in the outputs."""

    change: Callable[[Array, Array], Array]  # what M / C changes by when rows at these places leave with these weights
    QV: Array  # n x b, for the rows at hand
    VQV: Array  # b x b
    VF: Array  # b x d, V' times the outputs


def leave(
    fixed: Fixed, places: Array, left: Array, E: Array, Q: Array, T: Array, residuals: Array
) -> tuple[Array, Array]:
    """Residuals and variances (Q) of rows under machines that did not see them: group by group, groups of one size.

    `places` says which rows (groups x size) leave, with weights `left`; `E` and `Q` are their groups' blocks of
    ``I - Q U`` and Q (groups x size x size), `T` and `residuals` their targets and training residuals (groups x size
    x d).
    """
    xp = namespace(E)
    parts = [
        _leave(fixed, places[a:b, :], left[a:b, :], E[a:b, ...], Q[a:b, ...], T[a:b, ...], residuals[a:b, ...])
        for a, b in blocks(places.shape[0], 4 * (places.shape[1] + fixed.QV.shape[1]) ** 2, E)
    ]
    return xp.concat([e for e, _ in parts]), xp.concat([v for _, v in parts])


def _leave(
    fixed: Fixed, places: Array, left: Array, E: Array, Q: Array, T: Array, residuals: Array
) -> tuple[Array, Array]:
    xp = namespace(E)
    groups, size = places.shape
    held = xp.linalg.solve(E, xp.concat([residuals, Q], axis=2))
    residuals, Q = held[:, :, : residuals.shape[2]], held[:, :, residuals.shape[2] :]
    b = fixed.QV.shape[1]
    if b:
        QV = xp.reshape(xp.take(fixed.QV, xp.reshape(places, (-1,)), axis=0), (groups, size, b))
        heavy = xp.matrix_transpose(QV * left[:, :, None])
        QV = xp.linalg.solve(E, QV)
        VQV = fixed.VQV + heavy @ QV
        # The outputs of all rows move when these leave: f - Q U e, with the residuals e of those that left.
        known = xp.concat([T - residuals, fixed.VF - heavy @ residuals], axis=1)
        top = xp.concat([Q, QV], axis=2)
        P = xp.concat([top, xp.concat([xp.matrix_transpose(QV), VQV], axis=2)], axis=1)
        D = fixed.change(places, left)
        eye = xp.eye(size + b, dtype=E.dtype, device=device(E))
        moved = xp.linalg.solve(eye + D @ P, D @ xp.concat([known, xp.matrix_transpose(top)], axis=2))
        residuals = residuals + top @ moved[:, :, : T.shape[2]]
        Q = Q - top @ moved[:, :, T.shape[2] :]
    return residuals, xp.linalg.diagonal(Q)


def leave_one_by_one(fixed: Fixed, T: Array, residuals: Array, spare: Array, left: Array) -> tuple[Array, Array]:
    """Residuals and variances of rows under machines that did not see a weight `left` of them; `spare` is 1 - Q U."""
    xp = namespace(T)
    places = xp.arange(T.shape[0], device=device(T))[:, None]
    Q = (1 - spare) / left
    given = (left[:, None], spare[:, None, None], Q[:, None, None], T[:, None, :], residuals[:, None, :])
    held, variance = leave(fixed, places, *given)
    return held[:, 0, :], variance[:, 0]

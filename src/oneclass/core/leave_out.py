r"""Closed-form leave-one-out and leave-group-out residuals and variances.

The outputs minimise :math:`\sum_i w_i |t_i - f_i|^2 + f'Mf / C + \lambda f'K^{-1}f / C`, so :math:`f = Q W T` with
:math:`Q = (W + M/C + \lambda K^{-1}/C)^{-1}`, C times the covariance of the outputs in the Gaussian-process view.
Rows are removed in two steps. The first removes their squared errors and keeps M fixed: the residuals of group g become
:math:`E^{-1} e_g` with :math:`E = I - Q_{gg} U_g` and :math:`U_g` the removed weights. The second removes the rows from
the scatter M: M / C changes by a small matrix D in the span of these rows and of the few columns V of the scatter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .arrays import Array, blocks, device, namespace
from .embedding import Scatter, without_zeros

__all__ = ["Embedded", "leave", "leave_one_by_one", "leave_own_cluster", "taken"]


@dataclass(frozen=True)
class Embedded:
    """The scatter that rows are removed from, and the quantities of the fit that do not depend on the removed rows."""

    scatter: Scatter
    C: float
    sizes: Array  # of the clusters, k
    members: Array  # n x k, one-hot clusters of the given rows
    QV: Array  # n x b, for the given rows
    VQV: Array  # b x b, or one for each group
    VF: Array  # b x d, V' times the outputs, or one for each group

    def of_groups(self, a: int, b: int) -> Embedded:
        """Return the part for groups a to b."""
        return self if self.VQV.ndim == 2 else replace(self, VQV=self.VQV[a:b, ...], VF=self.VF[a:b, ...])


def leave_one_by_one(
    embedded: Embedded, T: Array, residuals: Array, leverage: Array, spare: Array, left: Array
) -> tuple[Array, Array]:
    """Return residuals and variances (Q) of each row under the machine fitted without the weight `left` of that row.

    `leverage` is the diagonal of Q and `spare` is 1 - Q U. Both are arguments, because to compute one from the other
    loses digits to cancellation.
    """
    xp = namespace(T)
    scatter, members, sizes = embedded.scatter, embedded.members, without_zeros(embedded.sizes)
    if scatter.own_mean:
        shares, size = members @ (scatter.shares(embedded.sizes) / embedded.C), members @ sizes
        across, inside = xp.sum(embedded.QV * members, axis=1), members @ xp.linalg.diagonal(embedded.VQV)
        apart = T - members @ (embedded.VF / sizes[:, None])
        return leave_own_cluster(residuals, leverage, spare, left, shares, size, across, inside, apart)
    places = xp.arange(T.shape[0], device=device(T))[:, None]
    given = (left[:, None], spare[:, None, None], leverage[:, None, None], T[:, None, :], residuals[:, None, :])
    held, variance = leave(embedded, places, *given)
    return held[:, 0, :], variance[:, 0]


def leave_own_cluster(
    residuals: Array,
    leverage: Array,
    spare: Array,
    left: Array,
    shares: Array,
    size: Array,
    across: Array,
    inside: Array,
    apart: Array,
) -> tuple[Array, Array]:
    """Return the same as `leave_one_by_one` where removing a row changes the scatter of its own cluster only.

    The change is then of rank one, ``D = -a v v'`` with v = (1, -1/size), and needs ``v' P v`` only. For a large
    variance term this number is small compared with its summands, so a determinant of both columns would lose it to
    rounding. The arguments describe each row's cluster: `shares` (share divided by C), `size`, `across` (its entry of
    QV), `inside` (its entry of VQV), and `apart`, the target minus the cluster's mean output. `apart` is overwritten.
    Every array may have one more axis after the axis of the rows, for several values of C.
    """
    xp = namespace(spare)
    rest = size - left
    some = rest > xp.finfo(spare.dtype).eps * 16 * size  # an emptied cluster has no scatter
    weight = xp.where(some, left * shares * size / xp.where(some, rest, xp.ones_like(rest)), xp.zeros_like(shares))
    q, s = leverage / spare, across / spare
    r = inside + left * across * s
    pull = q - s / size
    force = weight * pull / (1 - weight * (pull - (s - r / size) / size))
    # The correction acts on T - e / spare, the output without the row's error, and on its distance from the mean.
    held = ((1 + force * (1 - left * across / size)) / spare)[..., None] * residuals
    apart *= force[..., None]
    held -= apart
    return held, q + force * pull


def leave(
    embedded: Embedded | None, places: Array, left: Array, E: Array, Q: Array, T: Array, residuals: Array
) -> tuple[Array, Array]:
    """Return residuals and variances (Q) of rows under machines fitted without their group, for groups of one size.

    `places` are the indices of the rows (groups x size), and `left` the weights to remove. `E` and `Q` are the groups'
    blocks of ``I - Q U`` and of Q (groups x size x size). `T` and `residuals` are the targets and the training
    residuals (groups x size x d).
    """
    xp = namespace(E)
    columns = 0 if embedded is None else embedded.QV.shape[1]
    parts = []
    for a, b in blocks(places.shape[0], 4 * (places.shape[1] + columns) ** 2, E):
        mine = None if embedded is None else embedded.of_groups(a, b)
        given = (E[a:b, ...], Q[a:b, ...], T[a:b, ...], residuals[a:b, ...])
        parts.append(_leave(mine, places[a:b, :], left[a:b, :], *given))
    return xp.concat([e for e, _ in parts]), xp.concat([v for _, v in parts])


def _leave(
    embedded: Embedded | None, places: Array, left: Array, E: Array, Q: Array, T: Array, residuals: Array
) -> tuple[Array, Array]:
    xp = namespace(E)
    d, size = T.shape[2], places.shape[1]
    held = xp.linalg.solve(E, xp.concat([residuals, Q], axis=2))
    residuals, Q = held[:, :, :d], held[:, :, d:]
    if embedded is None:
        return residuals, xp.linalg.diagonal(Q)
    b = embedded.QV.shape[1]
    QV, members = (taken(of, places) for of in (embedded.QV, embedded.members))
    heavy = xp.matrix_transpose(QV * left[:, :, None])
    QV = xp.linalg.solve(E, QV)
    VQV = embedded.VQV + heavy @ QV
    # Without these rows the outputs of all rows are f - Q U e, with e the held-out residuals.
    known = xp.concat([T - residuals, embedded.VF - heavy @ residuals], axis=1)
    top = xp.concat([Q, QV], axis=2)
    P = xp.concat([top, xp.concat([xp.matrix_transpose(QV), VQV], axis=2)], axis=1)
    D = embedded.scatter.change(embedded.sizes, members, left) / embedded.C
    eye = xp.eye(size + b, dtype=E.dtype, device=device(E))
    moved = xp.linalg.solve(eye + D @ P, D @ xp.concat([known, xp.matrix_transpose(top)], axis=2))
    return residuals + top @ moved[:, :, :d], xp.linalg.diagonal(Q - top @ moved[:, :, d:])


def taken(of: Array, places: Array) -> Array:
    """Return the rows of a matrix at these indices (groups x size), as an array groups x size x columns."""
    xp = namespace(of)
    return xp.reshape(xp.take(of, xp.reshape(places, (-1,)), axis=0), (*places.shape, of.shape[1]))

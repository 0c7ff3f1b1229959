r"""What the machine would say of rows that it did not see: one row, or all rows of a group, left out in closed form.

The outputs minimise :math:`\sum_i w_i |t_i - f_i|^2 + f'Mf / C + \lambda f'K^{-1}f / C`, so :math:`f = Q W T` with
:math:`Q = (W + M/C + \lambda K^{-1}/C)^{-1}`, C times the covariance of the outputs in the Gaussian-process view.
Rows leave in two steps. Without their errors, the embedding held, residuals are :math:`E^{-1} e_g` with
:math:`E = I - Q_{gg} U_g`, U_g the weights that leave. Then they leave the scatter too: M / C changes in the span of
the rows themselves and of the few columns V of the scatter, by a small matrix D.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .arrays import Array, blocks, device, namespace
from .embedding import Scatter, without_zeros

__all__ = ["Embedded", "leave", "leave_one_by_one", "leave_own_cluster", "taken"]


@dataclass(frozen=True)
class Embedded:
    """The scatter that rows leave, and what of a fit does not depend on who leaves it."""

    scatter: Scatter
    C: float
    sizes: Array  # of the clusters, k
    members: Array  # n x k, the clusters of the rows at hand
    QV: Array  # n x b, of the rows at hand
    VQV: Array  # b x b, or one for each group
    VF: Array  # b x d, V' times the outputs, or one for each group

    def of_groups(self, a: int, b: int) -> Embedded:
        """The scatter as groups a to b leave it."""
        return self if self.VQV.ndim == 2 else replace(self, VQV=self.VQV[a:b, ...], VF=self.VF[a:b, ...])


def leave_one_by_one(
    embedded: Embedded, T: Array, residuals: Array, leverage: Array, spare: Array, left: Array
) -> tuple[Array, Array]:
    """Residuals and variances (Q) of rows under machines that did not see weights `left` of them.

    `leverage` is Q of all rows and `spare` is 1 - Q U: neither follows from the other without cancellation.
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
    """The same where a row leaves the scatter of one cluster alone, which takes one direction out of it.

    Of ``D = -a v v'``, v = (1, -1/size), only ``v' P v`` counts: small beside the terms that it is made of where the
    variance weighs much, so that a determinant of both columns would be rounding. Of its own cluster a row knows the
    share over C, the `size`, what it has of QV and VQV, and how far `apart` its target is from the mean output, which
    is overwritten. Every array may have one more axis behind that of the rows, for several C.
    """
    xp = namespace(spare)
    rest = size - left
    some = rest > xp.finfo(spare.dtype).eps * 16 * size  # a cluster of which nothing is left has no scatter
    weight = xp.where(some, left * shares * size / xp.where(some, rest, xp.ones_like(rest)), xp.zeros_like(shares))
    q, s = leverage / spare, across / spare
    r = inside + left * across * s
    pull = q - s / size
    force = weight * pull / (1 - weight * (pull - (s - r / size) / size))
    # The force is on what was known of the row, T - e / spare, and of its distance from the mean of its cluster.
    held = ((1 + force * (1 - left * across / size)) / spare)[..., None] * residuals
    apart *= force[..., None]
    held -= apart
    return held, q + force * pull


def leave(
    embedded: Embedded | None, places: Array, left: Array, E: Array, Q: Array, T: Array, residuals: Array
) -> tuple[Array, Array]:
    """Residuals and variances (Q) of rows under machines that did not see them: group by group, groups of one size.

    `places` says which rows (groups x size) leave, with weights `left`; `E` and `Q` are their groups' blocks of
    ``I - Q U`` and Q (groups x size x size), `T` and `residuals` their targets and training residuals (groups x size
    x d).
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
    # The outputs of all rows move when these leave: f - Q U e, with the residuals e of those that left.
    known = xp.concat([T - residuals, embedded.VF - heavy @ residuals], axis=1)
    top = xp.concat([Q, QV], axis=2)
    P = xp.concat([top, xp.concat([xp.matrix_transpose(QV), VQV], axis=2)], axis=1)
    D = embedded.scatter.change(embedded.sizes, members, left) / embedded.C
    eye = xp.eye(size + b, dtype=E.dtype, device=device(E))
    moved = xp.linalg.solve(eye + D @ P, D @ xp.concat([known, xp.matrix_transpose(top)], axis=2))
    return residuals + top @ moved[:, :, :d], xp.linalg.diagonal(Q - top @ moved[:, :, d:])


def taken(of: Array, places: Array) -> Array:
    """The rows at these places (groups x size), as one more axis."""
    xp = namespace(of)
    return xp.reshape(xp.take(of, xp.reshape(places, (-1,)), axis=0), (*places.shape, of.shape[1]))

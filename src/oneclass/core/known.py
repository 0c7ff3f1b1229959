r"""Known outliers: a kernel ridge on codes (0 normal row, 1 known outlier), added to the loss of a machine.

With n normal rows and k known outliers, :math:`G = K + diag(1 / (C' w))`, :math:`\alpha = G^{-1} t`, t the codes. The
known outliers have the same total weight as the normal rows. The known score of a row is :math:`k(z)' \alpha`. It
adds to the loss where it is above that of nine in ten held-out normal rows, and never lowers a loss. It is near 0 for
rows that are far from all known outliers, so a new kind of outlier keeps the loss of the machine. Since few normal rows
get a larger loss, such outliers keep nearly the same rank among the normal rows.

The constants were chosen on the paper's and scikit-learn's datasets (46 tasks), KEEL (102) and R's tables (438), with
1 to 100 known outliers: drawn at random, of one kind while others are tested, or a tenth of them wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, add_to_diagonal, clipped, device, namespace
from .cholesky import cho_solve, diagonal_of_inverse, factor, inverse
from .groups import Groups
from .kernels import Kernel, values_among
from .machine import Machine
from .row_sample import row_keys
from .scaling import quantiles
from .stored import Floats, Positive, Whole, Within, must

__all__ = ["COST_SHARE", "MOST_ROWS", "Codes", "KnownOutliers", "Standard", "fit_codes", "sample_of", "solve_codes"]

#: C of the kernel ridge on codes, as a share of the machine's C. Shares from 1/32 to 1 differ by at most 0.01 in AUROC.
COST_SHARE = 1 / 8
#: The known score of k known outliers has the weight k / (k + 5). On R's tables with one known outlier, the weights 1,
#: k / (k + 2) and k / (k + 5) change AUROC by +0.007, +0.006 and +0.004 at random, and by -0.007, -0.002 and -0.001
#: (standard errors 0.0013, 0.0007, 0.0005) where other kinds are tested.
_HALF_TRUSTED = 5.0
#: The known score counts from this quantile of held-out normal rows on. On R's tables with 100 known outliers, the
#: quantiles 0.8, 0.9 and 0.95 change AUROC by +0.040, +0.029 and +0.021 at random, and by -0.007, -0.001 and +0.001
#: (standard errors 0.003, 0.002, 0.001) where other kinds are tested.
_COUNTED_FROM = 0.9
#: Part of the median held-out loss that is added to losses before the logarithm, so that losses near 0 do not dominate
#: its spread. Parts from 0 to 1 differ by less than 0.002 in AUROC.
_FLOOR = 0.1
#: Most normal rows, unless an exact machine has solved for more, and most known outliers of a ridge on codes.
MOST_ROWS = 2_000


@dataclass(frozen=True)
class Codes:
    """The kernel ridge on codes, and the scores of its rows when each is held out, alone or with its group."""

    alpha: Array
    held_out: Array
    changes: Array | None  # change of alpha without each group, one column for each group; None without groups


def solve_codes(kernel: Kernel, Z: Array, w: Array, codes: Array, *, C: float, groups: Groups | None = None) -> Codes:
    """Return the kernel ridge of `codes` on scaled rows, row i counted ``w[i]`` times.

    One unit of a row's weight is held out or, with `groups`, all rows of its group.
    """
    xp = namespace(Z)
    own = 1 / (C * w)  # the residual of row i is own[i] * alpha[i]

    def build() -> Array:
        G = values_among(kernel, Z)
        add_to_diagonal(G, own)
        return G

    L = factor(build)
    alpha = cho_solve(L, codes[:, None])[:, 0]
    if groups is None:
        unit, itself = clipped(w, 0.0, 1.0), diagonal_of_inverse(L, overwrite=True)
        change = alpha / (C * w * (w - unit) / unit + itself)
        return Codes(alpha, codes - own * alpha - (1 - own * itself) * change, None)
    P = inverse(L)
    change = _without_groups(P, alpha, groups)
    of_group = xp.asarray(groups.of_rows, device=device(Z))[:, None] == xp.arange(groups.count, device=device(Z))
    return Codes(alpha, codes - change, P @ (xp.astype(of_group, Z.dtype) * change[:, None]))


def fit_codes(
    kernel: Kernel, Z: Array, w: Array, rows: Array, given: Array, *, C: float, groups: Groups | None = None
) -> tuple[Array, Codes]:
    """Return the normal rows `Z` with the known outliers `rows`, and the ridge on their codes.

    `w` and `given` are the weights of both; the known outliers get the same total weight as the normal rows.
    """
    xp = namespace(Z)
    both, weights = xp.concat([Z, rows]), xp.concat([w, given * (xp.sum(w) / xp.sum(given))])
    codes = xp.concat([xp.zeros_like(w), xp.ones_like(given)])
    return both, solve_codes(kernel, both, weights, codes, C=C, groups=groups)


def sample_of(X: Array) -> Array:
    """Return the numbers of a sample of at most `MOST_ROWS` rows that does not depend on their order."""
    return namespace(X).argsort(row_keys(X, 0))[: min(MOST_ROWS, int(X.shape[0]))]


def _without_groups(P: Array, alpha: Array, groups: Groups) -> Array:
    """Return ``P_gg^-1 alpha_g`` for every group g: the residuals of its rows when the group is held out."""
    xp, n = namespace(P), P.shape[0]
    flat, order, found = xp.reshape(P, (-1,)), [], []
    for of_size in groups.by_size:
        places = xp.asarray(of_size, device=device(P))
        inside = xp.reshape(places[:, :, None] * n + places[:, None, :], (-1,))
        blocks = xp.reshape(xp.take(flat, inside), (*places.shape, places.shape[1]))
        order.append(xp.reshape(places, (-1,)))
        ours = xp.reshape(xp.take(alpha, order[-1]), (*places.shape, 1))
        found.append(xp.reshape(xp.linalg.solve(blocks, ours), (-1,)))
    return xp.take(xp.concat(found), xp.argsort(xp.concat(order)))


@dataclass(frozen=True)
class Standard:
    """Values minus their mean over their standard deviation, both over held-out normal rows; or those of their logs."""

    centre: float
    spread: Positive
    floor: Annotated[float, Within(0)] | None = None  # added before the logarithm; None takes no logarithm

    @classmethod
    def of(cls, values: Array, w: Array, floor: float | None = None) -> Self:
        """Return mean and deviation of values, or of their logarithms, value i counted ``w[i]`` times."""
        xp = namespace(values)
        scaled = xp.astype(cls(0.0, 1.0, floor)(values), xp.float64)
        shares = w / xp.sum(w)
        centre = float(xp.sum(shares * scaled))
        spread = math.sqrt(float(xp.sum(shares * (scaled - centre) ** 2)))
        return cls(centre, spread if spread > 1e-12 * max(1.0, abs(centre)) else 1.0, floor)

    @classmethod
    def of_losses(cls, losses: Array, w: Array) -> Self:
        """Return the same for the logarithms of losses; losses that may be negative are logarithms already."""
        xp = namespace(losses)
        if float(xp.min(losses)) < 0:
            return cls.of(losses, w)
        order = xp.argsort(losses)
        reached = xp.cumulative_sum(xp.astype(xp.take(w, order), xp.float64))
        above_half = int(xp.count_nonzero(reached <= reached[-1] / 2))  # number of the first loss above half the weight
        middle = float(losses[order[above_half]])
        return cls.of(losses, w, max(_FLOOR * middle, float(xp.finfo(losses.dtype).smallest_normal)))

    def __call__(self, values: Array) -> Array:
        """Return the standardised values."""
        if self.floor is not None:
            values = namespace(values).log(values + self.floor)
        return (values - self.centre) / self.spread


@dataclass(frozen=True)
class KnownOutliers:
    """The known outliers that a machine has learned, and the loss that it has with them. Rows are scaled."""

    rows: Annotated[Array, Floats("_k d")]
    w: Annotated[Array, Floats("_k", above=0)]  # as the user gave them
    alpha: Annotated[Array, Floats("_p")]  # of the normal rows, then of the known outliers
    loss: Standard  # of the machine's loss
    score: Standard  # of the known score; its centre is the quantile from which on the known score counts
    share: Annotated[float, Within(0, 1)]  # weight of the standardised known score
    normal: Annotated[Array, Floats("_m d")] | None = None  # None: all training rows of an exact machine
    groups: Annotated[NDArray[np.intp], Whole("_k")] | None = None  # group numbers, as those of the normal rows

    def __check__(self) -> None:
        if self.normal is not None:
            count = self.normal.shape[0] + self.rows.shape[0]
            must(count == self.alpha.shape[0], f"alpha must have {count} entries, got {self.alpha.shape[0]}")

    @classmethod
    def of(
        cls,
        rows: Array,
        w: Array,
        codes: Codes,
        losses: Array,
        scores: Array,
        counts: Array,
        *,
        normal: Array | None,
        groups: NDArray[np.intp] | None,
    ) -> Self:
        """Return the known outliers, from held-out losses and known scores of normal rows with these `counts`."""
        k = float(namespace(w).sum(w)) ** 2 / float(namespace(w).sum(w * w))
        cut = float(quantiles(scores[:, None], counts, (_COUNTED_FROM,))[0][0])
        parts = Standard.of_losses(losses, counts), replace(Standard.of(scores, counts), centre=cut)
        return cls(rows, w, codes.alpha, *parts, k / (k + _HALF_TRUSTED), normal, groups)

    def scores(self, kernel: Kernel, Z: Array, features: Array | None = None) -> Array:
        """Return the known scores of rows; `features` are their kernel values with the rows of an exact machine."""
        features = features if self.normal is None else kernel(Z, self.normal)
        return namespace(Z).concat([features, kernel(Z, self.rows)], axis=1) @ self.alpha

    def parts(self, machine: Machine, Z: Array) -> tuple[Array, Array]:
        """Return both parts of the loss of scaled rows: that of the machine, and that of the known outliers."""
        features = machine.model.features(Z)
        known = self.scores(machine.plan.kernel, Z, features)
        return self.loss(machine.losses(Z, features)), self.counted(known)

    def losses(self, machine: Machine, Z: Array) -> Array:
        """Return the loss of scaled rows."""
        own, known = self.parts(machine, Z)
        return own + known

    def combined(self, losses: Array, scores: Array) -> Array:
        """Return the loss from the machine's losses and the known scores."""
        return self.loss(losses) + self.counted(scores)

    def counted(self, scores: Array) -> Array:
        """Return what known scores add to the loss."""
        return self.share * clipped(self.score(scores), 0.0, math.inf)

"""Predictions of columns from the other columns of a row: one kernel ridge regression for each set of columns.

A kernel that is a product over columns needs the distances of the rows once: the part of a set of columns is subtracted
from them. Leave-one-out predictions follow in closed form from one factor for each set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeGuard

from .arrays import (
    Array,
    add_gram,
    add_to_diagonal,
    blocks,
    clip_above_inplace,
    clipped,
    copy,
    device,
    exp_inplace,
    mirror,
    namespace,
    ones,
)
from .bandwidth import city_block_sums
from .cholesky import cho_solve, diagonal_of_inverse, explained, factor, inverse, solve_lower
from .groups import Groups, OneGroupError
from .kernels import RBF, Kernel, Laplacian
from .leave_out import taken

__all__ = ["Conditional", "ProductKernel", "conditional", "is_product", "predict_columns"]

#: Kernels that are a product over the columns.
ProductKernel: TypeAlias = Laplacian | RBF

#: Largest distance of a row from the range of the known rows, in bandwidths; values further away are moved to it. All
#: kernel values are 0 there, and the part of a column can be subtracted from the distance without a loss of digits.
_REACH = 750.0
#: Added to the diagonal of the kernel matrix of the landmarks, in units of rounding of the sums: some landmarks may be
#: equal in all other columns.
_LIFT = 10.0


@dataclass(frozen=True)
class Conditional:
    """Predictions of one set of columns from all other columns.

    The prior variance is 1, and variances do not contain the noise ``1 / C``. A variance of 0.1 means that the other
    columns of this row leave a tenth of the column's variance.
    """

    columns: tuple[int, ...]
    #: The columns that are predicted: those of the set, if no others were asked for.
    told: tuple[int, ...]
    #: Values minus leave-one-out predictions of the training rows (rows x predicted columns).
    residuals: Array
    #: Variance of each leave-one-out prediction; None if variances were not asked for.
    variances: Array | None
    #: Predictions of the new rows (rows x predicted columns), and the variance of each; None without new rows.
    predicted: Array | None
    predicted_variances: Array | None
    #: The prediction is ``centre + k_-S(z) weights``; `predict_columns` computes it.
    weights: Array
    centre: Array
    width: float


def is_product(kernel: Kernel) -> TypeGuard[ProductKernel]:
    """Whether a kernel is a product over the columns."""
    return isinstance(kernel, Laplacian | RBF)


def conditional(
    kernel: ProductKernel,
    Z: Array,
    sets: Sequence[Sequence[int]],
    *,
    C: float,
    w: Array | None = None,
    groups: Groups | None = None,
    landmarks: Array | None = None,
    new: Array | None = None,
    variances: bool = True,
    targets: Sequence[Sequence[int]] | None = None,
) -> Iterator[Conditional]:
    r"""Predict each set S of columns from the other columns: :math:`A_S = (K_{-S} + W^{-1}/C)^{-1} (Z_S - b)`.

    The kernel without S is ``K_-S = exp(-(D - D_S) / width)``. D are the city-block distances of the rows, or half of
    the squared Euclidean distances, and D_S is the part of the columns in S. The width is that of the kernel times the
    share of the other columns in the mean of D. The intercept b has no penalty. It is estimated together with the
    weights, and again for each row that is left out.

    Parameters
    ----------
    kernel : Laplacian or RBF
        The kernel with a numeric bandwidth.
    Z : array of shape (n, d)
        Scaled training rows, of NumPy, PyTorch, CuPy or another library of the array standard. The computation is in
        double precision, on their device.
    sets : sequence of sequences of int
        The sets of columns: one column each, all codes of a column of a table, or overlapping masks. The columns of a
        set are predicted together, from the columns outside the set only.
    C : float
        Inverse of the noise variance.
    w : array of shape (n,), optional
        A row of weight w counts as w copies, of which one is left out. All weights must be positive.
    groups : Groups, optional
        Rows of a group are left out together, with all of their weight.
    landmarks : array of shape (m, d), optional
        Landmarks of a Nystrom approximation, usually some of the rows. Without landmarks the result is exact. A set
        costs about n³ multiply-adds without landmarks, and n m² with them. The memory is three n x n matrices without
        landmarks; with them it is one m x m matrix for each set.
    new : array, optional
        Scaled rows to predict with the regressions of all training rows.
    variances : bool
        Whether variances are computed. With landmarks or new rows they cost time.
    targets : sequence of sequences of int, optional
        The columns that are predicted without each set, if these are not the columns of the set. Without an empty set,
        all columns are predicted from all columns: the reconstruction of an auto-associative machine.

    Yields
    ------
    Conditional
        One for each set, in order. The order of the rows and columns has no effect, up to rounding. Without landmarks,
        each is computed when the caller asks for it; several threads can share the sets.
    """
    xp = namespace(Z)
    if groups is not None and groups.count < 2:
        raise OneGroupError(f"groups must be at least two, since one is held out; got {groups.count}")
    Z = xp.astype(Z, xp.float64, copy=False)
    w = ones(Z) if w is None else xp.astype(w, xp.float64, copy=False)
    new = None if new is None else xp.astype(new, xp.float64, copy=False)
    spreads = _spreads(kernel, Z, w)
    each = [
        _Set(kernel, tuple(columns), tuple(told), _width(kernel, spreads, columns), C, variances)
        for columns, told in zip(sets, sets if targets is None else targets, strict=True)
    ]
    if landmarks is None:
        return _exact(kernel, each, Z, w, groups, new)
    return _approximate(kernel, each, Z, w, groups, xp.astype(landmarks, xp.float64, copy=False), new)


def predict_columns(kernel: ProductKernel, known: Array, parts: Sequence[Conditional], Z: Array) -> Array:
    """Return the prediction of every column of rows `Z`, by parts each of which predicts other columns.

    `known` are the rows that the parts were computed from: training rows or landmarks. Rows are predicted in blocks.
    """
    xp = namespace(Z)
    order = xp.argsort(xp.asarray([j for part in parts for j in part.told], device=device(Z)))
    found = [Z[:0, :]]
    for a, b in blocks(Z.shape[0], 3 * known.shape[0], Z):
        gaps = _Gaps(kernel, Z[a:b, :], known)
        columns = [part.centre + gaps.values_without(part.columns, part.width) @ part.weights for part in parts]
        found.append(xp.take(xp.concat(columns, axis=1), order, axis=1))
    return xp.concat(found)


def _spreads(kernel: ProductKernel, Z: Array, w: Array) -> Array:
    """Return the part of each column in the mean distance of two rows, up to a common factor."""
    if isinstance(kernel, Laplacian):
        return city_block_sums(Z, w)
    xp = namespace(Z)
    apart = Z - Z[:1, :]  # exactly zero in constant columns
    centred = apart - (w @ apart) / xp.sum(w)
    return w @ (centred * centred)


def _width(kernel: ProductKernel, spreads: Array, columns: Sequence[int]) -> float:
    """Return the divisor of the distance without these columns."""
    sigma = float(kernel.sigma)
    left = sum(float(spreads[j]) for j in range(spreads.shape[0]) if j not in set(columns))
    share = left / float(namespace(spreads).sum(spreads)) if left > 0 else 1.0
    return (sigma if isinstance(kernel, Laplacian) else sigma**2) * share


@dataclass(frozen=True)
class _Gaps:
    """Distances between rows `X` and `Y`: city-block, or half of the squared Euclidean distances for RBF."""

    kernel: ProductKernel
    X: Array
    Y: Array

    @cached_property
    def near(self) -> Array:
        """Rows `X`, with values that are beyond the reach of all rows `Y` moved to its end."""
        xp, reach = namespace(self.X), _REACH * float(self.kernel.sigma)
        low, high = xp.min(self.Y, axis=0) - reach, xp.max(self.Y, axis=0) + reach
        return xp.minimum(xp.maximum(self.X, low), high)

    @cached_property
    def total(self) -> Array:
        """Distances in all columns."""
        return self._between(self.near, self.Y)

    def values_without(self, columns: Sequence[int], width: float) -> Array:
        """Return the kernel values without some columns."""
        xp, d = namespace(self.X), self.X.shape[1]
        few = 2 * len(columns) <= d
        chosen = columns if few else [j for j in range(d) if j not in set(columns)]
        places = xp.asarray(list(chosen), dtype=xp.int64, device=device(self.X))
        gaps = self._between(xp.take(self.near, places, axis=1), xp.take(self.Y, places, axis=1))
        if few:
            gaps -= self.total  # minus the distance in the other columns
            gaps /= width
        else:
            gaps /= -width
        return exp_inplace(clip_above_inplace(gaps, 0.0))

    def _between(self, X: Array, Y: Array) -> Array:
        """Return the distances between rows of some columns."""
        xp, city_block = namespace(X), isinstance(self.kernel, Laplacian)
        if X.shape[1] > 1:
            D = self.kernel.distances(X, Y)
            return D if city_block else D * D / 2
        if not X.shape[1]:
            return xp.zeros((X.shape[0], Y.shape[0]), dtype=X.dtype, device=device(X))
        D = X - Y.T
        return xp.abs(D) if city_block else D * D / 2


@dataclass(frozen=True)
class _Set:
    """A set of columns that the kernel leaves out, the columns to predict, and the parameters of the regression."""

    kernel: ProductKernel
    columns: tuple[int, ...]
    told: tuple[int, ...]
    width: float
    C: float
    variances: bool

    def of(self, gaps: _Gaps) -> Array:
        """Return the kernel values without the columns of the set."""
        return gaps.values_without(self.columns, self.width)

    def targets(self, Z: Array) -> Array:
        """Return the columns to predict."""
        xp = namespace(Z)
        return xp.take(Z, xp.asarray(self.told, dtype=xp.int64, device=device(Z)), axis=1)

    def result(
        self, held_out: tuple[Array, Array], new: tuple[Array, Array] | None, weights: Array, centre: Array
    ) -> Conditional:
        """Return the result, without variances if they were not asked for."""
        residuals, variances = held_out[0], held_out[1] if self.variances else None
        predicted, beyond = new or (None, None)
        beyond = beyond if self.variances else None
        return Conditional(
            self.columns, self.told, residuals, variances, predicted, beyond, weights, centre, self.width
        )


def _exact(
    kernel: ProductKernel, sets: Sequence[_Set], Z: Array, w: Array, groups: Groups | None, new: Array | None
) -> Iterator[Conditional]:
    """Yield the result of each set from the n x n system."""
    gaps = _Gaps(kernel, Z, Z)
    for one in sets:
        yield _exact_set(one, gaps, w, groups, new)


def _exact_set(one: _Set, gaps: _Gaps, w: Array, groups: Groups | None, new: Array | None) -> Conditional:
    xp, Z = namespace(w), gaps.Y
    noise, targets = 1 / (one.C * w), one.targets(Z)

    def build() -> Array:
        G = one.of(gaps)
        add_to_diagonal(G, noise)
        return G

    L = factor(build)
    solved = cho_solve(L, xp.concat([targets, ones(Z)[:, None]], axis=1))
    weights, unit = solved[:, :-1], solved[:, -1]
    total = xp.sum(unit)
    centre = xp.sum(weights, axis=0) / total
    weights = weights - unit[:, None] * centre
    predicted = None
    if new is not None:
        found = [(new[:0, :0] @ weights[:0, :], new[:0, 0])]
        for a, b in blocks(new.shape[0], 3 * Z.shape[0], Z, for_products=True):
            values = one.of(_Gaps(one.kernel, new[a:b, :], Z))
            beyond = values[:, 0]
            if one.variances:
                beyond = clipped(1 - explained(L, values) + (1 - values @ unit) ** 2 / total, 0.0, float("inf"))
            found.append((centre + values @ weights, beyond))
        predicted = xp.concat([p for p, _ in found][1:]), xp.concat([v for _, v in found][1:])
    # The inverse of the system bordered by the intercept is G^-1 - G^-1 11' G^-1 / 1' G^-1 1.
    if groups is None:
        spare = noise * (diagonal_of_inverse(L, overwrite=True) - unit * unit / total)
        held_out = _without_one(noise[:, None] * weights, (1 - spare) / w, w, one.C, spare)
    else:
        held_out = _without_groups(inverse(L) - unit[:, None] * (unit / total), weights, noise, groups)
    return one.result(held_out, predicted, weights, centre)


def _without_one(
    residuals: Array, leverage: Array, w: Array, C: float, spare: Array | None = None
) -> tuple[Array, Array]:
    """Return residuals and variances without one unit of the weight of each row; `spare` is 1 - w leverage."""
    xp = namespace(w)
    unit = clipped(w, 0.0, 1.0)
    left = 1 - unit * leverage if spare is None else (1 - unit / w) + unit / w * spare
    left = clipped(left, float(xp.finfo(w.dtype).eps) ** 2, float("inf"))
    return residuals / left[:, None], clipped(leverage / left / C, 0.0, float("inf"))


def _without_groups(H: Array, weights: Array, noise: Array, groups: Groups) -> tuple[Array, Array]:
    """Return residuals and variances without the group of each row, from the inverse `H` of the bordered system."""
    xp, n = namespace(H), H.shape[0]

    def leave(places: Array) -> tuple[Array, Array]:
        block = xp.reshape(
            xp.take(xp.reshape(H, (-1,)), xp.reshape(places[:, :, None] * n + places[:, None, :], (-1,))),
            (*places.shape, places.shape[1]),
        )
        known = xp.linalg.inv(block)
        return known @ taken(weights, places), xp.linalg.diagonal(known) - xp.reshape(
            xp.take(noise, xp.reshape(places, (-1,))), places.shape
        )

    return _by_groups(leave, weights, groups)


def _by_groups(leave: Callable[[Array], tuple[Array, Array]], like: Array, groups: Groups) -> tuple[Array, Array]:
    """Return residuals and variances of all rows, from a function of the indices (groups x size) of some groups."""
    xp = namespace(like)
    order, residuals, variances = [], [], []
    for whole in groups.by_size:
        size = whole.shape[1]
        for a, b in blocks(whole.shape[0], size * max(size, like.shape[1]), like):
            places = xp.asarray(whole[a:b], device=device(like))
            held, variance = leave(places)
            order.append(xp.reshape(places, (-1,)))
            residuals.append(xp.reshape(held, (-1, held.shape[-1])))
            variances.append(xp.reshape(variance, (-1,)))
    back = xp.argsort(xp.concat(order))
    found = xp.take(xp.concat(residuals), back, axis=0), xp.take(xp.concat(variances), back)
    return found[0], clipped(found[1], 0.0, float("inf"))


@dataclass(frozen=True)
class _Normal:
    """Normal equations of one set, whose features are kernel values with the landmarks and a constant."""

    one: _Set
    landmarks: _Gaps
    P: Array
    right: Array

    @classmethod
    def nothing(cls, one: _Set, landmarks: _Gaps) -> _Normal:
        """Return the equations of no rows."""
        xp, m = namespace(landmarks.Y), landmarks.Y.shape[0] + 1
        zeros = xp.zeros((m, m + len(one.told)), dtype=landmarks.Y.dtype, device=device(landmarks.Y))
        return cls(one, landmarks, copy(zeros[:, :m]), copy(zeros[:, m:]))

    def features(self, gaps: _Gaps) -> Array:
        """Return the features of rows."""
        values = self.one.of(gaps)
        return namespace(values).concat([values, ones(values)[:, None]], axis=1)

    def add(self, gaps: _Gaps, Z: Array, w: Array) -> None:
        """Add rows, in place."""
        root = namespace(w).sqrt(w)[:, None]
        F = root * self.features(gaps)
        add_gram(self.P, F)
        self.right[...] += F.T @ (root * self.one.targets(Z))

    def solved(self) -> _Solved:
        """Return the solution."""
        xp, P, right = namespace(self.P), self.P, self.right
        mirror(P)
        m, prior, C = P.shape[0] - 1, self.one.of(self.landmarks), self.one.C
        # The same lift in both matrices: the variance is a difference of terms that a small eigenvalue makes large.
        lift = _LIFT * float(xp.finfo(P.dtype).eps) * (m + C * xp.sum(xp.linalg.diagonal(P)))
        add_to_diagonal(prior, lift)

        def build() -> Array:
            G = copy(P)
            G[:m, :m] += prior / C
            return G

        L = factor(build)
        return _Solved(self, L, factor(lambda: copy(prior)) if self.one.variances else None, cho_solve(L, right))


@dataclass(frozen=True)
class _Solved:
    """The solution of the normal equations of one set."""

    normal: _Normal
    L: Array
    prior: Array | None  # factor of the kernel values among the landmarks, if variances are asked for
    B: Array

    def outside(self, F: Array) -> Array | float:
        """Return the prior variance that the landmarks leave, from features of rows."""
        return 0.0 if self.prior is None else clipped(1 - explained(self.prior, F[:, :-1]), 0.0, 1.0)

    def held_out(self, gaps: _Gaps, Z: Array, w: Array) -> tuple[Array, Array]:
        """Return residuals and variances without one unit of the weight of each row."""
        F, one = self.normal.features(gaps), self.normal.one
        residuals, variances = _without_one(one.targets(Z) - F @ self.B, explained(self.L, F), w, one.C)
        return residuals, variances + self.outside(F)

    def without_groups(self, Z: Array, w: Array, landmarks: Array, groups: Groups) -> tuple[Array, Array]:
        """Return residuals and variances without the group of each row."""
        xp, one = namespace(Z), self.normal.one

        def leave(places: Array) -> tuple[Array, Array]:
            flat = xp.reshape(places, (-1,))
            rows, left = xp.take(Z, flat, axis=0), xp.reshape(xp.take(w, flat), places.shape)
            F = self.normal.features(_Gaps(one.kernel, rows, landmarks))
            half = xp.reshape(solve_lower(self.L, F.T).T, (*places.shape, -1))
            Q = half @ xp.matrix_transpose(half)
            E = xp.eye(places.shape[1], dtype=Z.dtype, device=device(Z)) - Q * left[:, None, :]
            apart = xp.reshape(one.targets(rows) - F @ self.B, (*places.shape, -1))
            held = xp.linalg.solve(E, xp.concat([apart, Q], axis=2))
            t = apart.shape[2]
            outside = self.outside(F)
            beyond = outside if isinstance(outside, float) else xp.reshape(outside, places.shape)
            return held[:, :, :t], xp.linalg.diagonal(held[:, :, t:]) / one.C + beyond

        return _by_groups(leave, landmarks, groups)

    def predicted(self, gaps: _Gaps) -> tuple[Array, Array]:
        """Return predictions of new rows and their variances."""
        F = self.normal.features(gaps)
        inside = explained(self.L, F) / self.normal.one.C if self.prior is not None else 0.0
        return F @ self.B, inside + self.outside(F) + 0 * F[:, 0]


def _approximate(
    kernel: ProductKernel,
    sets: Sequence[_Set],
    Z: Array,
    w: Array,
    groups: Groups | None,
    landmarks: Array,
    new: Array | None,
) -> Iterator[Conditional]:
    """Yield the result of each set from features of the landmarks, in two passes over the rows."""
    among = _Gaps(kernel, landmarks, landmarks)
    equations = [_Normal.nothing(one, among) for one in sets]
    for gaps, a, b in _in_blocks(kernel, Z, landmarks):
        for normal in equations:
            normal.add(gaps, Z[a:b, :], w[a:b])
    solved = [normal.solved() for normal in equations]
    held_out = (
        _each(solved, Z, landmarks, lambda one, gaps, a, b: one.held_out(gaps, Z[a:b, :], w[a:b]))
        if groups is None
        else [one.without_groups(Z, w, landmarks, groups) for one in solved]
    )
    predicted = (
        [None] * len(sets)
        if new is None
        else _each(solved, new, landmarks, lambda one, gaps, a, b: one.predicted(gaps))
    )
    for one, held, found in zip(solved, held_out, predicted, strict=True):
        yield one.normal.one.result(held, found, one.B[:-1, :], one.B[-1, :])


def _in_blocks(kernel: ProductKernel, Z: Array, landmarks: Array) -> Iterator[tuple[_Gaps, int, int]]:
    """Yield the distances between blocks of rows and the landmarks."""
    for a, b in blocks(Z.shape[0], 3 * landmarks.shape[0], Z):
        yield _Gaps(kernel, Z[a:b, :], landmarks), a, b


def _each(
    solved: Sequence[_Solved],
    Z: Array,
    landmarks: Array,
    step: Callable[[_Solved, _Gaps, int, int], tuple[Array, Array]],
) -> list[tuple[Array, Array]]:
    """Return a result of every row for each set: distances of a block of rows are computed once."""
    xp = namespace(Z)
    parts: list[list[tuple[Array, Array]]] = [[] for _ in solved]
    for gaps, a, b in _in_blocks(solved[0].normal.one.kernel, Z, landmarks):
        for one, found in zip(solved, parts, strict=True):
            found.append(step(one, gaps, a, b))
    return [(xp.concat([first for first, _ in found]), xp.concat([second for _, second in found])) for found in parts]

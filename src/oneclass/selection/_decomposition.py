"""Losses of the machines of one variance at every C, from one decomposition of their kernel matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import blocks
from ..core.cholesky import cholesky, inverse_of_factored
from ..core.embedding import Embedding, WithinVariance
from ..core.groups import Groups
from ..core.kernels import Kernel
from ..core.leave_out import Embedded, leave, leave_one_by_one, leave_own_cluster
from ..core.likelihood import COSTS
from ..core.loss import Measures, either, loss
from ..core.recipe import Recipe
from ..core.solve import residual_operator
from ..core.spectrum import Spectrum
from ..core.threshold import Ranks
from ..core.tridiagonal import Tridiagonal
from ._families import NotSharedError

__all__ = ["Decomposition", "Losses", "TrainingData"]

Float = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)

#: Largest amplification of rounding errors: decisions keep six digits. Beyond it, every candidate is fitted.
_MAX_AMPLIFICATION = 1e-6 / _EPS

#: Bounds the relative error that a few floating-point operations add to a number.
_FEW_ROUNDINGS = 16 * _EPS


@dataclass(frozen=True)
class TrainingData:
    """What the machines of all variances share: scaled rows, kernel values, targets and the values of C.

    Held-out losses and the uncertainty need `leverages`, and so an eigendecomposition. A tridiagonal form, which is
    cheaper, is enough for training losses.
    """

    Z: Float
    w: Float
    rows: Float  # validation rows
    K: Float
    K_rows: Float
    T: Float
    T_rows: Float
    kernel: Kernel
    lam: float
    costs: Float
    leverages: bool
    groups: Groups | None

    @cached_property
    def scaled_K(self) -> Float:
        """Kernel values of the validation rows, divided by lam."""
        return self.K_rows / self.lam

    @cached_property
    def inverse(self) -> Float | None:
        """Lower triangle of ``lam K^-1``, which serves every variance; None if K is close to singular."""
        try:
            inverse = inverse_of_factored(cholesky(self.K.copy()))
        except np.linalg.LinAlgError:
            return None
        return self.lam * inverse if np.linalg.norm(inverse) * np.linalg.norm(self.K) < _MAX_AMPLIFICATION else None


@dataclass(frozen=True)
class Losses:
    """Losses of training rows (ranked) and of validation rows at every C, with bounds of their rounding errors."""

    training: list[Ranks]
    training_errors: Float  # C, rank
    rows: Float  # C, row
    row_errors: Float

    def threshold_error(self, c: int, threshold: float) -> float:
        """Bound of the threshold's rounding error: that of the training loss at the threshold."""
        k = int(self.training[c].losses.searchsorted(threshold))
        return float(self.training_errors[c][max(k - 1, 0)])


class Shifts(NamedTuple):
    """Residuals at every C from a matrix B: ``B (s B + t I)^-1 T``, with a scale s and a shift t for each C."""

    scales: Float
    shifts: Float
    errors: Float  # bounds of the rounding errors of outputs, relative to the targets


class Decomposition:
    """Losses of the machines that share an embedding, at every C.

    Decompositions that are made in turn may share the arrays in `memory`, since fresh arrays would take a fifth of the
    time. Only the latest one is then valid.
    """

    def __init__(self, data: TrainingData, embedding: Embedding, memory: dict[str, Float]) -> None:
        self._data, self._embedding, self._memory = data, embedding, memory
        self._laplacian = embedding.laplacian(data.w)
        self._losses: dict[tuple[bool, str], Losses] = {}

    def _buffer(self, name: str, *shape: int) -> Float:
        if name not in self._memory:
            self._memory[name] = np.empty(shape)
        return self._memory[name]

    def _operator(self) -> tuple[Float, Shifts]:
        """The matrix B of `Shifts`, of which the lower triangle counts.

        From C K A + M K A + lam A = C T follows B = M + lam K^-1, with the values of C as shifts. If the inverse would
        amplify rounding too much, and for a user's matrix M, B is the operator of residuals at a C in the middle.
        """
        lam, C, M = self._data.lam, self._data.costs, self._laplacian
        size = float(np.trace(self._data.K)) / lam
        weight = float(np.max(M.d) if M.full is None else np.linalg.norm(M.full))
        if not weight * size < math.sqrt(_MAX_AMPLIFICATION):
            raise NotSharedError(f"a variance of weight {weight:g} is too large for values of C to share a solution")
        strain = 1 + weight / C  # a fit loses as much: it shrinks by M / C
        if M.full is None and self._data.inverse is not None:
            B = M.added_to(self._data.inverse, out=self._buffer("operator", *self._data.K.shape))
            # Losses of rows close to others fall with C, so errors grow relative to them.
            condition = np.linalg.norm(B) * np.linalg.norm(self._data.K) / lam * np.maximum(C / lam / COSTS[-1], 1.0)
            if condition[-1] < _MAX_AMPLIFICATION:
                return B, Shifts(np.ones_like(C), C, _EPS * condition * strain)
        reference = float(np.sqrt(C[0] * C[-1]))
        if not C[-1] * max(size, 1 / reference) < _MAX_AMPLIFICATION:
            raise NotSharedError(f"C up to {C[-1]:g} is too large for values of C to share a solution")
        errors = _FEW_ROUNDINGS * np.maximum((C + weight) * size, len(self._data.K)) * strain
        B = residual_operator(self._data.K, self._embedding.shrink(self._data.w, C=reference), ridge=lam / reference)
        return np.asarray(B), Shifts(1 - C / reference, C / reference, errors)

    @cached_property
    def _tridiagonal(self) -> tuple[Tridiagonal, Shifts]:
        """The operator in tridiagonal form."""
        B, shifts = self._operator()
        return Tridiagonal(B, memory=self._buffer("reflections", len(B) + 1, len(B))), shifts

    @cached_property
    def _spectrum(self) -> tuple[Float, Float, Float]:
        """Eigenvalues and eigenvectors of the whitened kernel matrix, and bounds of the errors of outputs."""
        B, (scales, shifts, errors) = self._operator()
        at, U = np.linalg.eigh(B)
        at = np.clip(at, np.finfo(at.dtype).smallest_normal, None)
        values = np.clip((scales[0] - 1) / self._data.costs[0] + shifts[0] / self._data.costs[0] / at, 0, None)
        # Values of C beyond the reference amplify the errors of eigenvalues.
        return values, U, errors * max(1.0, np.max(1 - scales))

    @property
    def _errors(self) -> Float:
        """Bounds of the rounding errors of outputs at every C, relative to the targets."""
        return self._spectrum[2] if self._data.leverages else self._tridiagonal[1].errors

    @cached_property
    def _projected(self) -> Float:
        """Coordinates of the targets in the basis of the eigenvectors."""
        return np.asarray(self._spectrum[1].T @ self._data.T)

    @cached_property
    def _damping(self) -> Float:
        """``1 / (1 + C lambda)``: a row for each eigenvalue, a column for each C."""
        return np.asarray(1 / (1 + self._data.costs * self._spectrum[0][:, None]))

    @cached_property
    def _complement(self) -> Float:
        """``C lambda / (1 + C lambda)``, which is 1 less the damping, without cancellation where C is small."""
        return np.asarray(self._data.costs * self._spectrum[0][:, None] * self._damping)

    @cached_property
    def _residuals(self) -> Float:
        """Residuals of the training rows at every C: row, C, target."""
        shape = (len(self._data.T), len(self._data.costs), self._data.T.shape[1])
        if self._data.leverages:
            scaled, found = self._buffer("scaled", *shape), self._buffer("residuals", *shape)
            np.multiply(self._damping[:, :, None], self._projected[:, None, :], out=scaled)
            np.matmul(self._spectrum[1], scaled.reshape(len(scaled), -1), out=found.reshape(len(found), -1))
            return found
        one, (scales, shifts, _) = self._tridiagonal
        turned = np.asfortranarray(one.times(one.rotate(self._data.T.copy())))
        solved = self._buffer("residuals", *shape)
        for c, (scale, shift) in enumerate(zip(scales, shifts, strict=True)):
            solved[:, c, :] = one.solve(turned, scale=scale, shift=shift)
        return np.asarray(one.rotate(solved.reshape(len(solved), -1), back=True)).reshape(shape)

    @cached_property
    def _row_residuals(self) -> Float:
        """Residuals of the validation rows at every C: row, C, target."""
        # From E = T - K A and C K A + M K A + lam A = C T follows lam A = C E + M E - M T.
        E = self._residuals
        weights = np.multiply(self._data.costs[:, None], E, out=self._buffer("weights", *E.shape))
        weights += (self._laplacian @ E.reshape(len(E), -1)).reshape(E.shape)
        base = self._data.T_rows + self._data.scaled_K @ (self._laplacian @ self._data.T)
        found = (self._data.scaled_K @ weights.reshape(len(weights), -1)).reshape(len(base), *weights.shape[1:])
        return np.asarray(np.subtract(base[:, None, :], found, out=found))

    @cached_property
    def _spare(self) -> Float:
        """One minus leverage of the training rows at every C: row, C."""
        spare = self._spectrum[1] ** 2 @ self._damping
        return np.asarray(np.clip(spare, np.finfo(spare.dtype).smallest_normal, None))

    @cached_property
    def _leverages(self) -> Float:
        """Leverage of the training rows at every C: row, C."""
        return np.asarray(self._spectrum[1] ** 2 @ self._complement)

    @cached_property
    def _row_variance(self) -> Float:
        """Uncertainty of the machine about the validation rows at every C: row, C."""
        values, U, _ = self._spectrum
        # Prior variance: k(z, z) - k(z)' (lam I + MK)^-1 M k(z), by (lam I + MK)^-1 U = (U - M U Lambda) / lam.
        embedded = (self._laplacian @ self._data.K_rows.T).T @ U
        features = self._data.scaled_K @ U - embedded * (values / self._data.lam)
        prior = self._data.kernel.diagonal(self._data.rows) - np.vecdot(features, embedded)
        explained = features**2 @ (self._damping * self._data.costs)
        return np.asarray(np.clip(prior[:, None] / self._data.lam - explained, 0, None))

    @cached_property
    def _held_out(self) -> tuple[Float, Float, Float]:
        """For training rows under the machines fitted without them: residuals, leverages and spare (1 - leverage).

        Axes are row, C and, for residuals, target. With groups, spare is the smallest eigenvalue of that of the group.
        """
        if self._data.groups is not None:
            return self._held_out_groups(self._data.groups)
        E, leverage, spare = self._residuals, self._leverages, self._spare
        if not isinstance(self._embedding, WithinVariance):
            return E / spare[..., None], leverage / spare, spare
        scatter, members, V = self._embedding.scatter, self._embedding.membership, self._embedding.columns(self._data.w)
        if scatter.own_mean:
            U, Q, sizes = self._spectrum[1], self._complement, self._data.w @ members  # Q by its eigenvalues
            turned = U.T @ V
            VF = (V.T @ self._data.T)[:, None, :] - (V.T @ E.reshape(len(E), -1)).reshape(V.shape[1], *E.shape[1:])
            shares, size = (members @ scatter.shares(sizes))[:, None] / self._data.costs, (members @ sizes)[:, None]
            across, inside = (U * (members @ turned.T)) @ Q, members @ (turned.T**2 @ Q)
            apart = self._buffer("apart", *E.shape)
            np.matmul(members, (VF / sizes[:, None, None]).reshape(len(VF), -1), out=apart.reshape(len(E), -1))
            np.subtract(self._data.T[:, None, :], apart, out=apart)
            w = self._data.w[:, None]
            return (*leave_own_cluster(E, leverage, spare, w, shares, size, across, inside, apart), spare)
        residuals, leverages = np.empty_like(E), np.empty_like(spare)
        for c in range(len(self._data.costs)):
            embedded = self._left(self._embedding, c)
            given = (self._data.T, E[:, c, :], leverage[:, c], spare[:, c], self._data.w)
            found = leave_one_by_one(embedded, *given)
            residuals[:, c, :], leverages[:, c] = found
        return residuals, leverages, spare

    def _held_out_groups(self, groups: Groups) -> tuple[Float, Float, Float]:
        n, U = len(self._data.T), self._spectrum[1]
        residuals = np.empty_like(self._residuals)
        leverages, spare = np.empty((2, n, len(self._data.costs)))
        for c in range(len(self._data.costs)):
            embedded = self._left(self._embedding, c) if isinstance(self._embedding, WithinVariance) else None
            for whole in groups.by_size:
                for a, b in blocks(len(whole), n * whole.shape[1], U, for_products=True):
                    places = whole[a:b]
                    by = (self._damping, self._complement)
                    E, Q = ((U[places] * share[:, c]) @ U[places].transpose(0, 2, 1) for share in by)
                    given = (self._data.w[places], E, Q, self._data.T[places], self._residuals[places, c, :])
                    residuals[places, c, :], leverages[places, c] = leave(embedded, places, *given)
                    spare[places, c] = np.linalg.eigvalsh(E)[:, :1]
        return residuals, leverages, np.clip(spare, np.finfo(spare.dtype).smallest_normal, None)

    def _left(self, embedding: WithinVariance, c: int) -> Embedded:
        """The scatter from which rows are removed, at the C of this number."""
        membership, V = embedding.membership, embedding.columns(self._data.w)
        QV = self._spectrum[1] @ (self._complement[:, c, None] * (self._spectrum[1].T @ V))
        known = (self._data.w @ membership, membership, QV, V.T @ QV, V.T @ (self._data.T - self._residuals[:, c, :]))
        return Embedded(embedding.scatter, float(self._data.costs[c]), *known)

    def losses(self, recipe: Recipe, *, held_out: bool) -> Losses:
        """Losses of the recipe's kind at every C."""
        key = held_out, recipe.loss
        if key not in self._losses:
            self._losses[key] = self._make_losses(recipe, held_out=held_out)
        return self._losses[key]

    def _make_losses(self, recipe: Recipe, *, held_out: bool) -> Losses:
        data, residuals, variance, row_variance = self._data, self._residuals, None, None
        signal, spare = np.ones_like(data.costs), np.ones_like(data.costs)
        if recipe.needs_variance:
            variance, row_variance = self._leverages / data.costs, self._row_variance
            signal = data.costs * (np.vecdot(self._projected, self._projected) @ self._damping) / data.T.size
        if held_out:
            residuals, leverages, spare = self._held_out
            variance = leverages / data.costs if recipe.needs_variance else None
        measures = self._measures(recipe)
        given = (recipe, signal, measures)
        training, errors = self._with_errors(*given, residuals, variance, data.Z, data.T, spare)
        rows = self._with_errors(*given, self._row_residuals, row_variance, data.rows, data.T_rows)
        if not np.all(np.isfinite(training + errors)):
            raise NotSharedError("losses of training rows are not finite")  # a fit of each candidate refuses them
        # If every loss grew by its error, the k-th smallest would grow by no more than the difference computed here.
        if held_out and data.groups is not None:
            w = data.groups.weights(data.w)
            ranks, grown = ([Ranks.of(one, w) for one in losses] for losses in (training, training + errors))
            moved = np.stack([_at_same_rank(high, low) - low.losses for low, high in zip(ranks, grown, strict=True)])
            return Losses(ranks, moved, *rows)
        ranked, reached = np.sort(training, axis=1), np.cumsum(data.w)
        moved = np.sort(training + errors, axis=1) - ranked
        return Losses([Ranks(losses, reached, len(reached)) for losses in ranked], moved, *rows)

    def _measures(self, recipe: Recipe) -> list[Measures] | None:
        """Measures of the loss at every C, if it needs them."""
        if recipe.loss != "either":
            return None
        if self._data.groups is None:
            residuals, leverages, _ = self._held_out
        else:  # single rows are held out all the same
            residuals, leverages = self._residuals / self._spare[..., None], self._leverages / self._spare
        found = zip(residuals.swapaxes(0, 1), (leverages / self._data.costs).T, strict=True)
        return [Measures.of(*values, self._data.w) for values in found]

    def _with_errors(
        self,
        recipe: Recipe,
        signal: Float,
        measures: list[Measures] | None,
        residuals: Float,
        variance: Float | None,
        Z: Float,
        T: Float,
        spare: Float | float = 1.0,
    ) -> tuple[Float, Float]:
        """Losses (C, row) of rows `Z` with targets `T`, and bounds of their rounding errors.

        The errors are those of the solution, divided by `spare` (1 - leverage).
        """
        spare, d = np.asarray(spare), residuals.shape[-1]
        T, known = T[:, None, :], self._data.T[:, None, :]
        if measures is not None:
            scales = np.array([one.squares for one in measures]) ** -0.5
            residuals, T, known = residuals * scales, T * scales, known * scales
        reach = _lengths(T) + np.max(_lengths(known), axis=0)
        # A loss depends on the length of a residual alone, in the units of the measures if there are any.
        length = _lengths(residuals)
        longest = length + self._errors * reach / spare
        largest = variance
        if variance is not None:
            prior = self._data.kernel.diagonal(Z)[:, None] / self._data.lam
            error = self._errors * prior + len(self._data.K) * _FEW_ROUNDINGS / self._data.costs
            largest = variance + error / spare
        losses, bounds = (
            np.ascontiguousarray(_losses_of_lengths(recipe.loss, size, of, d * signal, measures).T)
            for size, of in ((length, variance), (longest, largest))
        )
        return losses, bounds - losses

    @cached_property
    def mean_residuals(self) -> Float:
        """Mean residuals of the training rows: C, target."""
        return np.asarray(self._residuals.mean(axis=0))

    def log_likelihood(self, c: int) -> float:
        """Log marginal likelihood of the rows as targets, per row and feature, at the C of this number."""
        return self._spectrum_of_rows.log_marginal_likelihood(C=float(self._data.costs[c])) / self._data.Z.size

    @cached_property
    def _spectrum_of_rows(self) -> Spectrum:
        data = self._data
        return Spectrum.of(data.K, data.Z, data.w, self._embedding, lam=data.lam)


def _lengths(vectors: Float) -> Float:
    return np.asarray(np.sqrt(np.vecdot(vectors, vectors)))


def _losses_of_lengths(
    name: str, lengths: Float, variance: Float | None, signal: Float, measures: list[Measures] | None
) -> Float:
    """Losses (row, C) of residuals with these lengths."""
    residuals = lengths[..., None]
    if measures is None or variance is None:
        return np.asarray(loss(name, residuals, variance, signal=signal))
    units = [replace(one, squares=np.ones(1)) for one in measures]
    return np.stack([either(residuals[:, c], variance[:, c], one) for c, one in enumerate(units)], axis=1)


def _at_same_rank(losses: Ranks, others: Ranks) -> Float:
    """The loss at each rank that the `others` have."""
    places = np.searchsorted(losses.reached, others.reached * (1 - _FEW_ROUNDINGS))
    return np.asarray(losses.losses[np.minimum(places, len(losses.losses) - 1)])

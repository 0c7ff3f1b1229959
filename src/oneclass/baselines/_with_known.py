"""A fitted estimator and known outliers: the model of `Calibrated` if there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

from ..base.known_outliers import nearest_outliers
from ..base.nearest_known import NearestKnown
from ..core.arrays import Array, ones
from ..core.data_choices import choose_cost, choose_kernel
from ..core.kernels import Kernel, Laplacian, Settled
from ..core.known import COST_SHARE, KnownOutliers, fit_codes, sample_of
from ..core.scaling import ColumnMoments, Scaler
from ..core.stored import must
from ._training import Training

__all__ = ["WithKnown"]


@dataclass(frozen=True)
class WithKnown:
    """A model and the known outliers. The loss is the sum of both parts, as in the kernel machines.

    All of it is a function of the rows that the model learned from, so that held-out rows stay exchangeable with new
    rows. The loss of the model is standardised by its losses of these rows.
    """

    own: Any  # a model with an estimator
    known: KnownOutliers
    scaler: Scaler
    kernel: Annotated[Kernel, Settled()]

    def __check__(self) -> None:
        must(hasattr(self.own, "score") and hasattr(self.own, "some"), "own must be a model with an estimator")

    @classmethod
    def of(cls, own: Any, training: Training, outliers: Array) -> Self:
        """Learn the known outliers, with the scaling, the kernel and the C of a kernel machine's defaults."""
        X, w = training.Z, ones(training.Z) if training.w is None else training.w
        scaler, some = Scaler.of("robust", ColumnMoments.of(X, w), X, w), sample_of(X)
        losses, total, Z, w = own.losses(X[some]), float(w.sum()), scaler(X[some]), w[some]
        rows, given = scaler(outliers), ones(outliers)
        kernel = choose_kernel(Laplacian("mean"), Z, w)
        C = COST_SHARE * choose_cost("auto", kernel, Z, w, lam=1.0, total=total)
        codes = fit_codes(kernel, Z, w, rows, given, C=C)[1]
        scores = codes.held_out[: len(Z)]
        return cls(own, KnownOutliers.of(rows, given, codes, losses, scores, w, normal=Z, groups=None), scaler, kernel)

    def parts(self, X: Array) -> tuple[Array, Array]:
        """Both parts of the loss of each row."""
        scores = self.known.scores(self.kernel, self.scaler(X))
        return self.known.loss(self.own.losses(X)), self.known.counted(scores)

    def losses(self, X: Array) -> Array:
        """Loss of each row."""
        own, added = self.parts(X)
        return own + added

    def nearest(self, X: Array) -> NearestKnown:
        """The known outlier nearest to each row."""
        return nearest_outliers(self.known, self.scaler, X, *self.parts(X))

    @property
    def estimator(self) -> Any:
        """The fitted estimator."""
        return self.own.estimator

    @property
    def some(self) -> Array:
        """Training rows, for explanations."""
        kept: Array = self.own.some
        return kept

"""The family's one equation behind scikit-learn's contract: scale, kernel, embedding, solve, residuals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..core.arrays import Array, available_bytes, blocks, is_foreign, namespace
from ..core.embedding import Embedding, NoVariance, Shrink
from ..core.kernels import Radial
from ..core.scaling import ColumnMoments, Scaler
from ..core.score import squared
from ..core.solve import SingularSystemError, solve_dual
from ._base import OneClassClassifier
from ._input import check_number, read_rows, read_weights
from ._kernel_choice import choose_kernel, is_precomputed

__all__ = ["KernelMachine"]


class KernelMachine(OneClassClassifier):
    """``(K + MK/C + lam I/C) A = T``: a subclass chooses the target T, the embedding M and the loss."""

    C: float
    lam: float
    kernel: Any
    sigma: float | str
    scale: bool

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the target class from its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class only; the n x n kernel matrix when ``kernel="precomputed"``.
        y : ignored
            Present for scikit-learn's sake.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight w counts as w copies of itself, in every step.

        Returns
        -------
        self
            The fitted machine.
        """
        X = read_rows(self, X, reset=True, min_rows=2)
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"{self._name}: a precomputed kernel must be square at fit, got shape {tuple(X.shape)}")
        w = read_weights(self, sample_weight, X)
        present = w > 0
        everywhere = bool(namespace(w).all(present))
        self._columns = None if everywhere else present
        if not everywhere:
            X, w = self._kept_columns(X[present]), w[present]
        self._fit_and_decide(X, w)
        del self._training
        return self

    # The choices that make a machine.

    @abstractmethod
    def _target(self, Z: Array) -> Array:
        """T: what the outputs of rows in z-scores should be."""

    def _embedding(self, Z: Array, w: Array) -> Embedding:
        return NoVariance()

    #: Whether the loss needs the machine's uncertainty v(z), and so the factored system.
    _wants_variance = False

    def _loss(self, residuals: Array, variance: Array | None) -> Array:
        return squared(residuals)

    # Fitting.

    def _fit(self, X: Array, w: Array) -> None:
        C = check_number(self, "C", 0, float("inf"))
        ridge = check_number(self, "lam", 0, float("inf")) / C
        if not isinstance(self.scale, bool | np.bool_):
            raise ValueError(f"{self._name}: scale must be True or False, got {self.scale!r}")
        self._check_memory(X)
        scaled = self.scale and not self._precomputed
        self.scaler_ = Scaler.of(ColumnMoments.of(X, w)) if scaled else Scaler.identity(X)
        Z = self.scaler_(X)
        self.kernel_ = choose_kernel(self, Z, w)
        if isinstance(self.kernel_, Radial):
            self.sigma_ = float(self.kernel_.sigma)
        shrink = self._shrink(self._embedding(Z, w), w, C)
        try:
            self.model_, self._training = solve_dual(
                self.kernel_,
                Z,
                self._target(Z),
                w,
                shrink,
                ridge=ridge,
                leave_one_out=self.threshold == "loo" or self._wants_variance,
                keep_factor=self._wants_variance,
            )
        except SingularSystemError as error:
            raise SingularSystemError(f"{self._name}: {error}; C={self.C!r}, lam={self.lam!r}") from None
        self.signal_ = self._training.signal(C=C)
        if self._precomputed:
            # A precomputed kernel needs the number of training rows only.
            self.model_ = replace(self.model_, rows=Z[:, :0])

    def _shrink(self, embedding: Embedding, w: Array, C: float) -> Shrink:
        try:
            return embedding.shrink(w, C=C)
        except np.linalg.LinAlgError:
            rule = "must be symmetric positive semi-definite when it is a matrix"
            raise ValueError(f"{self._name}: variance {rule}") from None

    def _check_memory(self, X: Array) -> None:
        n = X.shape[0]
        item = namespace(X).finfo(X.dtype).bits // 8
        # The host factors in place, other libraries hold matrix and factor; uncertainty keeps a factor.
        need = n * n * item * (1 + is_foreign(X) + self._wants_variance)
        free = available_bytes(X)
        if need > free:
            raise MemoryError(
                f"{self._name}: an exact fit of {n:,} rows needs about {need / 1e9:,.1f} GB for its kernel matrix, but "
                f"{free / 1e9:,.1f} GB are free; fit fewer rows (a sample of {int((free / item / 3) ** 0.5):,} fits)"
            )

    # Losses: `fit` and `score_samples` read the same residuals.

    def _training_losses(self, X: Array) -> Array:
        rows = self._training
        return self._loss(rows.residuals, rows.leverages() / self.C if self._wants_variance else None)

    def _held_out_losses(self, X: Array, w: Array) -> Array:
        rows = self._training
        return self._loss(rows.held_out_residuals(), rows.held_out_leverages() / self.C)

    def _losses(self, X: Array) -> Array:
        return self._in_blocks(X, lambda Z: self._loss(*self._judge(Z)))

    def _judge(self, Z: Array) -> tuple[Array, Array | None]:
        """Residuals of rows in z-scores and, where the loss wants it, the machine's uncertainty about them."""
        features = self.model_.features(Z)
        residuals = self._target(Z) - self.model_.outputs(features)
        return residuals, self.model_.leverages(Z, features) / self.C if self._wants_variance else None

    def _in_blocks(self, X: Array, step: Callable[[Array], Array]) -> Array:
        """Concatenate what `step` makes of the rows in z-scores, taken in blocks that bound the memory."""
        ranges = blocks(X.shape[0], self.model_.width, X)
        return namespace(X).concat([step(self.scaler_(X[a:b, :])) for a, b in ranges])

    # Input.

    @property
    def _name(self) -> str:
        return type(self).__name__

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self)

    def _kept_columns(self, X: Array) -> Array:
        """Without the kernel columns of training rows of weight zero."""
        return X.T[self._columns].T if self._precomputed and self._columns is not None else X

    def _read(self, X: Any) -> Array:
        return self._kept_columns(super()._read(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

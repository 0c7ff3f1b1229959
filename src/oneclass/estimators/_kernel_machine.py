"""The family's one equation behind scikit-learn's contract: scale, kernel, embedding, solve, residuals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_feature_names

from ..core.arrays import Array, available_bytes, blocks, is_foreign, namespace, to_device, to_numpy
from ..core.cholesky import SingularSystemError
from ..core.clusters import Splits
from ..core.embedding import Embedding, NoVariance, Scatter, Structured
from ..core.kernels import Radial
from ..core.scaling import ColumnMoments, Scaler
from ..core.score import squared
from ..core.solve import DualModel, PrimalModel, TrainingRows, solve_dual
from ..engines import Chunks, InMemory
from ..engines.dask import DaskRows, is_dask
from ..engines.threads import spread
from ._approximate import Approximation, choose_approximation, chunk_approximation, fit_through
from ._base import OneClassClassifier
from ._input import check_dimensions, read_rows, read_weights
from ._kernel_choice import choose_kernel_and_cost, is_precomputed

__all__ = ["KernelMachine"]


class KernelMachine(OneClassClassifier):
    """``(K + MK/C + lam I/C) A = T``: a subclass chooses the target T, the embedding M and the loss."""

    C: float | str
    lam: float
    kernel: Any
    sigma: float | str
    scale: bool
    model_: DualModel | PrimalModel
    approximation_: Approximation | None
    approximation: Any
    device: Any
    random_state: Any

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
        if is_dask(X):
            if sample_weight is not None:
                raise ValueError(f"{self._name}: sample_weight must be None for a Dask collection; repeat rows instead")
            check_dimensions(self._name, X)
            # The empty block of the collection carries its names.
            _check_feature_names(self, X._meta, reset=True)
            self.n_features_in_ = X.shape[1]
            return self._fit_through(DaskRows(X, partial(self._checked_chunk, [True])))
        X = self._on_device(read_rows(self, X, reset=True, min_rows=2))
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"{self._name}: a precomputed kernel must be square at fit, got shape {tuple(X.shape)}")
        w = read_weights(self, sample_weight, X)
        present = w > 0
        everywhere = bool(namespace(w).all(present))
        self._columns = None if everywhere else present
        if not everywhere:
            X, w = self._kept_columns(X[present]), w[present]
        approximation = choose_approximation(self, X)
        if approximation is not None:
            equal = sample_weight is None
            return self._fit_through(InMemory(X, None if equal else w), approximation)
        self._fit_and_decide(X, w)
        del self._training
        if self._rows is not None:
            del self._rows[0]._training
        self.approximation_ = None
        return self

    def fit_chunks(self, chunks: Any, *, verbose: bool = False) -> Self:
        """Learn the target class from rows that arrive in chunks, in memory that does not grow with their number.

        The rows are read three times: to survey them, for their moments, for their scores. The order of the rows and
        where the chunks are cut changes nothing beyond rounding.

        Parameters
        ----------
        chunks : array, path, callable or iterable
            An array or memory map; a ``.npy``, ``.parquet`` or ``.csv`` file, or a list of files; a callable that
            returns a fresh iterator of blocks of rows; or any iterable of blocks that can be iterated over again.
        verbose : bool, default=False
            Whether to show progress on standard error.

        Returns
        -------
        self
            The fitted machine.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import VAAKELM, Nystrom
        >>> def blocks():
        ...     rng = np.random.default_rng(0)
        ...     for _ in range(10):
        ...         yield rng.normal(size=(1000, 2))
        >>> VAAKELM(approximation=Nystrom(50)).fit_chunks(blocks).predict([[0.0, 0.0], [6.0, 6.0]])
        array([ 1, -1])
        """
        seen: list[int] = []
        return self._fit_through(Chunks(chunks, partial(self._checked_chunk, seen), verbose=verbose))

    def _fit_through(self, engine: Any, approximation: Approximation | None = None) -> Self:
        self.approximation_ = approximation or chunk_approximation(self)
        fit_through(self, engine, self.approximation_)
        return self

    def _checked_chunk(self, seen: list[int], chunk: Any) -> Array:
        """One block of rows, checked; the first one sets the features that the others must have."""
        X = read_rows(self, chunk, reset=not seen)
        seen.append(1)
        return self._on_device(X)

    # The choices that make a machine.

    @abstractmethod
    def _target(self, Z: Array) -> Array:
        """T: what the outputs of rows in z-scores should be."""

    def _scatter(self) -> Scatter | None:
        """The variance to embed, if any."""
        return None

    def _centres(self, Z: Array, w: Array, splits: Splits | None = None) -> Array | None:
        """Centres of the clusters inside which rows vary; None is one cluster. Several numbers may share `splits`."""
        return None

    def _embedding(self, Z: Array, w: Array, splits: Splits | None = None) -> Embedding:
        return NoVariance()

    #: Whether the loss needs the machine's uncertainty v(z), and so the factored system.
    _wants_variance = False

    def _loss(self, residuals: Array, variance: Array | None) -> Array:
        return squared(residuals)

    # Fitting.

    def _prepare(self, X: Array, w: Array) -> Array:
        """Choose scaling, kernel and C; the rows in z-scores."""
        if self._precomputed and self._wants_variance:
            raise ValueError(f"{self._name}: kernel='precomputed' does not tell k(z, z): use score='reconstruction'")
        self._check_memory(X)
        self.scaler_ = Scaler.of(ColumnMoments.of(X, w)) if self._scales else Scaler.identity(X)
        Z = self.scaler_(X)
        self.kernel_, self.C_ = choose_kernel_and_cost(self, Z, w)
        if isinstance(self.kernel_, Radial):
            self.sigma_ = float(self.kernel_.sigma)
        return Z

    def _fit(self, X: Array, w: Array) -> None:
        Z = self._prepare(X, w)
        shrink = self._shrink(self._embedding(Z, w), w, self.C_)
        try:
            self.model_, self._training = solve_dual(
                self.kernel_,
                Z,
                self._target(Z),
                w,
                shrink,
                ridge=self.lam / self.C_,
                leave_one_out=self.threshold == "loo" or self._wants_variance,
                keep_factor=self._wants_variance,
            )
        except SingularSystemError as error:
            raise SingularSystemError(f"{self._name}: {error}; C={self.C_!r}, lam={self.lam!r}") from None
        self.signal_ = self._training.signal(C=self.C_)
        self._mean_residual = (w @ self._training.residuals) / namespace(w).sum(w)
        if self._precomputed:
            # A precomputed kernel needs the number of training rows only.
            self.model_ = replace(self.model_, rows=Z[:, :0])

    def _shrink(self, embedding: Embedding, w: Array, C: float) -> Structured:
        try:
            return embedding.shrink(w, C=C)
        except np.linalg.LinAlgError:
            rule = "must be symmetric positive semi-definite when it is a matrix"
            raise ValueError(f"{self._name}: variance {rule}") from None

    def _check_memory(self, X: Array) -> None:
        n = X.shape[0]
        item = namespace(X).finfo(X.dtype).bits // 8
        # The matrix is factored in place; the host keeps a second one for uncertainty.
        need = n * n * item * (1 + (self._wants_variance and not is_foreign(X)))
        free = available_bytes(X)
        if need > free:
            raise MemoryError(
                f"{self._name}: an exact fit of {n:,} rows needs about {need / 1e9:,.1f} GB for its kernel matrix, but "
                f"{free / 1e9:,.1f} GB are free; use approximation=Nystrom(1000), or fewer rows"
            )

    # Losses: `fit` and `score_samples` read the same residuals.

    def _training_losses(self, X: Array) -> Array:
        rows = self._training
        return self._loss(rows.residuals, rows.uncertainty() / self.C_ if self._wants_variance else None)

    def _held_out_losses(self, X: Array, w: Array) -> Array:
        return self._held_out_loss(self._training)

    def _held_out_loss(self, rows: TrainingRows) -> Array:
        return self._loss(rows.held_out_residuals(), rows.held_out_uncertainty() / self.C_)

    def _losses(self, X: Array) -> Array:
        return self._in_blocks(X, lambda Z: self._loss(*self._judge(Z)))

    def _judge(self, Z: Array) -> tuple[Array, Array | None]:
        """Residuals of rows in z-scores and, where the loss wants it, the machine's uncertainty about them."""
        features = self.model_.features(Z)
        residuals = self._target(Z) - self.model_.outputs(features)
        return residuals, self.model_.uncertainty(Z, features) / self.C_ if self._wants_variance else None

    def _in_blocks(self, X: Array, step: Callable[[Array], Array]) -> Array:
        """Concatenate what `step` makes of the rows in z-scores, taken in blocks that bound the memory."""
        ranges = blocks(X.shape[0], max(self.model_.width, X.shape[1]), X)
        return namespace(X).concat(list(spread(lambda ab: step(self.scaler_(X[ab[0] : ab[1], :])), ranges, X)))

    # Input.

    @property
    def _name(self) -> str:
        return type(self).__name__

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self)

    @property
    def _scales(self) -> bool:
        if not isinstance(self.scale, bool | np.bool_):
            raise ValueError(f"{self._name}: scale must be True or False, got {self.scale!r}")
        return bool(self.scale) and not self._precomputed

    def _kept_columns(self, X: Array) -> Array:
        """Without the kernel columns of training rows of weight zero."""
        return X.T[self._columns].T if self._precomputed and self._columns is not None else X

    def _read(self, X: Any) -> Array:
        return self._on_device(self._kept_columns(super()._read(X)))

    def _on_device(self, X: Array) -> Array:
        return X if self.device is None else to_device(X, self.device)

    def _give(self, result: Array) -> Array:
        return result if self.device is None else to_numpy(result)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

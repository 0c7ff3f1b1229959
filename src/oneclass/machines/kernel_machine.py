"""Base class of the kernel machines: reads training rows, fits, keeps the result, and scores new rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..base.checks import check_magnitudes
from ..base.classifier import OneClassClassifier
from ..base.groups import column_of
from ..base.independence import warn_if_dependent
from ..base.kernels import KernelChoice, is_precomputed
from ..base.labels import read_answers
from ..base.memory import check_matrix_fits
from ..base.nearest_known import NearestKnown
from ..base.rates import decision_of
from ..base.reading import Header, Reader
from ..base.threads import lock_of
from ..base.training_set import TrainingSet
from ..base.warnings import FewRowsWarning, warn
from ..core.approximation import Approximation
from ..core.arrays import Array, beside, device, namespace, to_device, to_numpy
from ..core.calibration import Calibration
from ..core.embedding import NotLaplacianError
from ..core.groups import OneGroupError
from ..core.kernels import Precomputed, is_radial
from ..core.known import KnownOutliers
from ..core.machine import Machine
from ..core.recipe import Recipe
from ..core.scaling import ColumnMoments
from ..core.solve import DualModel
from ..core.stored import MAYBE, Flags
from ..core.threshold import Decision
from ..core.typing import Device, Labels, Name, Rows, Seed, Weights
from ..engines import Chunks, Engine, InMemory
from ..engines.chunks import Source, with_labels
from ..engines.dask import DaskRows, is_dask
from .answers import answered_set, without_answers
from .approximate import fit_through
from .auto_approximation import choose_approximation, chunk_approximation
from .exact import Check, Fit, fit_exactly, in_blocks, losses_of
from .explaining import expected_of, kept_rows, nearest_known, parts_of
from .known_outliers import outliers_beside_chunks, with_known, with_known_beside_chunks, with_outliers_to_learn
from .parameters import check_single, recipe_of, seed_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["AutoAssociative", "KernelMachine"]

#: Number of rows below which a fit warns if there are more columns than rows: a held-out row then still changes the
#: quantiles with which it is scaled.
_ROWS_TO_SCALE_BY = 30


class KernelMachine(OneClassClassifier):
    """Machine that solves ``(K + MK/C + lam I/C) A = T``; parameters and class attributes choose each term."""

    C: float | str
    lam: float = 1.0
    kernel: KernelChoice
    sigma: float | str
    scale: str | bool
    approximation: Any  # an `Approximation`, "auto" or None; a property in some machines
    device: Device | None
    random_state: Seed

    #: Whether the target is the row itself. Otherwise it is the constant `r`.
    _rebuilds: ClassVar[bool] = False
    #: The variance of machines without a parameter `variance`.
    variance: str | Array = "none"
    #: Whether C may be the name of a rule.
    _cost_by_rule: ClassVar[bool] = True
    #: What becomes of labelled outliers in machines without this parameter.
    known_outliers: str = "ignore"
    #: With scikit-learn's metadata routing, `fit` requests `outliers` by default.
    __metadata_request__fit: ClassVar = {"outliers": True}

    machine_: Machine
    known_: Annotated[KnownOutliers, MAYBE]
    answered_: Annotated[NDArray[np.bool_], Flags("*"), MAYBE]
    approximation_: Approximation | None
    device_: str | None
    _kept_columns_: Annotated[Array, Flags("features")] | None

    def fit(
        self,
        X: Rows,
        y: Labels | None = None,
        *,
        outliers: Rows | None = None,
        sample_weight: Weights | None = None,
        groups: Labels | Name | None = None,
        segments: Labels | Name | None = None,
    ) -> Self:
        """Learn the target class from its rows and, if some are known, from outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the target class only; the n x n kernel matrix if ``kernel="precomputed"``. A Dask collection is
            fitted like chunks (see `fit_chunks`).
        {y}
        outliers : array-like of shape (n_outliers, n_features), optional
            Known outliers that are not in `X`. Rows like them get a larger loss, and rows of other kinds about the same
            as without them. Thresholds and p-values come from the rows of the target class alone
            (docs/known_outliers.md). For a Dask collection, they must be in memory, and `groups` must be None.
        sample_weight : array-like of shape (n_samples,), optional
            In the fit, a row of weight w counts as w copies. If all weights are whole numbers, they are numbers of
            copies, and held-out losses leave out one copy at a time. Otherwise, or if each row is a group
            (``groups=range(len(X))``), they leave out the row with its whole weight. The false-alarm rate then holds
            for rows that are drawn in proportion to weights that are not whole numbers. The largest weight must be from
            1e-12 to 1e12. A weight that is lost to rounding in a sum with the largest one counts as zero.
        groups : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The group of each row, as labels of any kind: for example a person, a machine or a day. Rows of a group
            resemble each other, so held-out losses leave out the whole group, and each group has the same weight.
            Thresholds and p-values then hold for rows of *new* groups. Thresholds on training losses ignore groups. A
            column with groups is not a feature. For a Dask collection, the groups must be a column, and folds of whole
            groups are left out (see `fit_chunks`).

        Returns
        -------
        self
            The fitted machine.
        """
        self._check_may_learn(outliers)
        if is_dask(X):
            return self._fit_collection(X, y, outliers, sample_weight=sample_weight, groups=groups, segments=segments)
        return self._fit(X, y, outliers=outliers, sample_weight=sample_weight, groups=groups, segments=segments)

    def _check_may_learn(self, outliers: Rows | None) -> None:
        if outliers is not None and self.known_outliers == "ignore":
            kind = type(outliers).__name__
            raise ValueError(f"{self._name}: outliers must be None in machines that ignore known outliers, got {kind}")

    def _fit_collection(
        self,
        X: Rows,
        y: Labels | None,
        outliers: Rows | None,
        *,
        sample_weight: Weights | None,
        groups: Labels | Name | None,
        segments: Labels | Name | None,
    ) -> Self:
        """Fit a Dask collection."""
        decision = decision_of(self)
        if sample_weight is not None:
            raise ValueError(f"{self._name}: sample_weight must be None for a Dask collection; repeat rows instead")
        if segments is not None:
            raise ValueError(f"{self._name}: segments must be None for a Dask collection; pass rows in memory")
        if y is not None:
            raise ValueError(f"{self._name}: y must be None for a Dask collection; pass rows of the target class")
        reader = Reader.of_collection(self, X, self.device, column_of(self, groups))
        return self._fit_chunked(DaskRows(X, reader), reader, decision, outliers)

    def _fit_chunked(self, engine: Engine, reader: Reader, decision: Decision, outliers: Rows | None) -> Self:
        """Fit rows that are not in memory together."""
        header, known = reader.header, None
        if outliers is not None:
            known = outliers_beside_chunks(self, outliers, header, decision, reader.groups)
        return self._fit_through(engine, header, decision, known=known)

    def _read_training(self, X: Rows) -> tuple[Array, Header]:
        rows, header = super()._read_training(X)
        return rows if self.device is None else to_device(rows, self.device), header

    def _fit_set(self, training: TrainingSet, decision: Decision) -> Self:
        training = with_outliers_to_learn(self, training.to_learn(self), decision)
        if (approximation := choose_approximation(self, training.X)) is not None:
            engine = InMemory(training.X, training.w if training.weighted else None)
            return self._fit_through(engine, training.header, decision, approximation, training)
        return self._fit_exactly(training, decision)

    def _fit_exactly(self, training: TrainingSet, decision: Decision) -> Self:
        X, header = training.X, training.header
        recipe = recipe_of(self, X, training.kept)
        check_matrix_fits(self, X)  # one matrix: it is factored in place
        with self._naming_numbers(recipe):
            check = self._checking(header, recipe)
            fit = fit_exactly(recipe, X, training.w, decision=decision, check=check, groups=training.groups)
        return self._keep_fit(fit, header, decision, approximation=None, training=training)

    def learn_from(self, X: Rows, y: Labels) -> Self:
        """Learn from answers: rows, mostly alarms, about which somebody said whether they are normal.

        Rows that are answered to be outliers are learned as known outliers. Rows that are answered to be normal are
        added to the training rows, so that rows like them cause no alarms. They do not count in thresholds and
        p-values, because they were not drawn as new rows are. The result is that of a new fit with these rows, and does
        not depend on the order of the answers. Their weight is 1, and each row is a group of its own.

        Parameters
        ----------
        X : array-like of shape (n_answers, n_features)
            Rows.
        y : array-like of shape (n_answers,)
            Labels as in `fit`: +1 (against -1), 1 (against 0), True, "target", "normal" or "inlier" for normal rows.
            Rows with a missing label are not used.

        Returns
        -------
        self
            The machine, fitted again. The fit must have kept its training rows: exact fits do, and so do fits by
            landmarks of some thousand rows if the loss uses the variance; these may choose other landmarks.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import VAAKELM
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> model = VAAKELM().fit(X)
        >>> model.predict([[3.5, 0.0], [3.5, 0.05]])
        array([-1, -1])
        >>> model.learn_from([[3.5, 0.0]], [1]).predict([[3.5, 0.0], [3.5, 0.05]])
        array([1, 1])
        """
        self._check_fitted()
        if self._segments is not None:
            raise ValueError(f"{self._name}: learn_from needs a fit without segments; fit again with the answered rows")
        rows = self._read(X)
        normal, outliers = read_answers(self._name, y, int(rows.shape[0]))
        some = np.flatnonzero(normal | outliers)
        rows = namespace(rows).take(rows, namespace(rows).asarray(some, device=device(rows)), axis=0)
        with lock_of(self):  # answers of several threads add up
            return self._fit_set(answered_set(self, rows, outliers[some]), decision_of(self))

    def fit_chunks(
        self, chunks: Source, *, outliers: Rows | None = None, groups: Name | None = None, verbose: bool = False
    ) -> Self:
        """Learn the target class from rows that arrive in chunks.

        The memory does not grow with the number of rows. The rows are read two or three times: to survey them, for
        their moments and, unless a sample is sufficient, for their losses. Apart from rounding, the result does not
        depend on the order of the rows or the size of the chunks. ``approximation="auto"`` and None mean the same here:
        if there are no groups and few rows, the rows are read once and fitted exactly; otherwise the approximation is
        ``Nystrom(1000)``. `approximation_` holds the choice.

        Parameters
        ----------
        chunks : array, path, TableFile, callable or iterable
            An array or memory map; a ``.npy`` file, a table file (see `TableFile`), or a list of files; a callable that
            returns a new iterator over blocks of rows; or an iterable of blocks that can be iterated over repeatedly.
        outliers : array-like of shape (n_outliers, n_features), optional
            Known outliers in memory, as in `fit`. They are learned beside a sample of the rows, which also sets the
            threshold: all distinct rows if there are at most about 36,000, otherwise about 32,000 of them. With known
            outliers, `groups` must be None.
        groups : str or int, optional
            Name or number of the column with the group of each row, as labels of any kind. The column is not a feature.
            The rows of a group need not follow each other. A hash of its label assigns each group to one of five folds.
            The held-out loss of a row comes from a machine that was fitted without the row's fold, and without
            landmarks from its group. This reads the rows up to seven times. Thresholds on training losses ignore
            groups and need no additional passes. If there are more than 32,768 groups, a sample of so many groups sets
            the threshold.
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
        self._check_may_learn(outliers)
        decision = decision_of(self)
        if (column := column_of(self, groups)) is not None:
            chunks = with_labels(chunks, column)
        engine = Chunks(chunks, partial(self._reader_of, groups=column), verbose=verbose)
        return self._fit_chunked(engine, engine.reader, decision, outliers)

    def _reader_of(self, first: Rows, groups: Name | None) -> Reader:
        """The reader of chunks that fits the first chunk; warns if successive rows of this chunk are dependent."""
        reader = Reader.of_first(self, first, self.device, groups)
        if groups is None and not is_precomputed(self):
            warn_if_dependent(self, reader(first).X)
        return reader

    def _fit_through(
        self,
        engine: Engine,
        header: Header,
        decision: Decision,
        approximation: Approximation | None = None,
        training: TrainingSet | None = None,
        known: Array | None = None,
    ) -> Self:
        exact = approximation is None and not isinstance(self.approximation, Approximation)
        approximation = approximation or chunk_approximation(self)
        recipe = recipe_of(self, None)
        with self._naming_numbers(recipe):
            fit = fit_through(
                recipe,
                engine,
                approximation,
                decision=decision,
                seed=seed_of(self),
                check=self._checking(header, recipe),
                groups=None if training is None else training.groups,
                by_row=self.rate_by == "row",
                exact=exact,
                every_row=training is not None and (training.outliers is not None or training.segments is not None),
                by_sample=known is not None,
            )
        return self._keep_fit(fit, header, decision, approximation=approximation, training=training, outliers=known)

    def _checking(self, header: Header, recipe: Recipe) -> Check:
        def check(columns: ColumnMoments, n_rows: int) -> None:
            self._check_count(n_rows)
            check_magnitudes(self, columns, header.names, scaling=recipe.scaling)
            if namespace(columns.mean).finfo(columns.dtype).bits == 32:
                check_single(self, recipe)

        return check

    @contextmanager
    def _naming_numbers(self, recipe: Recipe) -> Iterator[None]:
        """Add the machine's name and parameters to errors of the core."""
        sigma = f", sigma={recipe.kernel.sigma!r}" if is_radial(recipe.kernel) else ""
        with self._naming(f"; C={recipe.C!r}, lam={recipe.lam!r}{sigma}"):
            try:
                yield
            except (NotLaplacianError, OneGroupError) as error:
                raise ValueError(f"{self._name}: {error}") from None

    def _keep_fit(
        self,
        fit: Fit,
        header: Header,
        decision: Decision,
        *,
        approximation: Approximation | None,
        training: TrainingSet | None,
        outliers: Array | None = None,
    ) -> Self:
        kept, known = None if training is None else training.kept, None
        answered = None if training is None else training.answered
        fit = without_answers(fit, answered)
        if training is not None and training.outliers is not None:
            fit, known = with_known(fit, training)
        elif outliers is not None:
            fit, known = with_known_beside_chunks(self, fit, header, outliers)
        judgement = fit.judgement.learning(kept).beside(0.0 if training is None else training.removed)
        if judgement.calibration is not None and self._is_unstable(judgement.calibration.total):
            judgement = judgement.by("unstable")
        fit, plan = replace(fit, judgement=judgement), fit.machine.plan
        precomputed = isinstance(plan.kernel, Precomputed)
        if judgement.calibration is not None and decision.held_out and not precomputed:
            self._warn_if_few(judgement.calibration, decision.delta, plan.scaler.centre.shape[0])
        return self._keep(
            header,
            fit.threshold(decision),
            judgement.calibration,
            judgement.held_out,
            decision_=decision,
            training=training,
            device_=self.device,
            _kept_columns_=kept if precomputed else None,
            **{name: part for name, part in (("known_", known), ("answered_", answered)) if part is not None},
            machine_=fit.machine,
            approximation_=None if isinstance(fit.machine.model, DualModel) else approximation,
            **_attributes(fit.machine),
        )

    def _is_unstable(self, n: float) -> bool:
        """Whether leave-one-out losses of n rows are so unstable that the rate of one model is hardly known."""
        return False

    def _check_count(self, n: int) -> None:
        """Raise an error, or give a warning, for this number of rows."""
        if n < 2:
            raise ValueError(f"{self._name}: X must have at least 2 rows, got {n}")

    def _warn_if_few(self, calibration: Calibration, delta: float, d: int) -> None:
        n = int(calibration.total)
        if n < min(_ROWS_TO_SCALE_BY, d) and delta >= calibration.smallest_budget:
            warn(
                f"{self._name}: {n} rows (or groups) of {d} columns are too few: each row affects the scaling that "
                "it is itself scored with, so the false-alarm rate may be twice delta; use more rows or fewer columns",
                FewRowsWarning,
            )

    # Files.

    def __derived__(self) -> dict[str, object]:
        return _attributes(self.machine_) if "machine_" in vars(self) else {}

    def __check__(self) -> dict[str, int]:
        super().__check__()
        kept = self._kept_columns_
        return {"d": self.n_features_in_ if kept is None else int(namespace(kept).count_nonzero(kept))}

    # Scores of new rows.

    def _losses(self, X: Array) -> Array:
        if (known := self._known) is not None:
            return in_blocks(self.machine_, X, partial(known.losses, self.machine_))
        return losses_of(self.machine_, X)

    def _parts(self, rows: Array) -> Array | None:
        return parts_of(self.machine_, rows) if self._known is None else None

    @property
    def _known(self) -> KnownOutliers | None:
        """The known outliers that the machine has learned, if any."""
        return vars(self).get("known_")

    def _expected(self, rows: Array) -> Array | None:
        # A reconstruction follows the wrong value of its own column; the nearest training rows do not.
        return expected_of(self.machine_, rows) if self._kept_rows() is None else None

    def _nearest_known(self, rows: Array) -> NearestKnown | None:
        return None if self._known is None else nearest_known(self.machine_, self._known, rows)

    def _kept_rows(self) -> Array | None:
        return kept_rows(self.machine_)

    def _read(self, X: Rows) -> Array:
        rows = beside(super()._read(X), self.scaler_.centre)
        return rows if self._kept_columns_ is None else _columns(rows, self._kept_columns_)

    def _give(self, result: Array) -> Array:
        return result if self.device_ is None else to_numpy(result)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self)
        return tags


class AutoAssociative(KernelMachine):
    """Machine with the target ``T = X``: it reconstructs rows, so features have parts in the loss."""

    _rebuilds: ClassVar[bool] = True

    def reconstruct(self, X: Rows) -> Array:
        """Reconstruct rows, in the units of the data.

        Parameters
        ----------
        {rows_to_reconstruct}

        Returns
        -------
        array of shape (n_samples, n_features)
            Expected value of each feature.
        """
        return self._of_rows(X, lambda one, rows: expected_of(one.machine_, rows))


def _attributes(machine: Machine) -> dict[str, object]:
    """Fitted attributes that show parts of a machine."""
    plan = machine.plan
    found = {
        "model_": machine.model,
        "scaler_": plan.scaler,
        "kernel_": plan.kernel,
        "C_": plan.C,
        "signal_": machine.signal,
    }
    found |= {"sigma_": float(plan.kernel.sigma)} if is_radial(plan.kernel) else {}
    return found | ({} if machine.labels is None else {"cluster_labels_": machine.labels})


def _columns(K: Array, kept: Array) -> Array:
    """The columns of the training rows `kept`; rows of weight zero are not training rows."""
    return K.T[kept].T

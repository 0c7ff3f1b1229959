"""The method `suggest`: which rows to ask about next."""

from __future__ import annotations

from numbers import Integral
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, to_numpy
from ..core.typing import Rows
from ..engines.dask import refuse_dask

__all__ = ["Suggests"]


class _Scores(Protocol):
    """An estimator that scores rows."""

    def score_samples(self, X: Rows, /) -> Array: ...


class Suggests:
    """Mixin with the method `suggest`."""

    def suggest(self: _Scores, X: Rows, *, k: int = 10) -> NDArray[np.intp]:
        """Choose the rows about which to ask a person whether they are outliers.

        These are the rows with the lowest scores. Choices that also avoid rows that resemble each other found fewer
        outliers with the same number of answers (docs/known_outliers_measured.md). Ask about few rows, learn from the
        answers (`learn_from`), and ask again: the scores of the other rows then change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows without answers.
        k : int, default=10
            Number of rows to choose; all rows if there are fewer.

        Returns
        -------
        int array of shape (min(k, n_samples),)
            Row numbers, the most useful one first.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import VAAKELM
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> VAAKELM().fit(X).suggest([[0.0, 0.0], [9.0, 9.0], [4.0, 0.0]], k=2)
        array([1, 2])
        """
        name = type(self).__name__
        refuse_dask(f"{name}: suggest", X)
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ValueError(f"{name}: k must be a whole number of at least 1, got {k!r}")
        return np.argsort(to_numpy(self.score_samples(X)), kind="stable")[: int(k)]

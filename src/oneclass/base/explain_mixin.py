"""The method `explain` of a classifier: the contribution of each column to the loss of each row.

If the loss is a sum over the columns, the contributions are its terms. Otherwise substitution measures them.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import get_tags

from ..core.arrays import Array, blocks, device, namespace, to_numpy
from ..core.scaling import Scaler
from ..core.typing import Name, Rows
from ..engines.dask import is_dask, map_rows
from .expected import current_encoding, expected_values
from .explanation import Explanation, shares_of
from .nearest_known import NearestKnown
from .non_numeric import framed
from .segments import without_labels
from .threads import by_one_fit

__all__ = ["Explains", "by_substitution", "index_of", "names_of", "nearest_rows"]

Matrix = NDArray[Any]

_EXACT = "exact: the loss is a sum over the columns, and shares are those of its terms"
_SUBSTITUTED = (
    "measured by substitution: the mean of two changes of the loss, the decrease when the expected value replaces the "
    "column's value in the row, and the increase when the column's value is put into a row of expected values"
)


class Explains(ABC):
    """Mixin with the method `explain`. Substitution measures contributions that the classifier does not compute."""

    offset_: float
    scaler_: Scaler

    @abstractmethod
    def _check_fitted(self) -> None: ...

    @abstractmethod
    def _read(self, X: Rows) -> Array: ...

    @abstractmethod
    def _finite_losses(self, rows: Array) -> Array: ...

    @abstractmethod
    def _travelling(self) -> Self: ...

    # Methods that a classifier may override.

    def _parts(self, rows: Array) -> Array | None:
        """The term of each column in the loss; None if the loss is not a sum over the columns."""
        return None

    def _least_parts(self) -> Array | float:
        """The smallest possible value of each column's term."""
        return 0.0

    def _expected(self, rows: Array) -> Array | None:
        """Expected values in the user's units; None if the classifier does not compute them."""
        return None

    def _nearest_known(self, rows: Array) -> NearestKnown | None:
        """The known outlier nearest to each row; None if the classifier has learned none."""
        return None

    def _kept_rows(self) -> Array | None:
        """The scaled training rows that the classifier keeps; None if it keeps none."""
        return None

    @by_one_fit
    def explain(self, X: Rows, *, neighbors: int = 0) -> Explanation:
        """Contribution of each column to the loss of each row, with its value and the expected value.

        If the loss is a sum over the columns, the contributions are exact. Otherwise they are measured by substitution.
        `Explanation.method` tells which of the two was used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain.
        neighbors : int, default=0
            Number of nearest training rows to return for each row, if the classifier keeps training rows.

        Returns
        -------
        Explanation
            For a Dask collection, a lazy array that holds only the shares.
        """
        self._check_fitted()
        if is_dask(X):
            if neighbors:
                name = type(self).__name__
                raise ValueError(f"{name}: neighbors must be 0 for a Dask collection, got {neighbors!r}")
            one = self._travelling()
            return map_rows(lambda block: one.explain(block).shares, X)  # type: ignore[no-any-return]
        X = without_labels(self, framed(X))  # type: ignore[arg-type]
        rows = self._read(X)
        parts, expected, near = self._parts(rows), self._expected(rows), self._nearest(rows, neighbors)
        exact, values = parts is not None, to_numpy(rows)
        expected, low, high = self._usual(values) if expected is None else (to_numpy(expected), None, None)
        n, d = values.shape
        if exact:
            parts = to_numpy(parts) - np.broadcast_to(self._least_parts(), d)
        else:
            parts = by_substitution(lambda X: self._asked(X, like=rows), values, expected)
        return Explanation(
            values=values,
            expected=expected,
            shares=shares_of(parts),
            parts=parts,
            names=names_of(X, d),
            index=index_of(X, n),
            exact=exact,
            method=_EXACT if exact else _SUBSTITUTED,
            neighbors=near,
            known=self._nearest_known(rows),
            low=low,
            high=high,
        )

    def _asked(self, X: Matrix, *, like: Array) -> Matrix:
        """Losses of synthetic rows, computed on the device of `like`."""
        return to_numpy(self._finite_losses(_like(X, like)))

    def _usual(self, values: Matrix) -> tuple[Matrix, Matrix | None, Matrix | None]:
        """Expected values and their ranges from the training rows that are kept, or column centres if none are kept."""
        kept, scaler = self._kept_rows(), self.scaler_
        if get_tags(self).input_tags.pairwise:
            name = type(self).__name__
            raise ValueError(f"{name}: explain must have the rows themselves: kernel values have no columns to explain")
        if kept is None:
            return np.broadcast_to(to_numpy(scaler.centre), values.shape), None, None
        known = to_numpy(kept)
        own = to_numpy(scaler.inverse(_like(known, scaler.centre)))
        return expected_values(self._scaled(values), known, own, current_encoding())

    def _nearest(self, rows: Array, k: int) -> Matrix | None:
        name, kept = type(self).__name__, self._kept_rows()
        if not isinstance(k, numbers.Integral) or k < 0:
            raise ValueError(f"{name}: neighbors must be a whole number of at least 0, got {k!r}")
        if not k:
            return None
        if kept is None:
            raise ValueError(f"{name}: neighbors must be 0, got {k!r}: this fit keeps none of its training rows")
        known = to_numpy(kept)
        near = nearest_rows(self._scaled(to_numpy(rows)), known, min(int(k), len(known)))
        found = to_numpy(self.scaler_.inverse(_like(known[near].reshape(-1, known.shape[1]), self.scaler_.centre)))
        return found.reshape(*near.shape, -1)

    def _scaled(self, values: Matrix) -> Matrix:
        return to_numpy(self.scaler_(_like(values, self.scaler_.centre)))


def _like(X: Matrix, like: Array) -> Array:
    """`X` as an array of the library, type and device of `like`."""
    return namespace(like).asarray(X, dtype=like.dtype, device=device(like))


def by_substitution(losses: Callable[[Matrix], Matrix], X: Matrix, expected: Matrix) -> Matrix:
    """Contribution of each column to the loss of each row.

    The contribution is the mean of two changes of the loss: the increase when the column's value replaces the expected
    value in a row of expected values, and the decrease when the expected value replaces the column's value in the row.
    It equals the Shapley value if the loss has no interaction of more than two columns. For an extremely anomalous
    row, the loss may be saturated, so that the decrease is 0; the increase is then still positive.
    """
    d, itself = X.shape[1], np.eye(X.shape[1], dtype=bool)
    parts = np.empty(X.shape)
    for a, b in blocks(len(X), 2 * (d + 1) * d, np.empty(0), for_products=True):
        x, e = X[a:b], expected[a:b]
        without = np.where(itself, e[:, None, :], x[:, None, :])
        alone = np.where(itself, x[:, None, :], e[:, None, :])
        found = losses(np.concatenate([x, e, without.reshape(-1, d), alone.reshape(-1, d)])).astype(float)
        whole, normal, rest = found[: b - a], found[b - a : 2 * (b - a)], found[2 * (b - a) :]
        left, put = rest.reshape(2, b - a, d)
        # Halve before subtracting: losses that overflowed are the largest finite number, whose sums overflow.
        parts[a:b] = np.maximum((whole[:, None] / 2 - left / 2) + (put / 2 - normal[:, None] / 2), 0)
    return parts


def nearest_rows(Z: Matrix, known: Matrix, k: int) -> NDArray[np.intp]:
    """Indices of the k known rows with the smallest city-block distance to each row, in ascending order."""
    found = np.empty((len(Z), k), dtype=np.intp)
    for a, b in blocks(len(Z), 2 * len(known), np.empty(0), for_products=True):
        D = cdist(Z[a:b], known, "cityblock")
        near = np.argpartition(D, k - 1, axis=1)[:, :k]
        found[a:b] = np.take_along_axis(near, np.take_along_axis(D, near, 1).argsort(axis=1, kind="stable"), 1)
    return found


def names_of(X: Rows, d: int) -> tuple[Name, ...]:
    """Column names of a table; column numbers if it has no names."""
    names = tuple(getattr(X, "columns", ()))
    return names if len(names) == d else tuple(range(d))


def index_of(X: Rows, n: int) -> NDArray[np.generic]:
    """Index labels of a pandas data frame; row numbers for other tables."""
    return np.asarray(X.index) if hasattr(X, "iloc") and hasattr(X, "index") else np.arange(n)

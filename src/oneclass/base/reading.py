"""Reading and validation of rows, of any array library or data frame, and of sample weights."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, validate_data

from ..core.arrays import Array, device, is_foreign, namespace, ones, to_device
from ..core.block import Block
from ..core.column_summary import ColumnSummary
from ..core.training_keys import TrainingKeys
from ..core.typing import Device, Name, Rows, Weights
from .groups import group_keys, without_groups
from .non_numeric import check_dimensions, is_time, refusal, unwrapped

__all__ = ["Columned", "Header", "Reader", "read_rows", "read_training_rows", "read_weights"]

#: Smallest and largest value that the largest sample weight may have. Between them, scores change with the scale of the
#: weights as they should; beyond them they are constant up to rounding, and from 1e-200 and 1e200 on the systems have
#: no solution. Measured with 60 rows of 3 columns, 5 machines, weights from 1e-300 to 1e300.
_LARGEST_WEIGHT = (1e-12, 1e12)


class Columned(Protocol):
    """A fitted estimator with the number of its columns."""

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        ...


@dataclass(frozen=True)
class Header:
    """Name of the estimator that reads rows, and the number, names and value summary of its columns.

    `keys` are those of the training rows.
    """

    reader: str
    n_features: int | None = None  # None accepts any number
    names: NDArray[np.object_] | None = None
    seen: ColumnSummary | None = None
    keys: TrainingKeys | None = None

    @classmethod
    def of(cls, estimator: Columned) -> Header:
        """The columns that an estimator was fitted on."""
        name = type(estimator).__name__
        return cls(name, estimator.n_features_in_, getattr(estimator, "feature_names_in_", None))

    def attributes(self) -> dict[str, object]:
        """The columns as fitted attributes, under scikit-learn's names, and what is known of the training rows."""
        known = {"feature_names_in_": self.names, "column_summary_": self.seen, "training_keys_": self.keys}
        return {"n_features_in_": self.n_features} | {name: what for name, what in known.items() if what is not None}

    def having_seen(self, X: Array, keys: NDArray[np.int64]) -> Header:
        """The header with a summary of the values in the training rows `X`, and their keys from the hashes `keys`."""
        return replace(self, seen=ColumnSummary.of(X), keys=TrainingKeys.of(keys))


@cache
def _stand_in(name: str) -> type[BaseEstimator]:
    return type(name, (BaseEstimator,), {})


def _as_estimator(header: Header) -> BaseEstimator:
    """A dummy estimator with the reader's name and columns, for scikit-learn's validation functions."""
    stand_in: Any = _stand_in(header.reader)()
    if header.n_features is not None:
        vars(stand_in).update(header.attributes())
    return stand_in


def _validated(header: Header, given: Rows, *, min_rows: int) -> tuple[Array, Header]:
    """Rows as a two-dimensional array of finite floats, and their header.

    float32 stays float32. Arrays of other libraries keep their library and device.
    """
    name, learning = header.reader, header.n_features is None
    X = unwrapped(name, given)
    check_dimensions(name, X)
    if not is_foreign(X):
        estimator = _as_estimator(header)
        rows = _by_scikit_learn(estimator, X, reset=learning, ensure_min_samples=min_rows)
        return rows, Header(name, estimator.n_features_in_, getattr(estimator, "feature_names_in_", None))
    xp = namespace(X)
    if not xp.isdtype(X.dtype, (xp.float32, xp.float64)):
        X = xp.astype(X, xp.float64)
    n, d = X.shape
    if n < min_rows or d < 1:
        raise ValueError(f"{name}: X must have at least {min_rows} row(s) and one feature, got shape {(n, d)}")
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError(f"{name}: X must be finite, but holds NaN or infinity")
    if not learning and d != header.n_features:
        raise ValueError(f"{name}: X has {d} features, but was fitted on {header.n_features}")
    return X, Header(name, d) if learning else header


def _by_scikit_learn(estimator: BaseEstimator, X: Rows, **options: Any) -> Array:
    """Rows validated by scikit-learn. If it refuses them, the error names the columns that cause this."""
    name = type(estimator).__name__
    if any(is_time(kind) for kind in getattr(X, "dtypes", [getattr(X, "dtype", None)])):
        raise ValueError(refusal(name, X))
    try:
        with np.errstate(invalid="ignore"):  # it adds all values up, which the largest numbers of both signs overflow
            return validate_data(estimator, X, dtype=[np.float64, np.float32], order="C", **options)
    except (TypeError, ValueError, OverflowError) as error:  # the last for whole numbers of more than 308 digits
        if reason := refusal(name, X):
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{reason} ({str(error).splitlines()[0]})") from None
        raise


def read_training_rows(estimator: object, X: Rows, *, min_rows: int = 2) -> tuple[Array, Header]:
    """Validated training rows and their header. The estimator is not changed."""
    header = Header(type(estimator).__name__)
    plain = _plain(header, X)
    return plain if plain is not None and len(plain[0]) >= min_rows else _validated(header, X, min_rows=min_rows)


def read_rows(header: Header, X: Rows) -> Array:
    """Rows validated against the columns of the header."""
    plain = _plain(header, X)
    return _validated(header, X, min_rows=1)[0] if plain is None else plain[0]


def _plain(header: Header, X: Rows) -> tuple[Array, Header] | None:
    """Rows that pass a quick check, and their header; None if they need scikit-learn's validation.

    For an array, that takes ten times as long, and for a small data frame as long as a fit.
    """
    rows: Any
    rows, names = (X, None) if type(X) is np.ndarray else _floats_of_frame(X)
    if (
        rows is None
        or rows.dtype.type not in (np.float64, np.float32)
        or rows.ndim != 2
        or not rows.size
        or not rows.dtype.isnative
        or not (rows.flags.c_contiguous or names is not None)
        or not np.isfinite(rows).all()
    ):
        return None
    if header.n_features is None:
        return np.ascontiguousarray(rows), replace(header, n_features=rows.shape[1], names=names)
    same = rows.shape[1] == header.n_features and (names is None) == (header.names is None)
    return (np.ascontiguousarray(rows), header) if same and (names is None or (names == header.names).all()) else None


def _floats_of_frame(X: Any) -> tuple[Any, NDArray[np.object_] | None]:
    """Values and names of a pandas frame of floats of one precision with different texts as names; else None twice."""
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or len({*X.dtypes}) != 1 or not X.columns.is_unique:
        return None, None
    names = np.asarray(X.columns, dtype=object)
    if not (isinstance(X.dtypes.iloc[0], np.dtype) and names.ndim == 1 and all(type(name) is str for name in names)):
        return None, None
    return X.to_numpy(), names


@dataclass(frozen=True)
class Reader:
    """Function that reads blocks of rows with the columns of the header, in any process; it is cheap to pickle.

    `groups` is the name or number of a further column that holds the groups of the rows.
    """

    header: Header
    device: Device | None = None
    groups: Name | None = None

    @classmethod
    def of_first(
        cls, estimator: object, block: Rows, device: Device | None = None, groups: Name | None = None
    ) -> Reader:
        """The reader of a source, made from its first block."""
        rows, _ = without_groups(type(estimator).__name__, block, groups)
        return cls(read_training_rows(estimator, rows, min_rows=1)[1], device, groups)

    @classmethod
    def of_collection(
        cls, estimator: object, X: Any, device: Device | None = None, groups: Name | None = None
    ) -> Reader:
        """The reader of a Dask collection, made from its metadata."""
        name = type(estimator).__name__
        check_dimensions(name, X)
        # The metadata of a Dask array does not hold the number of columns.
        empty = X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))
        rows, _ = without_groups(name, empty, groups)
        stand_in = _as_estimator(Header(name))
        _check_feature_names(stand_in, rows, reset=True)
        names = getattr(stand_in, "feature_names_in_", None)
        return cls(Header(name, empty.shape[1] - (groups is not None), names), device, groups)

    def __call__(self, block: Rows) -> Block:
        """The rows of a block and, if there are groups, a hash of each row's group."""
        X, labels = without_groups(self.header.reader, block, self.groups)
        rows = read_rows(self.header, X)
        rows = rows if self.device is None else to_device(rows, self.device)
        return Block(rows, keys=None if labels is None else group_keys(self.header.reader, labels))


def read_weights(estimator: object, sample_weight: Weights | None, X: Array) -> Array:
    """One finite, non-negative weight for each row, as an array like the rows; ones if `sample_weight` is None.

    A weight that is lost to rounding in a sum with the largest weight becomes zero.
    """
    if sample_weight is None:
        return ones(X)
    name = type(estimator).__name__
    if is_foreign(X):
        w = namespace(X).asarray(sample_weight, dtype=X.dtype, device=device(X), copy=True)
        if w.shape != (X.shape[0],):
            raise ValueError(f"{name}: sample_weight must have shape ({X.shape[0]},), got {tuple(w.shape)}")
    else:
        try:
            # Double precision: in single precision, extreme weights would become zero or infinite before the checks.
            w = _check_sample_weight(sample_weight, X, dtype=np.float64, copy=True)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: sample_weight must be one finite weight a row: {error}") from None
    xp = namespace(w)
    if bool(xp.any(w < 0)) or not bool(xp.all(xp.isfinite(w))):
        raise ValueError(f"{name}: sample_weight must be finite and not negative, got a minimum of {float(xp.min(w))}")
    largest = float(xp.max(w))
    if not _LARGEST_WEIGHT[0] <= largest <= _LARGEST_WEIGHT[1]:
        low, high = _LARGEST_WEIGHT
        raise ValueError(
            f"{name}: sample_weight must have a largest value from {low:g} to {high:g}, because a row of weight w "
            f"counts as w rows; got {largest:g}"
        )
    heavy = w > float(np.finfo(np.float64).eps) * largest
    return xp.astype(xp.where(heavy, w, xp.zeros_like(w)), X.dtype)

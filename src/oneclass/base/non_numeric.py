"""Error messages for tables that are not numeric; they name the columns and a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import numpy as np

from ..core.typing import Rows

__all__ = ["check_dimensions", "framed", "is_time", "refusal", "refuse_text", "reshaping", "unwrapped"]

#: Most characters of a text that a message shows.
_LONGEST = 80


def check_dimensions(name: str, X: Any) -> None:
    """Raise ValueError unless `X` has two dimensions and holds real numbers."""
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(
            f"{name}: X must have two dimensions (rows, features), got shape {tuple(X.shape)}. {reshaping(X.ndim)}"
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise ValueError(f"{name}: Complex data not supported: X must hold real numbers")


def reshaping(dimensions: int) -> str:
    """How to make a table of an array that has another number of dimensions than two."""
    if dimensions > 2:
        return "Reshape your data: X.reshape(len(X), -1) has one row for each image or series"
    return "Reshape your data: X.reshape(-1, 1) has one feature, X.reshape(1, -1) is one row"


def refuse_text(name: str, X: object, read: str) -> None:
    """Raise TypeError if `X` is a path or text instead of rows; `read` says how to read a table file."""
    if isinstance(X, str | bytes | PurePath):
        raise TypeError(f"{name}: X must hold rows, got the text {str(X)[:_LONGEST]!r}; {read}")
    if isinstance(X, list | tuple) and len(X) and all(isinstance(row, str) for row in X):
        raise ValueError(
            f"{name}: X must have two dimensions (rows, features), got a list of text. Reshape your data: a row is a "
            "list of cells; for one column of words, pass [[word] for word in X] to oneclass.TableDetector"
        )


def framed(X: Any) -> Any:
    """A PyArrow table or record batch as a pandas data frame; other objects unchanged."""
    return X.to_pandas() if hasattr(X, "to_pandas") and hasattr(X, "num_rows") else X


def unwrapped(name: str, X: object) -> Any:
    """`X` as an array or a table. Dicts, lazy frames and masked arrays with masked cells are errors."""
    refuse_text(name, X, "read a file into rows, for example by numpy.loadtxt or pandas.read_csv, or use fit_chunks")
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(
            f"{name}: X must hold rows, got a {type(X).__name__}, which has not been read yet: pass X.collect()"
        )
    if type(X) is dict or (isinstance(X, list | tuple) and len(X) and isinstance(X[0], dict)):
        raise TypeError(f"{name}: X must be an array or a data frame, got dicts: pass pandas.DataFrame(X)")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        masked = int(np.ma.getmaskarray(X).sum())
        raise ValueError(
            f"{name}: X must hold a number in every cell, but {masked} cells of the array are masked; "
            "fill them, for example with X.filled(0), or drop their rows"
        )
    return np.asarray(X) if isinstance(X, list | tuple) else framed(X)


_DATES, _NO_NUMBERS, _MISSING = "dates or times", "no numbers", "missing values"
_REMEDIES = {
    _DATES: "turn dates into numbers, for example days since the first",
    _NO_NUMBERS: "encode the other values as numbers, for example with sklearn.preprocessing.OneHotEncoder",
    _MISSING: "fill or drop what is missing, for example with sklearn.impute.SimpleImputer",
}
_NAMED = 5  # upper bound on the columns named in one message


def refusal(name: str, X: Rows) -> str:
    """The columns of a table or an array that are no numbers, and what to do; empty if all are."""
    flaws = {label: flaw for label, column in _columns(X) if (flaw := _flaw(column))}
    if not flaws:
        return ""
    listed = [f"{label} holds {flaw}" for label, flaw in flaws.items()]
    more = f" and {len(listed) - _NAMED} more columns have such values" if len(listed) > _NAMED else ""
    remedies = "; ".join(remedy for flaw, remedy in _REMEDIES.items() if flaw in flaws.values())
    return (
        f"{name}: X must hold a number in every cell, but {', '.join(listed[:_NAMED])}{more}; {remedies}, or use "
        "oneclass.TableDetector, which accepts dates, text and missing values"
    )


def _columns(X: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(X, "columns"):
        for j, label in enumerate(X.columns):
            yield f"column {label!r}", X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fOUSmM":
        for j in range(X.shape[1]):
            yield f"column {j}", X[:, j]


def _flaw(column: Any) -> str | None:
    """The reason why a column is not numeric; None if it is numeric."""
    if is_time(column.dtype):
        return _DATES
    values = np.asarray(column)
    gaps = getattr(column, "isna", None) or getattr(column, "is_null", None)
    missing = np.asarray(gaps()) if gaps else np.zeros(len(values), dtype=bool)
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite
            numbers = values[~missing].astype(float)
    except (TypeError, ValueError, OverflowError):
        return _NO_NUMBERS
    return _MISSING if missing.any() or np.isnan(numbers).any() else None


def is_time(kind: object) -> bool:
    """Whether a dtype of NumPy, pandas or polars holds dates, times or durations."""
    return getattr(kind, "kind", None) in ("m", "M") or bool(getattr(kind, "is_temporal", bool)())

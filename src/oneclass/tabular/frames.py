"""Conversion of pandas, polars and PyArrow frames, and of arrays, to named columns, without importing these packages.

A column is a NumPy array, or PyArrow text if the frame holds such text. A NumPy array of Python strings would take ten
times the memory, and its conversion would double the run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..base.non_numeric import refuse_text, reshaping
from ..core.typing import Name, Rows
from ..engines.dask import refuse_dask

__all__ = ["INEXACT", "Frame", "Table", "Text", "Values", "as_array", "columns_of", "joined", "objects", "rows_of"]


class Text(Protocol):
    """A text column of PyArrow."""

    def __len__(self) -> int:
        """Number of cells."""
        ...

    def take(self, places: NDArray[np.intp], /) -> Text:
        """Some cells."""
        ...

    def to_pylist(self) -> list[str | None]:
        """The cells; None if missing."""
        ...


#: The cells of a column, the columns of a table by name, and the types that a table can be read from.
Values: TypeAlias = NDArray[np.generic] | Text
Table: TypeAlias = dict[Name, Values]
Frame: TypeAlias = Rows | Table

#: From this number on, different whole numbers may be the same float.
INEXACT = 2**53
_TEXT = ("string", "large_string")
#: Types of cells by the NumPy kind of the array.
_SORTS = {"i": "number", "u": "number", "f": "number", "b": "flag", "M": "time", "m": "span"}


def columns_of(X: Any, owner: str) -> Table:
    """The columns of a table by name; by number if the table has no names."""
    refuse_dask(owner, X)
    refuse_text(owner, X, "read a table file by pandas.read_csv, for example, or use fit_chunks with its path")
    if type(X) is dict:
        columns = [_from_any(column) for column in X.values()]
        if single := [name for name, column in zip(X, columns, strict=True) if getattr(column, "ndim", 1) == 0]:
            raise TypeError(
                f"{owner}: X must hold columns of cells, but {single[0]!r} holds a single cell; if X is one row, "
                "pass pandas.DataFrame([X])"
            )
        return _named(owner, list(X), columns)
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError(
            f"{owner}: X must hold rows, got a {type(X).__name__}, which has not been read yet: pass X.collect()"
        )
    if hasattr(X, "column_names") and hasattr(X, "schema"):  # a table of PyArrow; a record batch has no column_names
        return _named(owner, X.column_names, [_from_arrow(column) for column in X.columns])
    if hasattr(X, "to_pandas") and hasattr(X, "schema") and hasattr(X, "num_rows"):
        return _named(owner, X.schema.names, [_from_arrow(column) for column in X.columns])
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _named(owner, list(X.columns), [_from_pandas(column) for _, column in X.items()])
    if hasattr(X, "get_columns"):
        return _named(owner, X.columns, [_from_polars(column) for column in X.get_columns()])
    if hasattr(X, "tocsr"):
        raise TypeError(f"{owner}: sparse input is not supported: pass X.toarray()")
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], dict):
        raise TypeError(f"{owner}: X must be an array or a data frame, got dicts: pass pandas.DataFrame(X)")
    if hasattr(X, "to_frame") and hasattr(X, "iloc"):
        raise ValueError(
            f"{owner}: X must be a table of rows and columns, got a series: one row of a table is X.iloc[[i]], one "
            "column X[[name]]"
        )
    cells = _listed(X, np.array(X, dtype=object)) if isinstance(X, list | tuple) else _unmasked(X)
    if cells.dtype.kind == "c":
        raise ValueError(f"{owner}: Complex data not supported: X must hold real numbers")
    if cells.ndim != 2:
        raise ValueError(
            f"{owner}: X must be a table of rows and columns, got shape {cells.shape}. {reshaping(cells.ndim)}"
        )
    return {place: cells[:, place] for place in range(cells.shape[1])}


def as_array(column: Values) -> NDArray[np.generic]:
    """A column as an array; missing text is None."""
    return column if isinstance(column, np.ndarray) else objects(column.to_pylist())


def joined(parts: list[Values]) -> Values:
    """The concatenation of parts of one column."""
    if any(isinstance(part, np.ndarray) for part in parts):
        arrays = [as_array(part) for part in parts]
        beyond = any(array.dtype.kind in "iu" and _is_beyond(array) for array in arrays)
        if beyond or len({_SORTS.get(array.dtype.kind, "other") for array in arrays}) > 1:
            # np.concatenate would convert flags and times to numbers, and whole numbers to floats, which are not exact.
            arrays = [objects(list(array)) for array in arrays]
        return np.concatenate(arrays)
    import pyarrow

    chunks = [chunk for part in parts for chunk in getattr(part, "chunks", [part])]
    text: Text = pyarrow.chunked_array([chunk.cast(pyarrow.large_string()) for chunk in chunks])
    return text


def rows_of(X: Any, places: NDArray[np.intp]) -> Any:
    """The rows of a table with the given numbers."""
    if type(X) is dict:
        return {name: column.take(places) for name, column in columns_of(X, "").items()}
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if hasattr(X, "take") and hasattr(X, "schema"):
        return X.take(places.tolist())
    return (np.asarray(X) if isinstance(X, list | tuple) else X)[places]


def _named(owner: str, names: list[Name], columns: list[Values]) -> Table:
    table = dict(zip(names, columns, strict=True))
    if len(table) < len(columns):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{owner}: columns must have names of their own, but more than one is {twice!r}")
    return table


def _from_any(column: Any) -> Values:
    if hasattr(column, "dictionary_encode"):
        return _from_arrow(column)
    if hasattr(column, "iloc"):
        return _from_pandas(column)
    if isinstance(column, list | tuple):
        return _listed(column, objects(column))
    return _from_polars(column) if hasattr(column, "to_arrow") else _unmasked(column)


def _from_pandas(column: Any) -> Values:
    kind = column.dtype
    if getattr(kind, "storage", None) == "pyarrow":
        return _from_arrow(column.array.__arrow_array__())
    if getattr(kind, "tz", None) is not None:
        column = column.dt.tz_localize(None)  # what the clock on the wall says
    values = column.to_numpy() if isinstance(kind, np.dtype) or column.dtype.kind in "mM" else None
    if values is not None and values.dtype.kind in "biufmM":
        return np.asarray(values)
    gaps = column.isna().to_numpy()
    if kind.kind in "iuf" and not isinstance(kind, np.dtype) and not hasattr(kind, "categories"):
        numbers = np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
        if not _is_beyond(numbers):
            return numbers
    if hasattr(kind, "categories"):
        values = objects([*kind.categories, None])
        return np.asarray(values[column.cat.codes.to_numpy()])
    cells = np.array(column.to_numpy(dtype=object), copy=True)
    cells[gaps] = None
    return cells


def _from_polars(column: Any) -> NDArray[np.generic]:
    kind = column.dtype
    if getattr(kind, "time_zone", None) is not None:
        column = column.dt.replace_time_zone(None)  # what the clock on the wall says
    if (kind.is_numeric() and not kind.is_decimal()) or (kind.is_temporal() and str(kind) != "Time"):
        cells = np.asarray(column.to_numpy())  # whole numbers with gaps as floats
        if not (kind.is_integer() and cells.dtype.kind == "f" and _is_beyond(cells)):
            return cells
    return objects(column.to_list())


def _is_beyond(numbers: NDArray[Any]) -> bool:
    """Whether some of the numbers are too large for exact floats."""
    return bool((numbers >= INEXACT).any() or (numbers <= -INEXACT).any())


def _from_arrow(column: Any) -> Values:
    if str(column.type) in _TEXT:
        text: Text = column
        return text
    if getattr(column.type, "tz", None) is not None:
        import pyarrow.compute as pc

        column = pc.local_timestamp(column)  # what the clock on the wall says
    if str(column.type).partition("[")[0] in ("timestamp", "duration", "date32", "date64") or not column.null_count:
        cells = np.asarray(
            column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy()
        )
        if cells.dtype.kind in "biufmM":
            return cells
    return objects(column.to_pylist())


def _listed(given: Sequence[object], cells: NDArray[np.object_]) -> NDArray[np.generic]:
    """The array of `given` if all its cells are int or all are float; else the object array `cells`.

    For cells of mixed types, NumPy would convert True to a number, or all cells to text.
    """
    types = {*map(type, cells.ravel().tolist())}
    return np.asarray(given) if types in ({int}, {float}) else cells


def _unmasked(cells: Any) -> NDArray[np.generic]:
    """An array of cells, in which masked cells are missing values."""
    if not isinstance(cells, np.ma.MaskedArray):
        return np.asarray(cells)
    bare = np.array(cells.data, dtype=None if cells.dtype.kind in "fcmM" else object)
    bare[np.ma.getmaskarray(cells)] = None  # NumPy stores NaN in numbers and NaT in times
    return bare


def objects(cells: Sequence[object]) -> NDArray[np.object_]:
    """Cells as an object array, without NumPy's type conversion."""
    return np.fromiter(cells, dtype=object, count=len(cells))

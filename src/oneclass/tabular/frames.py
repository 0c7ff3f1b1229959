"""Frames of pandas, polars and PyArrow, and arrays, as named columns; none of these packages is imported.

A column is an array of NumPy, or text of PyArrow where that is what the frame holds: objects would take ten times its
memory, and as long to make as all that is done with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.typing import Name, Rows
from ..engines.dask import refuse_dask

__all__ = ["INEXACT", "Frame", "Table", "Text", "Values", "as_array", "columns_of", "joined", "objects", "rows_of"]


class Text(Protocol):
    """Text of PyArrow."""

    def __len__(self) -> int:
        """Number of cells."""
        ...

    def take(self, places: NDArray[np.intp], /) -> Text:
        """Some cells."""
        ...

    def to_pylist(self) -> list[str | None]:
        """The cells, None in gaps."""
        ...


#: A column's cells, columns by their names, and all that these are read from.
Values: TypeAlias = NDArray[np.generic] | Text
Table: TypeAlias = dict[Name, Values]
Frame: TypeAlias = Rows | Table

#: From here on different whole numbers are the same float.
INEXACT = 2**53
_TEXT = ("string", "large_string")
#: Sorts of cells by the kinds of arrays that hold them.
_SORTS = {"i": "number", "u": "number", "f": "number", "b": "flag", "M": "time", "m": "span"}


def columns_of(X: Any, owner: str) -> Table:
    """The columns of a table by their names; by their places, where they have none."""
    refuse_dask(owner, X)
    if type(X) is dict:
        columns = [_from_any(column) for column in X.values()]
        if single := [name for name, column in zip(X, columns, strict=True) if getattr(column, "ndim", 1) == 0]:
            raise TypeError(
                f"{owner}: X must hold columns of cells, but {single[0]!r} holds a single one: pass one row, if it is "
                "one, as pandas.DataFrame([X])"
            )
        return _named(owner, list(X), columns)
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError(f"{owner}: X must hold rows, got a {type(X).__name__}, which has read none: pass X.collect()")
    if hasattr(X, "column_names") and hasattr(X, "schema"):  # a table of PyArrow; a record batch has no column_names
        return _named(owner, X.column_names, [_from_arrow(column) for column in X.columns])
    if hasattr(X, "to_pandas") and hasattr(X, "schema") and hasattr(X, "num_rows"):
        return _named(owner, X.schema.names, [_from_arrow(column) for column in X.columns])
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _named(owner, list(X.columns), [_from_pandas(X.iloc[:, j]) for j in range(X.shape[1])])
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
            f"{owner}: X must be a table of rows and columns, got shape {cells.shape}. Reshape your data: "
            "X.reshape(-1, 1) has one column, X.reshape(1, -1) is one row"
        )
    return {place: cells[:, place] for place in range(cells.shape[1])}


def as_array(column: Values) -> NDArray[np.generic]:
    """A column as an array, None in the gaps of text."""
    return column if isinstance(column, np.ndarray) else objects(column.to_pylist())


def joined(parts: list[Values]) -> Values:
    """Parts of one column, one after the other."""
    if any(isinstance(part, np.ndarray) for part in parts):
        arrays = [as_array(part) for part in parts]
        beyond = any(array.dtype.kind in "iu" and _is_beyond(array) for array in arrays)
        if beyond or len({_SORTS.get(array.dtype.kind, "other") for array in arrays}) > 1:
            # One array would make numbers of flags and of times, and floats of whole numbers, some of which merge.
            arrays = [objects(list(array)) for array in arrays]
        return np.concatenate(arrays)
    import pyarrow

    chunks = [chunk for part in parts for chunk in getattr(part, "chunks", [part])]
    text: Text = pyarrow.chunked_array([chunk.cast(pyarrow.large_string()) for chunk in chunks])
    return text


def rows_of(X: Any, places: NDArray[np.intp]) -> Any:
    """Some rows of a table."""
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
    """Whether floats are no longer exact for some of the numbers."""
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
    """The array of given lists: `cells`, but for numbers of one type. Of others NumPy may make what they are not.

    Beside numbers it makes a number of True, and beside text it makes text of all.
    """
    types = {*map(type, cells.ravel().tolist())}
    return np.asarray(given) if types in ({int}, {float}) else cells


def _unmasked(cells: Any) -> NDArray[np.generic]:
    """An array of cells, those that are masked as gaps."""
    if not isinstance(cells, np.ma.MaskedArray):
        return np.asarray(cells)
    bare = np.array(cells.data, dtype=None if cells.dtype.kind in "fcmM" else object)
    bare[np.ma.getmaskarray(cells)] = None  # in numbers that is NaN, in times NaT
    return bare


def objects(cells: Sequence[object]) -> NDArray[np.object_]:
    """Cells of any kind as an array, whatever they would be to NumPy."""
    return np.fromiter(cells, dtype=object, count=len(cells))

"""Groups of rows that belong together, such as persons, machines or days, given by labels or by a column."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..core.arrays import Array, is_foreign, namespace, to_numpy
from ..core.groups import Groups, OneGroupError
from ..core.row_sample import mixed
from ..core.typing import Labels, Name, Rows
from .non_numeric import framed

__all__ = [
    "column_of",
    "group_keys",
    "is_column",
    "is_missing",
    "joined_labels",
    "label_texts",
    "read_groups",
    "read_labels",
    "split_off",
    "without_groups",
]


def read_groups(estimator: object, groups: Labels | None, n_rows: int, w: Array | None = None) -> Groups | None:
    """Groups of rows that have the same label; None if `groups` is None or if each row is a group of its own.

    A row whose weight is not 1 counts as a group of copies. Groups are then returned even if each holds one row. With
    several columns of labels, rows that share a label of any column are in one group.
    """
    if groups is None:
        return None
    name = type(estimator).__name__
    labels = read_labels(name, groups)
    if labels.shape[:1] != (n_rows,) or labels.ndim > 2:
        raise ValueError(
            f"{name}: groups must be one label a row, of shape ({n_rows},), or several, of shape ({n_rows}, k); got "
            f"{labels.shape}"
        )
    numbers = _numbers(joined_labels(name, labels))
    found = Groups(numbers, by_row=getattr(estimator, "rate_by", "group") == "row")
    if found.count < 2:
        raise OneGroupError(f"{name}: groups must be at least two, since one is held out; got {found.count}")
    alone = found.count == n_rows and (w is None or bool(namespace(w).all(w == 1)))
    return None if alone else found


def _numbers(labels: NDArray[np.generic]) -> NDArray[np.intp]:
    """The number of each label among the distinct ones."""
    found = np.unique(labels.astype(str) if labels.dtype == object else labels, return_inverse=True)[1]
    return np.asarray(found, dtype=np.intp).reshape(-1)


def joined_labels(name: str, labels: NDArray[np.generic]) -> NDArray[np.generic]:
    """One label for each row. Of several columns of labels, rows that are connected by equal labels get the same."""
    if labels.ndim == 1:
        return labels
    n = len(labels)
    ends, first = [], n
    for column in labels.T:
        numbers = _numbers(column)
        ends.append(first + numbers)
        first += int(numbers.max()) + 1
    rows = np.tile(np.arange(n), len(ends))
    links = csr_array((np.ones(len(rows), dtype=bool), (rows, np.concatenate(ends))), shape=(first, first))
    found = _numbers(connected_components(links, directed=False)[1][:n])
    if n and not found.any():
        raise OneGroupError(
            f"{name}: groups of several columns must form at least two sets of rows that share no label, since one set "
            "is held out, but here all rows are connected, for example because each patient was measured on each "
            "device; give one column of groups. The rate then holds for rows with new labels in this column and known "
            "labels in the others"
        )
    return found


def read_labels(name: str, groups: Labels, role: str = "groups") -> NDArray[np.generic]:
    """Labels of rows as an array. Missing labels are an error that names their `role`."""
    labels = to_numpy(groups) if is_foreign(groups) else np.asarray(groups)
    if labels.dtype.kind in "UT" and isinstance(groups, list | tuple):
        labels = np.asarray(groups, dtype=object)  # NumPy has turned NaN into the text "nan"
    missing = is_missing(labels)
    if np.any(missing):
        raise ValueError(
            f"{name}: {role} must name the {role.removesuffix('s')} of every row, but {int(missing.sum())} labels are "
            "missing"
        )
    return labels


def is_missing(labels: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Whether each label is missing: None, NaN, NaT, pandas' NA or an empty string."""
    if labels.dtype.kind in "fmM":
        return np.asarray(labels != labels)
    if labels.dtype.kind in "OUT":
        return np.array([_is_missing(label) for label in labels.flat], dtype=bool).reshape(labels.shape)
    return np.zeros(labels.shape, dtype=bool)


def _is_missing(label: object) -> bool:
    """Whether a label is None, NaN, NaT, pandas' NA or an empty string."""
    itself = label == label
    return label is None or not isinstance(itself, bool | np.bool_) or not itself or label == ""


def column_of(estimator: object, groups: Labels | Name | None, role: str = "groups") -> Name | None:
    """The name or number of the column that holds the groups; an error for labels, which need all rows in memory."""
    if groups is None or is_column(groups):
        return groups
    name, kind = type(estimator).__name__, type(groups).__name__
    raise ValueError(
        f"{name}: {role} must name a column of X, by name or number, if rows are read in chunks; got {kind}"
    )


def is_column(groups: object) -> TypeGuard[Name]:
    """Whether groups or segments are given as the name or number of a column."""
    return isinstance(groups, str | Integral) and not isinstance(groups, bool | np.bool_)


def without_groups(
    name: str, given: Rows, groups: Labels | Name | None, role: str = "groups"
) -> tuple[Rows, Labels | None]:
    """Split the group column off the rows if `groups` is a column name or number; else return both unchanged."""
    rows, (labels,) = split_off(name, given, {role: groups})
    return rows, labels


def split_off(
    name: str, given: Rows, labels: Mapping[str, Labels | Name | None]
) -> tuple[Rows, tuple[Labels | None, ...]]:
    """Rows without the columns that hold labels, and the labels. `labels` gives both by role: groups or segments."""
    if not any(map(is_column, labels.values())):
        return given, tuple(labels.values())  # type: ignore[arg-type]  # no column: labels, or none
    X: Any = np.asarray(given) if isinstance(given, list | tuple) else framed(given)
    places = {role: _column(name, X, of, role) for role, of in labels.items() if is_column(of)}
    rest = [i for i in range(X.shape[1]) if i not in places.values()]
    if is_foreign(X):
        xp = namespace(X)
        rows: Any = xp.take(X, xp.asarray(rest, device=X.device), axis=1)
    else:
        rows = _cells(X)[:, rest]
    found: list[Any] = [_cells(X)[:, places[role]] if role in places else of for role, of in labels.items()]
    return rows, tuple(found)


def _cells(X: Any) -> Any:
    """What takes rows and columns by their numbers."""
    return getattr(X, "iloc", X)


def _column(name: str, X: Any, groups: Name, role: str) -> int:
    """The number of the column that holds the groups or segments."""
    d, names = int(X.shape[1]), list(getattr(X, "columns", ()))
    if groups in names:
        return names.index(groups)
    if isinstance(groups, Integral) and -d <= int(groups) < d:
        return int(groups) % d
    known = f"one of {names}" if names else f"a number from 0 to {d - 1}"
    raise ValueError(f"{name}: {role} must be labels, one a row, or name a column of X, {known}; got {groups!r}")


def group_keys(name: str, groups: Labels) -> NDArray[np.int64]:
    """A 64-bit hash of each label's text, the same in every chunk and process; 7, 7.0 and "7" have the same hash."""
    text, places = _distinct_texts(read_labels(name, groups))
    letters = np.ascontiguousarray(text).view(np.uint32).reshape(len(text), -1).astype(np.int64)
    keys = np.zeros(len(text), dtype=np.int64)
    for letter in letters.T:  # shorter labels are padded with zeros, which do not change the keys
        keys = np.where(letter == 0, keys, mixed(keys, letter))
    return np.asarray(keys[places])


def label_texts(labels: NDArray[np.generic]) -> NDArray[np.str_]:
    """The text of each label; 7, 7.0 and "7" have the same text."""
    text, places = _distinct_texts(labels)
    return text[places]


def _distinct_texts(labels: NDArray[np.generic]) -> tuple[NDArray[np.str_], NDArray[np.intp]]:
    """The texts of the distinct labels, and the place of each row's label among them."""
    distinct, places = np.unique(labels.astype(str) if labels.dtype == object else labels, return_inverse=True)
    if distinct.dtype.kind == "f":
        whole = (distinct == np.floor(distinct)) & (np.abs(distinct) < 2**53)
        text = np.where(whole, np.where(whole, distinct, 0).astype(np.int64).astype(str), distinct.astype(str))
    else:
        text = distinct.astype(str)
    return text, places.reshape(-1)

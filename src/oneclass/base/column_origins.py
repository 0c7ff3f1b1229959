"""Inversion of preprocessing: the source column of each preprocessed column, and rows in their original units."""

from __future__ import annotations

import re
from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

__all__ = ["NoWayBackError", "folded", "origins", "restored"]

Index = NDArray[np.intp]
F = TypeVar("F", bound=np.floating)


class NoWayBackError(ValueError):
    """The output of a transformer cannot be mapped back to its input columns."""

    def __init__(self, transformer: object, why: str) -> None:
        super().__init__(f"{type(transformer).__name__} {why}")


def folded(shares: NDArray[F], of: Index, n: int) -> NDArray[F]:
    """Shares of the preprocessed columns, summed for each of the n source columns; `of` holds the source columns."""
    total = np.zeros((n, len(shares)), dtype=shares.dtype)
    np.add.at(total, of, shares.T)
    return total.T


def origins(transformer: object, n: int) -> Index:
    """The number of the source column, out of n, for each output column of a fitted transformer."""
    if _does_nothing(transformer):
        return np.arange(n)
    if isinstance(transformer, Pipeline):
        found = np.arange(n)
        for _, step in transformer.steps:
            found = found[origins(step, len(found))]
        return found
    if isinstance(transformer, FeatureUnion):
        parts = [origins(part, n) for _, part in transformer.transformer_list if part != "drop"]
        return np.concatenate(parts)
    if isinstance(transformer, ColumnTransformer):
        branches = _branches(transformer)
        made = np.empty(sum(place.stop - place.start for _, _, place in branches), dtype=np.intp)
        for branch, columns, place in branches:
            made[place] = columns[origins(branch, len(columns))]
        return made
    return _origins_by_name(transformer, n)


#: A column number between control characters, which names and categories do not contain.
_MARK = "\x1f{}\x1f"
_MARKED = re.compile(_MARK.format(r"(\d+)"))


def _origins_by_name(transformer: object, n: int) -> Index:
    """Source columns, found in the output names of the transformer when the input names are column numbers."""
    if not hasattr(transformer, "get_feature_names_out"):
        raise NoWayBackError(transformer, "does not name the columns that it makes")
    names = _nameless(transformer).get_feature_names_out([_MARK.format(j) for j in range(n)])
    found = [{int(j) for j in _MARKED.findall(str(name))} if n > 1 else {0} for name in names]
    if any(len(columns) != 1 for columns in found):
        raise NoWayBackError(transformer, "computes a column from several others")
    return np.array([column for columns in found for column in columns], dtype=np.intp)


def restored(transformer: Any, Z: NDArray[np.generic]) -> NDArray[np.generic]:
    """Inverse of a fitted transformer; columns that it dropped hold NaN, or None if not all columns are numbers."""
    if _does_nothing(transformer):
        return Z
    if isinstance(transformer, Pipeline):
        for _, step in reversed(transformer.steps):
            Z = restored(step, Z)
        return Z
    if isinstance(transformer, ColumnTransformer):
        columns: dict[int, NDArray[np.generic]] = {}
        for branch, numbers, place in _branches(transformer):
            part = restored(branch, Z[:, place])
            columns = {int(j): part[:, i] for i, j in enumerate(numbers)} | columns
        return _table(columns, len(Z), transformer.n_features_in_)
    if isinstance(transformer, SelectorMixin) or type(transformer).__module__.startswith("sklearn.impute"):
        # These transformers copy columns. The indicator columns that an imputer adds come last.
        kept, n = origins(transformer, transformer.n_features_in_), transformer.n_features_in_
        return _table({int(j): Z[:, np.flatnonzero(kept == j)[0]] for j in np.unique(kept)}, len(Z), n)
    silent = isinstance(transformer, FunctionTransformer) and transformer.inverse_func is None
    if silent or not hasattr(transformer, "inverse_transform"):
        raise NoWayBackError(transformer, "has no inverse")
    return np.asarray(_nameless(transformer).inverse_transform(_decided(transformer, Z)))


def _does_nothing(transformer: object) -> bool:
    if isinstance(transformer, FunctionTransformer):
        return transformer.func is None and transformer.inverse_func is None
    return transformer is None or isinstance(transformer, str)  # "passthrough"


def _branches(transformer: ColumnTransformer) -> list[tuple[object, Index, slice]]:
    """The transformers with the numbers of their input columns and the slice of their output columns."""
    names = list(getattr(transformer, "feature_names_in_", ()))
    found = []
    for name, branch, columns in transformer.transformers_:
        place = transformer.output_indices_[name]
        if place.stop > place.start:
            found.append((branch, _numbers(columns, names, transformer.n_features_in_), place))
    return found


def _numbers(columns: Any, names: list[object], n: int) -> Index:
    """Numbers of columns that are given by name, number, slice or mask."""
    if isinstance(columns, slice):
        first, last = (names.index(end) if isinstance(end, str) else end for end in (columns.start, columns.stop))
        # A slice of labels includes the last one.
        columns = slice(first, last + 1 if isinstance(columns.stop, str) else last, columns.step)
    elif np.asarray(columns).dtype.kind in "OUS":
        columns = [names.index(name) for name in np.atleast_1d(columns)]
    found: Index = np.arange(n)[columns]
    return np.atleast_1d(found)


def _nameless(transformer: object) -> Any:
    """A copy without `feature_names_in_`, so that it accepts arrays without names, and any input names."""
    bare = copy(transformer)
    vars(bare).pop("feature_names_in_", None)
    return bare


def _decided(transformer: object, Z: NDArray[Any]) -> NDArray[Any]:
    """Encoded categories rounded to the most likely category, which the inverse of an encoder needs."""
    if isinstance(transformer, OrdinalEncoder):
        return np.asarray(np.clip(np.rint(Z), 0, [len(known) - 1 for known in transformer.categories_]))
    if not isinstance(transformer, OneHotEncoder) or transformer.drop_idx_ is None:
        return Z
    Z, of = np.array(Z), origins(transformer, transformer.n_features_in_)
    for j in np.flatnonzero([dropped is not None for dropped in transformer.drop_idx_]):
        shares = Z[:, of == j]
        # The dropped category is encoded as zeros. Its share is 1 minus the sum of the other shares.
        unseen = 1 - shares.sum(axis=1) > shares.max(axis=1, initial=-np.inf)
        Z[:, of == j] = np.where(unseen[:, None], 0.0, shares)
    return Z


def _table(columns: dict[int, NDArray[np.generic]], rows: int, n: int) -> NDArray[np.generic]:
    numbers = all(column.dtype.kind in "fiub" for column in columns.values())
    table = np.full((rows, n), np.nan) if numbers else np.full((rows, n), None, dtype=object)
    for j, column in columns.items():
        table[:, j] = column
    return table

"""Column plans as ONNX graphs, with one input for each column that the plan uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tabular.cells import Cells, Words
from ...tabular.codes import CategoryCode, NumberCode
from ...tabular.plan import Column, ColumnPlan
from .tensor import Graph, Tensor, concatenate, where

__all__ = ["encoded", "inputs"]


def inputs(plan: ColumnPlan, kind: np.dtype[np.generic]) -> dict[str, np.dtype[np.generic]]:
    """The type of each column's input, by name.

    Dates, and names that inputs cannot have, are errors. A name must not begin with a slash, because the names of the
    tensors inside the graph do.
    """
    found: dict[str, Any] = {}
    for column in plan.used:
        name = str(column.name)
        if not name or name.startswith("/") or not _is_unicode(name):
            raise ValueError(
                f"to_onnx: a column must not be called {name!r}: names of inputs are valid Unicode, not empty, and "
                "begin with no slash"
            )
        if name in found:
            raise ValueError(f"to_onnx: columns must have different names as text, but two are called {name!r}")
        if not isinstance(column.code, NumberCode | CategoryCode):
            raise NotImplementedError(
                f"column {column.name!r}, a {column.kind}, cannot be read by an ONNX graph: drop it"
            )
        found[name] = np.dtype(object) if isinstance(column.code, CategoryCode) else kind
    return found


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def encoded(plan: ColumnPlan, graph: Graph) -> Tensor:
    """The encoded table, as `ColumnPlan.encode` computes it."""
    parts, fresh = [], []
    for column in plan.used:
        cells = Tensor(graph, str(column.name))
        if isinstance(column.code, CategoryCode):
            parts.append(_category(column.code, cells))
            continue
        values = cells.cast(np.float64)
        if column.code.lenient:  # type: ignore[union-attr]
            values = where(abs(values) < np.inf, values, np.nan)  # infinity is a word, and words count as missing
        parts += _number(column, values)
        if column.code.gap == 0:  # type: ignore[union-attr]
            fresh.append(_gaps(values))
    if fresh:
        total = fresh[0] if len(fresh) == 1 else fresh[0].do("Sum", *fresh[1:])
        parts.append(total * plan.new_gap)
    return parts[0] if len(parts) == 1 else concatenate(*parts)


def _gaps(values: Tensor) -> Tensor:
    return where(values.do("IsNaN"), 1.0, 0.0)


def _number(column: Column, values: Tensor) -> list[Tensor]:
    code: Any = column.code
    filled = where(values.do("IsNaN"), code.centre, values)
    return [filled, _gaps(values) * code.gap] if code.gap else [filled]


def _category(code: CategoryCode, cells: Tensor) -> Tensor:
    """The encoded category, from a table with one row for each value and a last row for new values.

    A missing value is the empty string.
    """
    levels = [*code.levels, object()]  # stands for new values: equal to no other value
    words = Words(np.array([*levels, None], dtype=object)[:-1], np.arange(len(levels)))
    rows = code.encode(Cells("words", words=words))
    keys = ["" if level is None else level for level in code.levels]
    places = cells.do("LabelEncoder", domain="ai.onnx.ml", keys_strings=keys, values_int64s=list(range(len(keys))),
                      default_int64=len(keys))  # fmt: skip
    return cells.graph.apply("Gather", rows, places.do("Reshape", [-1]))

"""Segments of rows in fits and verbs: reading their labels, and warnings of segments with few or no training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..core.arrays import is_foreign, to_numpy
from ..core.calibration import Calibration
from ..core.segments import RowSegments, Segments
from ..core.threshold import Decision
from ..core.typing import Labels, Name, Rows
from ..engines.dask import is_dask
from ..io.messages import one_line
from .groups import label_texts, read_labels, split_off
from .non_numeric import framed
from .warnings import SegmentWarning, UnreachableRateWarning, warn

__all__ = [
    "Segmented",
    "label_columns_of",
    "read_segment_texts",
    "refuse_training_losses",
    "segments_of",
    "warn_of_few",
    "warn_of_small",
    "without_labels",
]

#: Most segments that a warning names.
_NAMED = 3


class Segmented(Protocol):
    """A fitted classifier whose rows may have segments."""

    segments_: Segments | None
    group_column_: Name | None

    @property
    def n_features_in_(self) -> int:
        """Number of columns that are features."""
        ...


def read_segment_texts(name: str, segments: Labels, n_rows: int) -> NDArray[np.str_]:
    """The text of the segment of each training row."""
    labels = read_labels(name, segments, "segments")
    _check_length(name, labels, n_rows)
    return label_texts(labels)


def _check_length(name: str, labels: NDArray[np.generic], n_rows: int) -> None:
    if labels.shape != (n_rows,):
        raise ValueError(f"{name}: segments must be one label a row, of shape ({n_rows},), got {labels.shape}")


def refuse_training_losses(name: str, decision: Decision) -> None:
    """Raise an error for a threshold rule that does not rank held-out losses."""
    if not decision.held_out:
        raise ValueError(
            f"{name}: segments must be None with threshold={decision.rule!r}, which does not use held-out losses; fit "
            "with threshold='held_out'"
        )


def without_labels(model: Segmented, X: Rows) -> Rows:
    """The rows without the columns of segments and of groups, if the fit had such columns and the rows have them."""
    return split_off(type(model).__name__, X, label_columns_of(model, X))[0]


def label_columns_of(model: Segmented, X: Rows) -> dict[str, Name]:
    """The columns of segments and groups, of the fit of a classifier or of a search, that the rows have."""
    known = vars(model)  # models saved by earlier versions lack these attributes
    segments = known.get("segment_column_") if known.get("segments_") is None else known["segments_"].column
    groups = known.get("group_column_")
    if segments is None and groups is None:
        return {}
    return _label_columns(X, model.n_features_in_, {"segments": segments, "groups": groups})


def _label_columns(X: Any, n_features: int, columns: Mapping[str, Name | None]) -> dict[str, Name]:
    """Those of the columns of labels that the rows have beside their features.

    Columns that are given by number are there if the rows have so many further columns; if only one further column is
    there, it is the first one.
    """
    asked = {role: column for role, column in columns.items() if column is not None}
    if not asked:
        return {}
    table = np.asarray(X) if isinstance(X, list | tuple) else framed(X)
    names = getattr(table, "columns", ())
    shape: tuple[int, ...] = getattr(table, "shape", ())
    found = {role: column for role, column in asked.items() if isinstance(column, str) and column in names}
    numbers = {role: column for role, column in asked.items() if not isinstance(column, str)}
    further = shape[1] - n_features - len(found) if len(shape) == 2 else 0
    return found | dict(list(numbers.items())[: further if further in (1, len(numbers)) else 0])


def segments_of(
    model: Segmented, X: Rows, segments: Labels | Name | None, calibration: Calibration | None
) -> tuple[Rows, RowSegments | None]:
    """New rows without their column of segments, and their segments; None if the fit had no segments."""
    name, known = type(model).__name__, vars(model).get("segments_")
    if known is None or calibration is None:
        if segments is not None:
            raise ValueError(
                f"{name}: segments must be None, because the fit had no segments; got {one_line(segments, 60)}"
            )
        return X, None
    if is_dask(X):
        raise ValueError(f"{name}: X must be in memory, because the fit had segments, or be scored by score_chunks")
    columns = label_columns_of(model, X)
    if segments is None:
        segments = columns.get("segments")
    if segments is None:
        where = f"the column {known.column!r} of X" if known.column is not None else "one label a row"
        raise ValueError(f"{name}: segments must be given, as {where}, because the fit had segments; got None")
    rows, (labels, *_) = split_off(
        name, X, {"segments": segments, **{f"column of {role}": columns[role] for role in columns}}
    )
    codes = known.codes(_texts_of_new(labels))
    _check_length(name, codes, _num_samples(rows))
    if (unknown := codes < 0).any():
        new = np.unique(_texts_of_new(labels)[unknown]).tolist()
        warn(
            f"{name}: no training row has the segment {_listed(new)}; such rows are ranked among all training rows, so "
            "that their false-alarm rate is unknown",
            SegmentWarning,
        )
    return rows, RowSegments(known, codes, calibration)


def _texts_of_new(labels: Labels | None) -> NDArray[np.str_]:
    """The text of each label; missing labels are segments without training rows."""
    read: Any = to_numpy(labels) if is_foreign(labels) else np.asarray(labels)
    if isinstance(labels, list | tuple) and read.dtype.kind in "UT":
        read = np.asarray(labels, dtype=object)
    return label_texts(read)


def warn_of_few(name: str, rows: RowSegments, delta: float) -> None:
    """Warn of segments of new rows that have too few training rows for a rate given to a verb."""
    few = {label: own for label, own in rows.calibrations.items() if 0 < delta < own.smallest_budget * (1 - 1e-9)}
    if few:
        listed = _listed([f"{label!r} ({own.smallest_budget:.2g})" for label, own in few.items()])
        warn(
            f"{name}: delta={delta:g} is below the smallest rate that the training rows of {len(few)} segment"
            f"{'s' if len(few) > 1 else ''} can keep: {listed}; their threshold is the lowest held-out score",
            UnreachableRateWarning,
        )


def warn_of_small(name: str, segments: Segments, rate: float) -> None:
    """Warn of segments with too few training rows for the rate."""
    small = [
        f"{label!r} ({own.total:g}, at most {max(rate, own.smallest_budget):.2g})"
        for label, own, enough in zip(segments.labels, segments.calibrations, segments.enough, strict=True)
        if not enough
    ]
    if small and rate > 0:
        warn(
            f"{name}: too few training rows or groups for the rate {rate:g} in {len(small)} segment"
            f"{'s' if len(small) > 1 else ''}, with their number and their false-alarm rate: {_listed(small)}; their "
            "rows are ranked among all rows too",
            UnreachableRateWarning,
        )


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    return ", ".join(items[:_NAMED]) + more

"""The column of labels of a table: which rows are normal, which are outliers, and which have no label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Labelled", "refuse_gaps", "split_labels"]

#: Most labels that an error message lists.
_LABELS = 10


class Labelled(NamedTuple):
    """A table without its column of labels, and masks of its rows."""

    rows: pd.DataFrame
    normal: NDArray[np.bool_]
    missing: NDArray[np.bool_]

    @property
    def y(self) -> NDArray[np.float64]:
        """Labels: +1 for normal rows, -1 for outliers, NaN for rows without a label."""
        return np.where(self.missing, np.nan, np.where(self.normal, 1.0, -1.0))


def split_labels(rows: pd.DataFrame, label: str, target: str | None, *, answers: bool = False) -> Labelled:
    """The table without its column of labels, and which rows are normal or have no label.

    If labels are `answers`, all of them may name outliers.
    """
    by_name = {str(name): name for name in rows.columns}
    if label not in by_name:
        raise ValueError(f"--label must name a column of the table, but there is no {label!r}")
    from ..base.labels import is_target, read_answers
    from ..tabular.text import NOTHING

    words = rows[by_name[label]].astype(str).str.strip()
    missing = (rows[by_name[label]].isna() | (words.str.lower().isin(NOTHING) & (words != target))).to_numpy(dtype=bool)
    labels: Any = words.to_numpy(dtype=object)[~missing]
    if not len(labels):
        raise ValueError(f"--label must name a column with labels, but {label!r} is empty")
    normal = np.zeros(len(rows), dtype=bool)
    try:
        known = labels if target is not None else np.array([*map(_number, labels)], dtype=object)
        if answers and target is None:
            normal[~missing] = read_answers("feedback", known, len(known))[0]
        elif not answers or (known == target).any():
            normal[~missing] = is_target(known, target, caller="--label")
    except ValueError:
        listed = ", ".join(map(repr, sorted(set(labels))[:_LABELS]))
        got = "; name it with --target" if target is None else f"; got {target!r}"
        raise ValueError(f"--target must be the label of normal rows, one of {listed}{got}") from None
    return Labelled(rows.drop(columns=by_name[label]), normal, missing)


def refuse_gaps(found: Labelled, label: str) -> None:
    """Raise an error if a row has no label."""
    if found.missing.any():
        raise ValueError(
            f"--label must name a column that has a label in every row, but {label!r} has none in "
            f"{found.missing.sum()} of {len(found.rows)}, first in row {int(found.missing.argmax()) + 1}: add labels, "
            "or remove these rows"
        )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text

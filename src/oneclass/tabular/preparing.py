"""Preparation of training tables: the column plan, the encoded rows and the groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.groups import group_keys, joined_labels, read_labels
from ..base.labels import is_target, read_targets
from ..base.warnings import collected
from ..core.typing import Labels, Name, Rows, Weights
from ..engines.chunks import Source, Transformed
from .bad_cells import GAPS
from .frames import Table, as_array, columns_of
from .plan import ColumnPlan
from .planning import Asked, NoColumnError, make_plan
from .sampling import sample_of

if TYPE_CHECKING:
    from .detector import TableDetector

__all__ = ["prepared", "prepared_chunks"]

Matrix = NDArray[np.float64]


class Planned(Protocol):
    """An object whose parameters are those of a column plan; messages name its class."""

    @property
    def columns(self) -> Mapping[Name, str] | None:
        """The kind of some columns."""
        ...

    @property
    def estimator(self) -> object:
        """The classifier, which may have the parameter `target`."""
        ...

    @property
    def date_format(self) -> str | None:
        """The format of dates."""
        ...

    @property
    def merge_variants(self) -> bool:
        """Whether spellings of a category are merged."""
        ...

    @property
    def bad_cells(self) -> str:
        """What cells of another type than their column mean."""
        ...


def prepared(
    detector: Planned,
    X: Rows,
    groups: Any,
    y: Labels | None = None,
    sample_weight: Weights | None = None,
    segments: Name | None = None,
) -> tuple[ColumnPlan, Matrix, Labels | None]:
    """The column plan of the training rows, the encoded rows, and the group of each row.

    `segments` is a column that is not a feature.
    """
    owner = type(detector).__name__
    table = columns_of(X, owner)
    column = None if groups is None or np.ndim(groups) > 0 else groups
    _refuse_unknown(column, table, owner)
    _refuse_unknown(segments, table, owner, "segments")
    targets = _targets(detector, table, y, sample_weight) if table else None
    learnt = table if targets is None else _chosen(table, targets)
    labels = as_array(table[column]) if column is not None else groups
    if np.ndim(labels) == 2:
        labels = joined_labels(owner, read_labels(owner, labels))
    together = None if groups is None else group_keys(owner, labels)
    if together is not None and len(together) != max(map(len, table.values()), default=0):
        together = None  # the classifier raises the error
    plan_of = partial(make_plan, asked=_asked(detector), owner=owner, groups=column, segments=segments)
    try:
        plan = plan_of(
            learnt if table else X, together=together if together is None or targets is None else together[targets]
        )
    except NoColumnError:
        if targets is None:
            raise
        # All columns are constant in the targets. Plan with the outliers too, because columns may differ there.
        plan = plan_of(table, together=together)
    rows = plan.coded(plan.read(learnt, owner=owner, training=True))  # the plan has told of cells that are no values
    if targets is not None:
        known, rows = rows, np.empty((len(targets), rows.shape[1]))
        rows[targets] = known
        with collected():  # outliers may hold values that no target has
            rows[~targets] = plan.coded(plan.read(_chosen(table, ~targets), owner=owner))
    return plan, rows, labels


def _asked(detector: Planned) -> Asked:
    return Asked(detector.columns, detector.date_format, detector.merge_variants, detector.bad_cells)


def _refuse_unknown(column: Name | None, table: Table, owner: str, role: str = "groups") -> None:
    if column is not None and column not in table:
        raise ValueError(f"{owner}: {role} must name a column of the table, but there is no {column!r}")


def _targets(
    detector: Planned, table: Table, y: Labels | None, sample_weight: Weights | None
) -> NDArray[np.bool_] | None:
    """Mask of the rows for the plan, which are the targets of positive weight; None if these are all rows."""
    target, n = getattr(detector.estimator, "target", None), max(len(column) for column in table.values())
    with collected():  # the classifier raises the same warning
        if target is None or y is None:
            found = read_targets(detector, y, n)
        else:
            found = is_target(y, target, caller=type(detector).__name__)
    weighs = None if sample_weight is None else np.asarray(sample_weight) > 0
    if weighs is not None and weighs.shape == (n,):  # else the classifier raises the error
        found = weighs if found is None else found & weighs
    return None if found is None or found.all() else found


def _chosen(table: Table, rows: NDArray[np.bool_]) -> Table:
    places = np.flatnonzero(rows)
    return {name: column.take(places) for name, column in table.items()}


def prepared_chunks(detector: TableDetector, chunks: Source, groups: Name | None) -> tuple[ColumnPlan, Transformed]:
    """The column plan from a sample of a source, and the source of encoded blocks.

    If there are groups, the last column of a block holds the group of each row.
    """
    owner = type(detector).__name__
    sample = sample_of(chunks, owner)
    _refuse_unknown(groups, sample, owner)
    together = None if groups is None else group_keys(owner, as_array(sample[groups]))
    plan = make_plan(sample, _asked(detector), owner=owner, groups=groups, together=together)
    encode = partial(_encoded, plan, owner, detector.bad_cells)
    return plan, Transformed(chunks, encode if groups is None else partial(_beside_groups, encode, groups, owner))


def _encoded(plan: ColumnPlan, owner: str, bad_cells: str, block: Rows) -> Matrix:
    """The encoded rows of a block of training rows, in which bad cells are missing values, with a warning."""
    # training=True: no warnings for values that the sample lacks, because all rows of the source are training rows.
    read = plan.read(block, owner=owner, training=True)
    bad = plan.bad(read)
    if bad_cells == "refuse":
        bad.refuse(owner, None)
    bad.warn(owner, GAPS)
    return plan.coded(read)


def _beside_groups(encode: Callable[[Rows], Matrix], groups: Name, owner: str, block: Rows) -> Matrix:
    """The encoded rows of a block, with a last column that holds a hash of each group label, exact as a float."""
    labels = as_array(columns_of(block, owner)[groups])
    return np.column_stack([encode(block), group_keys(owner, labels) % 2**52])

"""The result of `explain`: value, expected value and share of the loss, for each row and column."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..core.notebook import ROWS, InNotebook
from ..core.typing import Name
from ..core.wording import said, seconds_of
from .nearest_known import NearestKnown
from .reason import DIGITS, Reason, said_beside

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Explanation", "shares_among", "shares_of"]

Float = NDArray[np.float64]

#: Upper bounds on the rows that `repr` shows, and on the columns that it shows for each row.
_REPR_ROWS, _REPR_COLUMNS = 5, 3
#: A category is an ordinary value if at least this share of similar rows has it; ranges hold nine of ten numbers. A
#: date, which has neither a range nor a probability, is ordinary if its share of the loss is smaller than this.
_ORDINARY = 0.1
#: Fields of an explanation with one entry for each cell, and all those with one for each row.
_BY_CELL = ("values", "expected", "low", "high", "probability", "value_probability")
_BY_ROW = (*_BY_CELL, "shares", "parts", "index", "neighbors", "known")


@dataclass(frozen=True, repr=False, eq=False)
class Explanation(InNotebook):
    """Contributions of columns to the losses of rows; ``np.asarray`` gives the shares.

    The share of a column is its part of the sum of all contributions.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        Values of the rows, in the user's units.
    expected : array of shape (n_rows, n_columns)
        Expected values; None or NaN where the classifier does not use the column.
    shares : array of shape (n_rows, n_columns)
        Share of each column: none is negative, and the shares of a row sum to one.
    parts : array of shape (n_rows, n_columns)
        Contribution of each column to the loss. If `exact`, the contributions of a row sum to minus its score; for
        `NaiveParzen`, to the largest possible score minus the score of the row.
    names : tuple of str or int
        Column names; column numbers if the table has no names.
    index : array of shape (n_rows,)
        Row labels: the index of a data frame, else row numbers.
    exact : bool
        Whether the loss is a sum over the columns and `parts` are its terms; else substitution measured `parts`.
    method : str
        Description of how `parts` were computed.
    neighbors : array of shape (n_rows, k, n_columns) or None
        The nearest training rows of each row in ascending order of distance, if ``neighbors`` was positive.
    known : NearestKnown or None
        The known outlier that is nearest to each row, if the classifier has learned known outliers.
    low, high : arrays of shape (n_rows, n_columns) or None
        Range that holds about nine of ten values of normal rows that are alike in the other columns; None or NaN
        for a column that is not a number. None if the classifier keeps no training rows.
    probability, value_probability : arrays of shape (n_rows, n_columns) or None
        Probability of the expected category, and of the value, among normal rows that are alike in the other columns;
        NaN for a column that is not a category.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = VAAKELM().fit(X).explain([[0.0, 9.0, 0.5]])
    >>> found.top(1)[0][0].column
    1
    >>> found.exact
    True
    >>> found.folded({"first two": [0, 1]}).names
    ('first two', 2)
    """

    values: NDArray[Any]
    expected: NDArray[Any]
    shares: Float
    parts: NDArray[Any]
    names: tuple[Name, ...]
    index: NDArray[np.generic]
    exact: bool
    method: str
    neighbors: NDArray[Any] | None = None
    known: NearestKnown | None = None
    low: NDArray[Any] | None = None
    high: NDArray[Any] | None = None
    probability: Float | None = None
    value_probability: Float | None = None

    def __len__(self) -> int:
        return len(self.shares)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Float:
        return np.array(self.shares, dtype=dtype, copy=copy)

    @property
    def _title(self) -> str:
        how = "exact" if self.exact else "measured by substitution"
        return f"{len(self)} rows, {len(self.names)} columns, {how}"

    def _table(self) -> tuple[list[str], list[list[object]], int]:
        first = self[:ROWS]
        reasons = [[f"{reason} {reason.share:.0%}" for reason in found] for found in first.top(_REPR_COLUMNS)]
        rows = [
            [label, *found, *[""] * (_REPR_COLUMNS - len(found))]
            for label, found in zip(first.index, reasons, strict=True)
        ]
        return ["row", *(f"reason {k + 1}" for k in range(_REPR_COLUMNS))], rows, len(self)

    def __str__(self) -> str:
        lines = [repr(self)]
        for label, reasons in zip(self.index[:_REPR_ROWS], self[:_REPR_ROWS].top(_REPR_COLUMNS), strict=True):
            lines.append(f"  {label}: " + ", ".join(f"{reason} {reason.share:.0%}" for reason in reasons))
        return "\n".join(lines + [f"  and {len(self) - _REPR_ROWS} more"] * (len(self) > _REPR_ROWS))

    def __getitem__(self, rows: slice | NDArray[np.bool_] | NDArray[np.intp] | Sequence[int]) -> Explanation:
        """The explanation of some of the rows, given by a slice, a mask or row numbers."""
        some: dict[str, Any] = {name: found[rows] for name in _BY_ROW if (found := getattr(self, name)) is not None}
        return replace(self, **some)

    def causes(self) -> list[str]:
        """For each row, why its loss is large: it is unlike the normal rows, or like a known outlier.

        Returns
        -------
        list of str
            "unlike the normal rows" or, for example, "like known outlier 3 (differs in price)"; known outliers are
            counted from 1.
        """
        return ["unlike the normal rows"] * len(self) if self.known is None else self.known.causes(self.names)

    def top(self, k: int = 3) -> list[tuple[Reason, ...]]:
        """The columns with the largest shares for each row, in descending order.

        After the first column, columns whose value is ordinary for the other columns of the row are omitted: a number
        in the range from `low` to `high`, or a category that at least a tenth of similar rows has. Dates with less than
        a tenth of the loss and columns with share 0 are omitted too.

        Parameters
        ----------
        k : int, default=3
            Maximum number of columns for each row.

        Returns
        -------
        list of tuples of Reason
        """
        found, ordinary = [], self._ordinary
        for i, columns in enumerate(np.argsort(-self.shares, axis=1, kind="stable").tolist()):
            shown = [j for n, j in enumerate(columns) if self.shares[i, j] > 0 and (n == 0 or not ordinary[i, j])]
            found.append(tuple(self._reason(i, j) for j in shown[:k]))
        return found

    def row(self, i: int) -> tuple[Reason, ...]:
        """All columns with a positive share in row `i` (counted from 0), in descending order of the share."""
        order = np.argsort(-self.shares[i], kind="stable").tolist()
        return tuple(self._reason(i, j) for j in order if self.shares[i, j] > 0)

    def _reason(self, i: int, j: int) -> Reason:
        cells = [None if (found := getattr(self, name)) is None else _plain(found[i, j]) for name in _BY_CELL]
        value, expected, *rest = cells
        low, high, chance, own = (None if x is None or x != x else x for x in rest)
        # The value may be the one that the other columns predict: then there is no other expected value.
        same = said(value, DIGITS) == said_beside(value, expected)
        return Reason(
            self.names[j], value, None if same else expected, float(self.shares[i, j]), low, high, chance, own
        )

    @property
    def _ordinary(self) -> NDArray[np.bool_]:
        """Cells whose value is ordinary for the other columns of the row."""
        found = np.zeros(self.shares.shape, dtype=bool)
        if self.low is not None and self.high is not None:
            value, low, high = (_numbers(x) for x in (self.values, self.low, self.high))
            found |= (low <= value) & (value <= high)
            unknown = (
                np.isnan(low) if self.value_probability is None else np.isnan(low) & np.isnan(self.value_probability)
            )
            found |= unknown & (self.shares < _ORDINARY)
        if self.value_probability is not None:
            found |= self.value_probability >= _ORDINARY
        return found

    def folded(self, groups: Mapping[str, Sequence[Name]]) -> Explanation:
        """Merge each group of columns into one column, whose share is the sum of theirs.

        Parameters
        ----------
        groups : dict of str to list of columns
            The columns of each group; no column may be in two groups. A group takes the position of its first column.
            Its value and expected value are, in each row, those of its column with the largest share.

        Returns
        -------
        Explanation
        """
        of = {column: name for name, columns in groups.items() for column in columns}
        if unknown := [column for column in of if column not in self.names]:
            raise ValueError(f"Explanation: groups must hold columns of the explanation, got {unknown[0]!r}")
        if len(of) < sum(map(len, groups.values())):
            raise ValueError("Explanation: a column must be in one group at most")
        names: tuple[Name, ...] = tuple(dict.fromkeys(of.get(name, name) for name in self.names))
        members = [[j for j, name in enumerate(self.names) if of.get(name, name) == folded] for folded in names]
        worst = np.stack([np.array(m)[self.shares[:, m].argmax(axis=1)] for m in members], axis=1)
        cells: dict[str, Any] = {
            name: np.take_along_axis(found, worst, 1) for name in _BY_CELL if (found := getattr(self, name)) is not None
        }
        return replace(
            self,
            **cells,
            shares=np.stack([self.shares[:, m].sum(axis=1) for m in members], axis=1),
            parts=np.stack([self.parts[:, m].sum(axis=1) for m in members], axis=1),
            names=names,
            neighbors=None if self.neighbors is None else np.take_along_axis(self.neighbors, worst[:, None], 2),
            known=self.known
            and self.known.in_columns(
                lambda values: np.take_along_axis(values, worst, 1),
                lambda gaps: np.stack([gaps[:, m].max(axis=1) for m in members], axis=1),
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame with one line for each row and column: row, column, value, expected, low, high, share."""
        import pandas as pd

        n, d = self.shares.shape
        return pd.DataFrame(
            {
                "row": np.repeat(self.index, d),
                "column": np.tile(np.array(self.names, dtype=object), n),
                "value": self.values.ravel(),
                "expected": self.expected.ravel(),
                **{name: np.nan if (end := getattr(self, name)) is None else end.ravel() for name in ("low", "high")},
                "share": self.shares.ravel(),
            }
        )

    def to_dicts(self, k: int | None = None) -> list[dict[str, Any]]:
        """A dict for each row: ``row`` is its label, ``columns`` its columns in descending order of the share.

        If the classifier has learned known outliers, ``cause`` is the text of `causes`. Columns with share 0 are
        omitted. All values can be written as JSON: dates are text, durations and times of day
        are seconds, missing values are None.

        Parameters
        ----------
        k : int, optional
            Maximum number of columns for each row, without ordinary values as in `top`; by default all columns.

        Returns
        -------
        list of dicts
        """
        every = [self.row(i) for i in range(len(self))] if k is None else self.top(k)
        return [
            {
                "row": _in_json(label),
                **({} if self.known is None else {"cause": cause}),
                "columns": [{key: _in_json(item) for key, item in reason._asdict().items()} for reason in reasons],
            }
            for label, cause, reasons in zip(self.index, self.causes(), every, strict=True)
        ]


def shares_among(seen: slice | NDArray[np.intp] | Sequence[bool], parts: NDArray[np.floating]) -> Float:
    """Shares of all columns; those not in `seen` get 0."""
    shares = np.zeros(parts.shape)
    shares[:, seen] = shares_of(parts[:, seen])
    return shares


def shares_of(parts: NDArray[np.floating]) -> Float:
    """Each part of a row divided by their sum; equal shares if all parts are 0."""
    parts = np.clip(np.nan_to_num(parts.astype(float)), 0, None)
    largest = parts.max(axis=1, keepdims=True)
    parts = np.where(largest > 0, parts / np.where(largest > 0, largest, 1), 1.0)  # so that no sum overflows
    shares: Float = parts / parts.sum(axis=1, keepdims=True)
    return shares


def _numbers(values: NDArray[Any]) -> Float:
    """Cells as numbers, durations in seconds; NaN for others."""
    if values.dtype.kind in "fiub":
        return values.astype(float)
    found = np.full(values.shape, np.nan)
    for place, value in np.ndenumerate(values):
        seconds = seconds_of(value)
        try:
            found[place] = float(value) if seconds is None and value is not None else seconds
        except (TypeError, ValueError):  # a word
            continue
    return found


def _plain(value: object) -> Any:
    """A NumPy number, flag or string as a Python object; other values unchanged."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufUS" else value


def _in_json(value: object) -> object:
    seconds = seconds_of(value)
    value = _plain(value) if seconds is None else seconds
    if isinstance(value, tuple):
        return [_in_json(item) for item in value]
    if value is None or value != value:
        return None
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value.astype("datetime64[us]"), unit="auto"))
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value if isinstance(value, bool | int | float | str) else str(value)

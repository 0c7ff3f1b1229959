"""Explanation: why rows are strange, as a value: for every row and column its value, the expected one and its share."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..core.typing import Name

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Explanation", "Reason", "seconds_of", "shares_among", "shares_of"]

Float = NDArray[np.float64]

#: Rows, and columns of each, that are shown.
_ROWS, _COLUMNS = 5, 3
#: Of spans of time, and of times of day.
_UNIT = " seconds"


class Reason(NamedTuple):
    """Why a row is strange: a column, what it holds, what would have been normal, and its share of the blame.

    `expected` is None where nothing else was: a rare category that all other columns lead to. Of a span of time or a
    time of day, it is in seconds.

    Examples
    --------
    >>> from oneclass import Reason
    >>> print(Reason("mass", 400.0, 4.5, 0.97))
    mass=400 (expected 4.5)
    """

    column: Name
    value: Any
    expected: Any
    share: float

    def __str__(self) -> str:
        said = f"{self.column}={_said(self.value)}"
        if self.expected is None:
            return said
        unit = _UNIT if seconds_of(self.value) is not None and isinstance(self.expected, float) else ""
        return f"{said} (expected {_said(self.expected, digits=4)}{unit})"


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """Why rows are as strange as they are; ``np.asarray`` gives the shares.

    A share is not the bare part of the loss: a value that no training row came near, such as the only lit pixel of a
    corner, can be a hundred times all others together. Shares go by ``log(1 + t²)``, `t` the part of the loss over that
    of one column of a row at the threshold, which leaves the order of the columns as it is.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        What the rows hold, in the user's units.
    expected : array of shape (n_rows, n_columns)
        What would have been normal there; None or NaN where the classifier looks at no such column.
    shares : array of shape (n_rows, n_columns)
        Each column's share of the blame: none is negative, and a row sums to one.
    parts : array of shape (n_rows, n_columns)
        Each column's part of the loss, before any taming; where `exact` a row sums to minus its score (of `NaiveParzen`
        to how far that is below the best score there is).
    reach : array of shape (n_rows,)
        The sum of the parts of a row at the threshold.
    names : tuple of str or int
        The columns; their places, where they have no names.
    index : array of shape (n_rows,)
        Labels of the rows: those of a data frame, else their places.
    exact : bool
        Whether the loss is a sum over the columns, whose parts shares go by; else parts are measured by substitution.
    method : str
        How parts were found, in words.
    neighbors : array of shape (n_rows, k, n_columns) or None
        The nearest normal rows of each row, if any were asked for, the nearest first.

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
    reach: Float
    names: tuple[Name, ...]
    index: NDArray[np.generic]
    exact: bool
    method: str
    neighbors: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.shares)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Float:
        return np.array(self.shares, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        how = "exact" if self.exact else "measured by substitution"
        lines = [f"Explanation of {len(self)} rows by {len(self.names)} columns, {how}"]
        for label, reasons in zip(self.index[:_ROWS], self[:_ROWS].top(_COLUMNS), strict=True):
            lines.append(f"  {label}: " + ", ".join(f"{reason} {reason.share:.0%}" for reason in reasons))
        return "\n".join(lines + [f"  and {len(self) - _ROWS} more"] * (len(self) > _ROWS))

    def __getitem__(self, rows: slice | NDArray[np.bool_] | NDArray[np.intp] | Sequence[int]) -> Explanation:
        """The same of some of the rows: a slice, a mask or their places."""
        some = {name: getattr(self, name)[rows] for name in ("values", "expected", "shares", "parts", "reach", "index")}
        return replace(self, **some, neighbors=None if self.neighbors is None else self.neighbors[rows])

    def top(self, k: int = 3) -> list[tuple[Reason, ...]]:
        """The columns most to blame for each row, the worst first; those without any share are left out.

        Parameters
        ----------
        k : int, default=3
            Columns for each row, at most.

        Returns
        -------
        list of tuples of Reason
        """
        worst = np.argsort(-self.shares, axis=1, kind="stable")[:, :k]
        return [
            tuple(self._reason(i, j) for j in columns if self.shares[i, j] > 0)
            for i, columns in enumerate(worst.tolist())
        ]

    def row(self, i: int) -> tuple[Reason, ...]:
        """All columns that have a share in row `i`, counted from 0, the worst first."""
        return self[i : i + 1 or None].top(len(self.names))[0]

    def _reason(self, i: int, j: int) -> Reason:
        value, expected = _plain(self.values[i, j]), _plain(self.expected[i, j])
        # A rare category may be what all other columns lead to: then nothing else was expected.
        same = isinstance(value, str | bool) and value == expected
        return Reason(self.names[j], value, None if same else expected, float(self.shares[i, j]))

    def folded(self, groups: Mapping[str, Sequence[Name]]) -> Explanation:
        """Groups of columns as one column each, with their shares added up.

        Parameters
        ----------
        groups : dict of str to list of columns
            The columns of each group, none in two of them. A group stands where its first column stood; its value and
            expected value are those of its column most to blame, row by row.

        Returns
        -------
        Explanation
        """
        of = {column: name for name, columns in groups.items() for column in columns}
        if unknown := [column for column in of if column not in self.names]:
            raise ValueError(f"Explanation: groups must be of columns that there are, got {unknown[0]!r}")
        if len(of) < sum(map(len, groups.values())):
            raise ValueError("Explanation: a column must be in one group at most")
        names: tuple[Name, ...] = tuple(dict.fromkeys(of.get(name, name) for name in self.names))
        members = [[j for j, name in enumerate(self.names) if of.get(name, name) == folded] for folded in names]
        worst = np.stack([np.array(m)[self.shares[:, m].argmax(axis=1)] for m in members], axis=1)
        return replace(
            self,
            values=np.take_along_axis(self.values, worst, 1),
            expected=np.take_along_axis(self.expected, worst, 1),
            shares=np.stack([self.shares[:, m].sum(axis=1) for m in members], axis=1),
            parts=np.stack([self.parts[:, m].sum(axis=1) for m in members], axis=1),
            names=names,
            neighbors=None if self.neighbors is None else np.take_along_axis(self.neighbors, worst[:, None], 2),
        )

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame with a line for every row and column: row, column, value, expected, share."""
        import pandas as pd

        n, d = self.shares.shape
        return pd.DataFrame(
            {
                "row": np.repeat(self.index, d),
                "column": np.tile(np.array(self.names, dtype=object), n),
                "value": self.values.ravel(),
                "expected": self.expected.ravel(),
                "share": self.shares.ravel(),
            }
        )

    def to_dicts(self) -> list[dict[str, object]]:
        """A dict for every row: its label as ``row``, and as ``columns`` those with a share, the worst first.

        All of it can be said in JSON: dates are text, spans of time and times of day are seconds, gaps are None.
        """
        return [
            {
                "row": _in_json(label),
                "columns": [{key: _in_json(item) for key, item in reason._asdict().items()} for reason in reasons],
            }
            for label, reasons in zip(self.index, self.top(len(self.names)), strict=True)
        ]


def shares_among(seen: slice | NDArray[np.intp] | Sequence[bool], parts: NDArray[np.floating], reach: Float) -> Float:
    """Shares of the columns that are `seen`, which have all parts; those of a row at the threshold sum to `reach`.

    Parts of what one column became are to be added up first: taming favours many small parts over a large one.
    """
    shares, some = np.zeros(parts.shape), parts[:, seen]
    shares[:, seen] = shares_of(some, reach[:, None] / max(some.shape[1], 1))
    return shares


def shares_of(parts: NDArray[np.floating], usual: NDArray[np.floating] | float) -> Float:
    """Shares that go by ``log(1 + t²)``, `t` the part over what is `usual` for a column; equal where no part is any.

    Where the threshold leaves nothing for a part to be usual, that is the mean of the row's.
    """
    parts = np.clip(np.nan_to_num(parts.astype(float)), 0, None)
    mean = (parts / parts.shape[1]).sum(axis=1, keepdims=True)
    usual = np.where(np.asarray(usual, dtype=float) > 0, usual, mean)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        t = np.nan_to_num(np.minimum(parts / usual, 1e150))
    blame = np.log1p(t * t)
    total = blame.sum(axis=1, keepdims=True)
    shares: Float = np.where(total > 0, blame / np.where(total > 0, total, 1), 1 / parts.shape[1])
    return shares


def seconds_of(value: object) -> float | None:
    """A span of time, or a time of day, in seconds; None of what is neither."""
    if isinstance(value, np.timedelta64):
        return np.nan if np.isnat(value) else int(value.astype("timedelta64[us]").astype(np.int64)) / 1e6
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return None


def _plain(value: object) -> object:
    """A number of NumPy's as one of Python's; times stay what they are."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufUS" else value


def _in_json(value: object) -> object:
    seconds = seconds_of(value)
    value = _plain(value) if seconds is None else seconds
    if isinstance(value, tuple):
        return [_in_json(item) for item in value]
    if value is None or value != value:
        return None
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="auto"))
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value if isinstance(value, bool | int | float | str) else str(value)


def _said(value: object, digits: int = 6) -> str:
    if value is None or value != value or value == "":
        return "missing"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[m]")).replace("T", " ")
    if (seconds := seconds_of(value)) is not None:
        return _said(seconds, digits) + _UNIT
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    return f"{number:.0f}" if 10.0**digits <= abs(number) < 1e15 else f"{number:.{digits}g}"

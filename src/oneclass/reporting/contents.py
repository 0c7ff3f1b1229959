"""What a summary holds: dicts that JSON can say, and what is in each of them."""

from __future__ import annotations

from typing import NotRequired, TypeAlias, TypedDict

from ..core.typing import Name

__all__ = [
    "Alarms",
    "Beyond",
    "Budget",
    "Cell",
    "Column",
    "Difference",
    "Held",
    "Histogram",
    "Resemblance",
    "Row",
    "Said",
    "Step",
    "Summary",
]

#: What a cell holds: text, a flag, a number (days since 1970 of a date), or nothing.
Cell: TypeAlias = str | float | None


class Alarms(TypedDict):
    """Alarms among normal rows, with 95 % confidence."""

    expected: float
    fewest: int
    most: int


class Beyond(Alarms):
    """Rows beyond every row that was learnt from, and how many of these are to be expected."""

    rows: int


class Budget(TypedDict):
    """The false alarms that were asked for and those that are to come; these where the fit has held-out losses."""

    asked: float
    confidence: float | None
    promised: bool
    rule: str
    flagged: int
    flagged_share: float
    rate: NotRequired[float]
    interval: NotRequired[list[float]]
    in_1000: NotRequired[Alarms]
    if_all_normal: NotRequired[Alarms]
    beyond_all: NotRequired[Beyond]
    ask_to_keep_surely: NotRequired[float | None]
    rows_to_keep_surely: NotRequired[int | None]


class Step(Alarms):
    """A rate that the page offers: what it flags, and the alarms among 1,000 normal rows."""

    alpha: float
    flagged: int
    low: float
    high: float
    score: float
    own: bool


class Histogram(TypedDict):
    """How strange the rows are."""

    logarithmic: bool
    counts: list[int]
    edges: list[float]


class Resemblance(TypedDict):
    """How far the losses of the rows are from those held out."""

    distance: float
    p_value: float
    stranger: bool
    histogram: list[int]


class Held(TypedDict):
    """What a column holds: shares of the commonest values of a category, or quantiles of numbers."""

    rows: int
    missing: float
    values: NotRequired[dict[str, float]]
    middle: NotRequired[float]
    usual: NotRequired[list[float]]
    range: NotRequired[list[float]]
    quantiles: NotRequired[list[float]]


class Difference(TypedDict):
    """How far a column is from what it was; the share of rows beyond that, and values that are new."""

    distance: float
    p_value: float
    outside: float
    unseen: NotRequired[list[str]]


class Column(TypedDict):
    """A column beside what it was at the fit, if that is known, and its part in what is flagged."""

    name: Name
    kind: str
    new: Held
    training: NotRequired[Held]
    distance: NotRequired[float]
    p_value: NotRequired[float]
    outside: NotRequired[float]
    unseen: NotRequired[list[str]]
    changed: NotRequired[str]
    blame: NotRequired[float]
    first: NotRequired[int]
    flagged_values: NotRequired[list[Cell]]


class Said(TypedDict):
    """A reason for a row."""

    column: Name
    value: Cell
    expected: Cell
    share: float


class Row(TypedDict):
    """A strange row."""

    row: int
    labels: dict[str, Cell]
    score: float
    p_value: float | None
    flagged: bool
    reasons: list[Said]


class LeftOut(TypedDict):
    """A column that is not learnt from."""

    name: Name
    why: str


class Data(TypedDict):
    """The table."""

    rows: int
    columns: int
    left_out: list[LeftOut]


#: The classifier, and what it learnt from: rows, or groups of them.
Model = TypedDict("Model", {"name": str, "is": str, "parameters": str, "learnt_from": int | None, "grouped": bool})


class Summary(TypedDict):
    """All that is said."""

    made: str
    version: str
    confidence: float
    data: Data
    model: Model
    budget: Budget
    steps: list[Step]
    scores: Histogram
    resemblance: Resemblance | None
    columns: list[Column]
    rows: list[Row]
    explained: str | None
    words: list[str]
    advice: list[str]

"""Types of the summary: dicts that can be written as JSON."""

from __future__ import annotations

from typing import NotRequired, TypeAlias, TypedDict

from ..core.typing import Name

__all__ = [
    "AlarmGroup",
    "AlarmSummary",
    "BeyondTraining",
    "Cell",
    "Column",
    "ColumnValues",
    "Difference",
    "ExpectedAlarms",
    "Histogram",
    "Reason",
    "Resemblance",
    "Row",
    "ScreenedRow",
    "ScreeningSummary",
    "Segment",
    "Step",
    "Summary",
    "Times",
    "Verdict",
]

#: Value of a cell: text, a flag, a number (of a date: days since 1970), or None if it is missing.
Cell: TypeAlias = str | float | None


class ExpectedAlarms(TypedDict):
    """Number of alarms among normal rows: its mean and its 95 % interval."""

    expected: float
    fewest: int
    most: int


class BeyondTraining(ExpectedAlarms):
    """Number of rows that are more unusual than every training row, and how many to expect among normal rows."""

    rows: int


class AlarmSummary(TypedDict):
    """Flagged rows and false alarms; the optional keys need held-out losses."""

    #: Requested false-alarm rate, and the confidence with which the threshold keeps it, if one was requested.
    delta: float
    confidence: float | None
    #: Whether the threshold uses held-out losses, and the name of its rule.
    held_out: bool
    rule: str
    flagged: int
    flagged_share: float
    #: False-alarm rate of the threshold on held-out losses.
    rate: NotRequired[float]
    #: 95 % confidence interval for the false-alarm rate of this model.
    interval: NotRequired[list[float]]
    in_1000: NotRequired[ExpectedAlarms]
    if_all_normal: NotRequired[ExpectedAlarms]
    beyond_training: NotRequired[BeyondTraining]
    #: The rate to request, or the number of training rows, with which the false-alarm rate of the model is at most
    #: `delta` with 95 % confidence; None if there is none.
    safe_delta: NotRequired[float | None]
    rows_needed: NotRequired[int | None]


class Step(ExpectedAlarms):
    """A position of the slider: a requested rate, the rows that it flags, and the alarms in 1,000 normal rows."""

    delta: float
    flagged: int
    #: 95 % confidence interval for the false-alarm rate of this model.
    low: float
    high: float
    #: Threshold on the scores.
    score: float
    #: Whether this is the threshold of the model.
    own: bool


class Histogram(TypedDict):
    """Histogram of the losses of the new rows, or of their logarithms."""

    logarithmic: bool
    counts: list[int]
    edges: list[float]


class Resemblance(TypedDict):
    """Two-sample test between the losses of the new rows and the held-out losses."""

    distance: float
    p_value: float
    #: Whether the new rows have larger losses where the two distributions differ most.
    more_unusual: bool
    #: Numbers of p-values in bins of equal width.
    histogram: list[int]


class ColumnValues(TypedDict):
    """Distribution of the values of a column: shares of the most frequent categories, or quantiles of numbers."""

    rows: int
    missing: float
    shares: NotRequired[dict[str, float]]
    median: NotRequired[float]
    #: Quantiles at 5 % and 95 %.
    central_90: NotRequired[list[float]]
    range: NotRequired[list[float]]
    quantiles: NotRequired[list[float]]


class Difference(TypedDict):
    """Difference of a column between training rows and new rows."""

    distance: float
    p_value: float
    #: Share of the new rows outside the range, or the categories, of the training rows.
    outside: float
    #: Categories that no training row had.
    unseen: NotRequired[list[str]]


class Column(TypedDict):
    """A column of the new rows, compared with the training rows if these are known."""

    name: Name
    kind: str
    new: ColumnValues
    training: NotRequired[ColumnValues]
    distance: NotRequired[float]
    p_value: NotRequired[float]
    outside: NotRequired[float]
    unseen: NotRequired[list[str]]
    #: "no", "slightly", "clearly", "flagged" if only the flagged rows differ, or "later" for times after the training.
    changed: NotRequired[str]
    #: Mean share of the column in the scores of flagged rows, and the number of these in which it is the largest.
    share: NotRequired[float]
    largest_in: NotRequired[int]
    #: Of the largest contributors only: the number of listed rows that are flagged, which are the first, the values of
    #: the listed rows, and the share of the column in each.
    flagged: NotRequired[int]
    listed_values: NotRequired[list[Cell]]
    listed_shares: NotRequired[list[float]]


class Reason(TypedDict):
    """A column that contributes to the score of a row; the fields are those of `oneclass.Reason`."""

    column: Name
    value: Cell
    expected: Cell
    share: float
    low: Cell
    high: Cell
    probability: float | None
    value_probability: float | None


class Verdict(TypedDict):
    """What was found, and how sure it is."""

    sentence: str
    certainty: str
    #: Estimated number of odd rows, and a lower bound with the confidence of the report; None without held-out losses.
    odd: int | None
    at_least: int | None


class AlarmGroup(TypedDict):
    """Listed rows with the same main reason."""

    reason: str
    column: Name
    #: Number of flagged rows.
    rows: int
    #: Values of these rows in the column, and what was expected, as text.
    values: str
    expected: str


class Times(TypedDict):
    """Rows and flagged rows in equal spans of time."""

    column: str
    #: The first moment of each span, and the last moment of all.
    edges: list[str]
    rows: list[int]
    flagged: list[int]
    #: False alarms to expect in each span; None without held-out losses.
    expected: list[float] | None


class Row(TypedDict):
    """An unusual row, numbered from 1."""

    row: int
    labels: dict[str, Cell]
    score: float
    p_value: float | None
    flagged: bool
    reasons: list[Reason]
    #: Number of its group, and of its span of time; None if it has none.
    group: int | None
    span: int | None


class Segment(TypedDict):
    """A segment of the rows: its flagged new rows, and its false-alarm rate."""

    segment: str
    #: New rows in it, and those of them that are flagged.
    rows: int
    flagged: int
    #: Training rows or groups in it; 0 for a segment that no training row has, whose rate is unknown.
    fitted_on: float
    rate: float | None
    #: 95 % confidence interval for the false-alarm rate of this model.
    interval: list[float] | None
    #: Share of its held-out training rows that one threshold for all rows would reject.
    unsegmented: float | None


class LeftOut(TypedDict):
    """A column that the model does not use."""

    name: Name
    why: str


class Data(TypedDict):
    """Size of the table of new rows."""

    rows: int
    columns: int
    #: Whether most rows are training rows.
    training_rows: bool
    left_out: list[LeftOut]


class Model(TypedDict):
    """The classifier, and the number of training rows, or of groups of them, that were held out in turn."""

    name: str
    description: str
    parameters: str
    fitted_on: int | None
    grouped: bool
    #: Number of known outliers that were learned, if any.
    known_outliers: NotRequired[int]


class Summary(TypedDict):
    """Everything that a report shows."""

    made: str
    version: str
    confidence: float
    data: Data
    model: Model
    verdict: Verdict
    alarms: AlarmSummary
    groups: list[AlarmGroup]
    times: Times | None
    steps: list[Step]
    #: Rates by segment; empty if the model has no segments.
    segments: list[Segment]
    scores: Histogram
    resemblance: Resemblance | None
    columns: list[Column]
    rows: list[Row]
    #: How the reasons were found, or why there are none.
    explanation: str | None
    findings: list[str]
    advice: list[str]


class ScreenedRow(TypedDict):
    """A row with suspicious cells, numbered from 1, in order of suspicion."""

    row: int
    named: bool
    p_value: float
    #: Estimated number of rows with a mistake among the rows up to this one.
    mistakes: float
    #: Values of the shown columns.
    values: dict[str, Cell]
    #: The suspicious cells, with the fields of `oneclass.SuspectCell`; the most suspicious one is the first.
    cells: list[dict[str, Cell]]
    group: int | None


class ScreeningSummary(TypedDict):
    """Everything that the report of a screening shows."""

    made: str
    version: str
    data: dict[str, int]
    named: int
    stands_out: int
    #: Estimated number of rows with a mistake among the first 10, 30 and 100 rows.
    mistakes: dict[str, float]
    columns: list[str]
    groups: list[AlarmGroup]
    rows: list[ScreenedRow]
    verdict: dict[str, str]
    advice: list[str]

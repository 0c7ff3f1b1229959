"""The function `report` and the class `Report` that it returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from ..base.protocol import Detector
from ..core.typing import Labels, Rows
from ..io.replacing import replacing
from ..screening import Screening
from .html import html_of
from .markdown import markdown_of
from .schema import ScreeningSummary, Summary
from .screened import summarise_screening
from .summary import summarise

__all__ = ["Report", "report", "writer_of"]

#: Height of the page in a notebook, in pixels.
_NOTEBOOK_HEIGHT = 800


S = TypeVar("S", Summary, ScreeningSummary)


@dataclass(frozen=True, repr=False)
class Report(Generic[S]):
    """Report on new rows; a notebook shows it as a page.

    Attributes
    ----------
    summary : dict
        Everything that the report shows, as numbers, text, lists and dicts (docs/report.md).
    title : str
        Title of the report.

    Examples
    --------
    >>> import numpy as np, oneclass
    >>> rng = np.random.default_rng(0)
    >>> model = oneclass.KNNDetector(delta=0.1).fit(rng.normal(size=(199, 2)))
    >>> found = oneclass.report(model, rng.normal(size=(100, 2)))
    >>> found.summary["alarms"]["flagged"], found.to_html()[:15]
    (7, '<!doctype html>')
    >>> found
    Report: 7 of 100 rows flagged
    """

    summary: S
    title: str = "Report"

    def __repr__(self) -> str:
        summary: Any = self.summary
        if "alarms" not in summary:
            return f"Report: {summary['verdict']['sentence']}"
        return f"Report: {summary['alarms']['flagged']:,} of {summary['data']['rows']:,} rows flagged"

    def _repr_html_(self) -> str:
        page, title = escape(self.to_html()), escape(self.title)
        return f'<iframe srcdoc="{page}" title="{title}" width="100%" height="{_NOTEBOOK_HEIGHT}"></iframe>'

    def to_html(self) -> str:
        """One HTML page that needs no other file and no network.

        Needs Jinja2, the extra ``report``.
        """
        return html_of(self.summary, self.title)

    def to_markdown(self) -> str:
        """The report as Markdown, with the most unusual rows only."""
        return markdown_of(self.summary, self.title)

    def to_json(self) -> str:
        """The summary as JSON."""
        return json.dumps({"title": self.title, **self.summary}, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the report to a file, in the format of its suffix.

        Parameters
        ----------
        path : str or Path
            File to write or to replace: ``.html`` for the page, ``.md`` for Markdown or ``.json`` for the summary.
        """
        with replacing(path) as file:
            file.write(writer_of(path)(self).encode())


_WRITERS: dict[str, Callable[[Report[Any]], str]] = {
    ".html": Report.to_html,
    ".htm": Report.to_html,
    ".md": Report.to_markdown,
    ".json": Report.to_json,
}


def writer_of(path: str | Path) -> Callable[[Report[Any]], str]:
    """The method of `Report` that writes the format of the suffix of a file."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise ValueError(f"report: a file must end in .html, .md or .json, got {str(path)!r}")
    return _WRITERS[suffix]


@overload
def report(
    model: Detector,
    X: Rows,
    *,
    X_train: Rows | None = None,
    segments: Labels | None = None,
    rows: int = 1000,
    title: str | None = None,
) -> Report[Summary]: ...


@overload
def report(model: Screening, X: Rows, *, rows: int = 1000, title: str | None = None) -> Report[ScreeningSummary]: ...


def report(
    model: Detector | Screening,
    X: Rows,
    *,
    X_train: Rows | None = None,
    segments: Labels | None = None,
    rows: int = 1000,
    title: str | None = None,
) -> Report[Any]:
    """Score new rows with a fitted model and report alarms, reasons, changed columns and what to do next.

    Parameters
    ----------
    model : fitted classifier, pipeline, search or TableDetector; or Screening
        Model that scores the rows. If it is the result of `screen`, the report shows the suspicious cells of the table
        in their rows, and groups of similar mistakes.
    X : table or array-like of shape (n_samples, n_features)
        New rows, in memory, in the form that the model accepts; or the table that was screened.
    X_train : table or array-like, optional
        The rows that the model was fitted on, to compare the columns with. Without them, the column quantiles that the
        model stored at the fit are used. Models fitted from chunks, streams and pipelines store none.
    segments : array-like of shape (n_samples,), optional
        The segment of each row, if the fit had `segments`; by default their column in `X`, if they were given as a
        column.
    rows : int, default=1000
        Most rows to list; the most unusual rows are listed.
    title : str, optional
        Title of the report.

    Returns
    -------
    Report
        With `to_html`, `to_markdown`, `to_json`, and `save`, which chooses the format by the suffix of the file.

    Examples
    --------
    >>> import numpy as np, oneclass
    >>> rng = np.random.default_rng(0)
    >>> model = oneclass.VAAKELM().fit(rng.normal(size=(200, 2)))
    >>> new = rng.normal(size=(50, 2))
    >>> new[7] = [0.0, 9.0]
    >>> found = oneclass.report(model, new)
    >>> found.summary["rows"][0]["row"], found.summary["rows"][0]["reasons"][0]["column"]
    (8, 1)
    """
    if not isinstance(model, Screening) and not hasattr(model, "get_params"):
        swapped = "; the order is report(model, X)" if hasattr(X, "get_params") else ""
        raise TypeError(f"report: model must be a fitted classifier, got a {type(model).__name__}{swapped}")
    if rows < 1:
        raise ValueError(f"report: rows must be at least 1, got {rows!r}")
    if isinstance(model, Screening):
        if X_train is not None or segments is not None:
            raise ValueError("report: X_train and segments must be None for the result of a screening")
        return Report(summarise_screening(model, X, rows), title or "Suspicious cells of the table")
    return Report(
        summarise(model, X, X_train=X_train, segments=segments, rows=rows), title or "What is unusual in the new rows"
    )

"""`report`, and the value that it returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..base.protocol import Detector
from ..core.typing import Rows
from ..io.replacing import replacing
from .contents import Summary
from .html import html_of
from .markdown import markdown_of
from .summary import summarise

__all__ = ["Report", "report"]


@dataclass(frozen=True, repr=False)
class Report:
    """What a model says of new rows; notebooks show it as a page.

    Attributes
    ----------
    summary : dict
        All that is said, in numbers, text, lists and dicts.
    title : str
        What the report is called.

    Examples
    --------
    >>> import numpy as np, oneclass
    >>> rng = np.random.default_rng(0)
    >>> model = oneclass.KNNDetector(delta=0.1).fit(rng.normal(size=(199, 2)))
    >>> found = oneclass.report(model, rng.normal(size=(100, 2)))
    >>> found.summary["budget"]["flagged"], found.to_html()[:15]
    (7, '<!doctype html>')
    >>> found
    Report: 7 of 100 rows flagged
    """

    summary: Summary
    title: str = "Report"

    def __repr__(self) -> str:
        return f"Report: {self.summary['budget']['flagged']:,} of {self.summary['data']['rows']:,} rows flagged"

    def _repr_html_(self) -> str:
        page, title = escape(self.to_html()), escape(self.title)
        return f'<iframe srcdoc="{page}" title="{title}" width="100%" height="800"></iframe>'

    def to_html(self) -> str:
        """One page that needs nothing else: no network, no other file."""
        return html_of(self.summary, self.title)

    def to_markdown(self) -> str:
        """The same as text, with the strangest rows only."""
        return markdown_of(self.summary, self.title)

    def to_json(self) -> str:
        """The summary."""
        return json.dumps({"title": self.title} | self.summary, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the report into a file: a page, text or the summary, by its ending.

        Parameters
        ----------
        path : str or Path
            The file to write or to replace, which ends in ``.html``, ``.md`` or ``.json``.
        """
        with replacing(path) as file:
            file.write(writer_of(path)(self).encode())


_WRITERS = {".html": Report.to_html, ".htm": Report.to_html, ".md": Report.to_markdown, ".json": Report.to_json}


def writer_of(path: str | Path) -> Callable[[Report], str]:
    """What makes the file that the ending asks for."""
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise ValueError(f"report: a file must end in .html, .md or .json, got {str(path)!r}")
    return _WRITERS[ending]


def report(
    model: Detector, X: Rows, *, X_train: Rows | None = None, rows: int = 1000, title: str | None = None
) -> Report:
    """Judge rows by a fitted model and say what is found: alarms, reasons, what has changed, and what to do.

    Parameters
    ----------
    model : fitted classifier, pipeline, search or TableDetector
        What judges.
    X : table or array-like of shape (n_samples, n_features)
        New rows, in memory, as the model takes them.
    X_train : table or array-like, optional
        The rows that the model was fitted on, to hold columns against. Without them it is the quantiles of each column
        that fits keep, which those from chunks, of streams and behind the steps of a pipeline do not.
    rows : int, default=1000
        The most rows to list, the strangest first.
    title : str, optional
        What the report is called.

    Returns
    -------
    Report
        With `to_html`, `to_markdown`, `to_json`, and `save`, which goes by the ending of the file.

    Examples
    --------
    >>> import numpy as np, oneclass
    >>> rng = np.random.default_rng(0)
    >>> model = oneclass.VAAKELM().fit(rng.normal(size=(200, 2)))
    >>> strange = rng.normal(size=(50, 2))
    >>> strange[7] = [0.0, 9.0]
    >>> found = oneclass.report(model, strange)
    >>> found.summary["rows"][0]["row"], found.summary["rows"][0]["reasons"][0]["column"]
    (8, 1)
    """
    if rows < 1:
        raise ValueError(f"report: rows must be at least 1, got {rows!r}")
    return Report(summarise(model, X, X_train=X_train, rows=rows), title or "What is unusual in the new rows")

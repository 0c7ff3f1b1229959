"""Report: what a model says of new rows, as a plain dict first, then as one HTML page, Markdown or JSON."""

from .value import Report, report

__all__ = ["Report", "report"]

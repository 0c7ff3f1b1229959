"""Report on new rows: a summary as a plain dict, written as one HTML page, Markdown or JSON."""

from .api import Report, report

__all__ = ["Report", "report"]

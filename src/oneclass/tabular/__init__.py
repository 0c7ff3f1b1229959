"""Classification of tables with text, dates and missing values: a column plan encodes them as numbers."""

from .detector import TableDetector
from .plan import Column, ColumnPlan
from .screening import screen

__all__ = ["Column", "ColumnPlan", "TableDetector", "screen"]

"""Tables as they are: a column plan from words, dates and gaps to numbers, and a classifier behind it."""

from .detector import TableDetector
from .plan import Column, ColumnPlan

__all__ = ["Column", "ColumnPlan", "TableDetector"]

"""Tables as they are: a column plan from words, dates and gaps to numbers, and a classifier behind it."""

from .detector import Reason, TableDetector
from .plan import Column, ColumnPlan

__all__ = ["Column", "ColumnPlan", "Reason", "TableDetector"]

"""Judgement of one table that may contain mistakes: odd rows, wrong cells, expected values and repair."""

from .copies import CopiedColumn
from .judging import judge
from .result import Screening, SuspectCell
from .units import Sheet, Unit, current_sheet, sheet_of_matrix, using_sheet

__all__ = [
    "CopiedColumn",
    "Screening",
    "Sheet",
    "SuspectCell",
    "Unit",
    "current_sheet",
    "judge",
    "sheet_of_matrix",
    "using_sheet",
]

"""Readers of the two spreadsheets."""

from pathlib import Path

import numpy as np

from .errors import need
from .rows import Rows, codes, rows

__all__ = ["cardiotocography", "cryotherapy"]

SIGNAL = [
    "LB",
    "AC",
    "FM",
    "UC",
    "DL",
    "DS",
    "DP",
    "ASTV",
    "MSTV",
    "ALTV",
    "MLTV",
    "Width",
    "Min",
    "Max",
    "Nmax",
    "Nzeros",
    "Mode",
    "Mean",
    "Median",
    "Variance",
    "Tendency",
]


def cardiotocography(path: Path, *, with_class: bool) -> Rows:
    """Sheet "Raw Data" without blank and summary rows; a group is a recording (column FileName)."""
    sheet = need("xlrd", "read CTG.xls").open_workbook(str(path)).sheet_by_name("Raw Data")
    header = sheet.row_values(0)
    column = {name: i for i, name in enumerate(header)}
    table = [sheet.row_values(i) for i in range(1, sheet.nrows)]
    table = [row for row in table if row[column["NSP"]] != ""]
    names = SIGNAL + ["CLASS"] * with_class
    return rows(
        names,
        [[row[column[name]] for name in names] for row in table],
        [row[column["NSP"]] == 3 for row in table],
        groups=codes([row[column["FileName"]] for row in table]),
    )


def cryotherapy(path: Path) -> Rows:
    """Six columns and the result of treatment."""
    book = need("openpyxl", "read Cryotherapy.xlsx").load_workbook(path, read_only=True, data_only=True)
    header, *table = book.worksheets[0].iter_rows(values_only=True)
    book.close()
    values = np.array([row[:7] for row in table if row[0] is not None], dtype=float)
    return rows([str(name).lower() for name in header[:6]], values[:, :6], values[:, 6] == 1)

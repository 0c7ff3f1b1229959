"""Readers of the text tables: one function per dataset, from raw file to rows."""

import csv
from pathlib import Path

import numpy as np

from .coding import IMPORTS_CODES, IMPORTS_COLUMNS
from .rows import Rows, codes, rows

__all__ = [
    "biomed",
    "breast_cancer",
    "colposcopy",
    "diabetic_retinopathy",
    "ecoli",
    "heart_cleveland",
    "heart_statlog",
    "imports",
    "sonar",
    "survival",
    "vowel",
    "waveform",
]

HEART = ["age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"]
CELLS = [
    "clump_thickness",
    "cell_size_uniformity",
    "cell_shape_uniformity",
    "marginal_adhesion",
    "epithelial_cell_size",
    "bare_nuclei",
    "bland_chromatin",
    "normal_nucleoli",
    "mitoses",
]
RETINA = (
    ["quality", "prescreening"]
    + [f"ma_{i}" for i in range(1, 7)]
    + [f"exudate_{i}" for i in range(1, 9)]
    + ["macula_disc_distance", "disc_diameter", "am_fm"]
)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="latin-1").splitlines() if line.strip()]


def _fields(path: Path) -> list[list[str]]:
    # Published copies separate fields by commas or by blanks; no field holds either.
    return [line.replace(",", " ").split() for line in _lines(path)]


def biomed(path: Path) -> Rows:
    """Two tables in one shell archive; lines start with a dash; the visits of a person are numbered from 1."""
    kind, visits, person = "", [], -1
    for line in _lines(path):
        if "<<" in line:
            kind = "normals" if "normals" in line else "carriers"
        cells = line.lstrip("-").split()
        if len(cells) == 8 and cells[0].isdigit():
            person += cells[0] == "1"
            visits.append((kind, person, [cells[2], *cells[4:]]))
    whole = [visit for visit in visits if "NA" not in visit[2]]
    return rows(
        ["age", "m1", "m2", "m3", "m4"],
        [values for _, _, values in whole],
        [kind == "normals" for kind, _, _ in whole],
        groups=codes([person for _, person, _ in whole]),
    )


def breast_cancer(path: Path) -> Rows:
    """Drop the id; -1 stands for a missing value."""
    table = np.array([[-1 if cell == "?" else int(cell) for cell in row] for row in _fields(path)])
    return rows(CELLS, table[:, 1:10], table[:, 10] == 4)


def colposcopy(path: Path) -> Rows:
    """Keep the image features; drop the opinions of the six experts."""
    header, *table = csv.reader(_lines(path))
    keep = [i for i, name in enumerate(header) if not name.startswith("experts::") and name != "consensus"]
    good = header.index("consensus")
    return rows(
        [header[i] for i in keep], [[row[i] for i in keep] for row in table], [float(row[good]) == 1 for row in table]
    )


def diabetic_retinopathy(path: Path) -> Rows:
    """Everything after ``@data``."""
    lines = _lines(path)
    start = [line.strip().lower() for line in lines].index("@data") + 1
    table = np.array([line.split(",") for line in lines[start:]], dtype=float)
    return rows(RETINA, table[:, :-1], table[:, -1] == 0)


def ecoli(path: Path) -> Rows:
    """Drop the protein's name."""
    table = _fields(path)
    return rows(
        ["mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"],
        [row[1:8] for row in table],
        [row[8] == "pp" for row in table],
    )


def heart_cleveland(path: Path) -> Rows:
    """Drop rows with a missing value."""
    table = np.array([row for row in _fields(path) if "?" not in row], dtype=float)
    return rows(HEART, table[:, :13], table[:, 13] == 0)


def heart_statlog(path: Path) -> Rows:
    """The target class is disease, the opposite of Cleveland."""
    table = np.array(_fields(path), dtype=float)
    return rows(HEART, table[:, :13], table[:, 13] == 2)


def imports(path: Path) -> Rows:
    """Drop rows with a missing value; replace words by integers; a make becomes its rank in alphabetical order."""
    table = _fields(path)
    makes = {make: str(i) for i, make in enumerate(sorted({row[2] for row in table}), start=1)}
    coding = [makes if name == "make" else IMPORTS_CODES.get(name, {}) for name in IMPORTS_COLUMNS]
    whole = [row for row in table if "?" not in row]
    coded = [[code.get(cell, cell) for code, cell in zip(coding, row[1:], strict=True)] for row in whole]
    return rows(IMPORTS_COLUMNS, coded, [int(row[0]) <= 0 for row in whole])


def sonar(path: Path) -> Rows:
    """Sixty bands; the target class is rock."""
    table = _fields(path)
    return rows([f"band_{i:02d}" for i in range(1, 61)], [row[:60] for row in table], [row[60] == "R" for row in table])


def survival(path: Path) -> Rows:
    """Three columns and the class."""
    table = np.array(_fields(path), dtype=float)
    return rows(["age", "year", "nodes"], table[:, :3], table[:, 3] == 1)


def vowel(path: Path) -> Rows:
    """Training rows only; the columns are flag, speaker, sex, ten features, class."""
    table = np.array(_fields(path), dtype=float)
    table = table[table[:, 0] == 0]
    return rows([f"f{i}" for i in range(10)], table[:, 3:13], table[:, 13] == 0, groups=table[:, 1])


def waveform(path: Path) -> Rows:
    """Keep the first 300 rows of each of the three classes, in the order of the file."""
    table = np.array(_fields(path), dtype=float)
    first = np.sort(np.concatenate([np.flatnonzero(table[:, 21] == wave)[:300] for wave in range(3)]))
    return rows([f"x{i:02d}" for i in range(1, 22)], table[first, :21], table[first, 21] == 1)

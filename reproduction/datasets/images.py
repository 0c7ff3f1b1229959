"""Readers of the digit images and of the datasets that are part of scikit-learn."""

from pathlib import Path

import numpy as np

from .errors import need
from .rows import Rows, rows

__all__ = ["concordia_csv", "concordia_mat", "digits", "semeion", "usps", "wine"]

PIXELS = [f"p{i:03d}" for i in range(256)]
WINE = [
    "alcohol",
    "malic_acid",
    "ash",
    "alcalinity_of_ash",
    "magnesium",
    "total_phenols",
    "flavanoids",
    "nonflavanoid_phenols",
    "proanthocyanins",
    "color_intensity",
    "hue",
    "od280_od315",
    "proline",
]


def concordia_mat(path: Path) -> Rows:
    """All rows of an authors' split of one task: targets (train, test), then outliers (train, test)."""
    mat = need("scipy.io", "read .mat files").loadmat(path)
    test, is_target = mat["test_data"].T, mat["test_labels"].ravel() == 1
    targets = np.vstack([mat["train_pos_data_all"], test[is_target]])
    outliers = np.vstack([mat["train_neg_data_all"], test[~is_target]])
    # The file holds k / 225 with rounding errors; the whole numbers k are exact.
    pixels = np.rint(np.vstack([targets, outliers]) * 225)
    return rows(PIXELS, pixels, np.arange(len(pixels)) < len(targets))


def concordia_csv(path: Path, *, digit: int) -> Rows:
    """All 4000 rows; a label is certain if the digit comes from a file or from the order of its rows."""
    table = need("pandas", "read tables").read_csv(path)
    known = table["digit_source"].isin(["file", "order"])
    return rows(PIXELS, table[PIXELS], table["digit"] == digit, certain=known)


def usps(path: Path, *, digit: int) -> Rows:
    """256 pixels, and a label 1..10 that stands for the digits 0..9."""
    table = need("scipy.io", "read .mat files").loadmat(path)["usps_all"]
    return rows(PIXELS, table[:, :256], table[:, 256] == digit + 1)


def semeion(path: Path, *, digit: int) -> Rows:
    """256 binary pixels, and ten columns that mark the digit."""
    table = np.loadtxt(path)
    return rows(PIXELS, table[:, :256], table[:, 256 + digit] == 1)


def digits(_: Path, *, digit: int) -> Rows:
    """The 8 x 8 digits of scikit-learn."""
    bunch = need("sklearn.datasets", "load digits").load_digits()
    return rows(bunch.feature_names, bunch.data, bunch.target == digit)


def wine(_: Path) -> Rows:
    """The wine dataset of scikit-learn, which numbers its classes from 0."""
    bunch = need("sklearn.datasets", "load wine").load_wine()
    return rows(WINE, bunch.data, bunch.target == 1)

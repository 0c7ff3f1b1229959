"""The published numbers: F1 in per cent, training seconds, and the counts of the datasets."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

__all__ = ["datasets", "f1", "f1_digits", "train_seconds"]


def f1(dataset: str, method: str) -> float | None:
    """Published F1 in per cent, or None if the paper has none.

    Parameters
    ----------
    dataset, method : str
        Names, as in `reproduction`.

    Returns
    -------
    float or None

    Examples
    --------
    >>> f1("vowel", "VAAKELM"), f1("concordia_3", "PCA")
    (100.0, None)
    """
    printed = _f1().get((dataset, method))
    return None if printed is None else float(printed)


def f1_digits(dataset: str, method: str) -> int:
    """Number of decimals of a published F1; the paper does not print trailing zeros.

    Parameters
    ----------
    dataset, method : str
        Names, as in `reproduction`.

    Returns
    -------
    int

    Examples
    --------
    >>> f1_digits("biomed", "AAKELM"), f1_digits("diabetic_retinopathy", "VAAKELM")
    (2, 1)
    """
    return len(_f1()[dataset, method].partition(".")[2])


def train_seconds(dataset: str, method: str) -> float | None:
    """Published training time in seconds, or None if the paper has none.

    Parameters
    ----------
    dataset, method : str
        Names, as in `reproduction`.

    Returns
    -------
    float or None

    Examples
    --------
    >>> train_seconds("ecoli", "VAAKELM")
    0.0032
    """
    printed = _cells("train_seconds").get((dataset, method))
    return None if printed is None else float(printed)


def datasets() -> dict[str, dict[str, str]]:
    """Published counts and target class of every dataset.

    Returns
    -------
    dict of str to dict

    Examples
    --------
    >>> datasets()["wine"]["targets"]
    '71'
    """
    return {row["dataset"]: row for row in _table("datasets")}


def _f1() -> dict[tuple[str, str], str]:
    return _cells("f1_small") | _cells("f1_medium")


@cache
def _cells(table: str) -> dict[tuple[str, str], str]:
    return {(row["dataset"], m): row[m] for row in _table(table) for m in row if m != "dataset"}


@cache
def _table(name: str) -> tuple[dict[str, str], ...]:
    text = (files(__name__) / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))

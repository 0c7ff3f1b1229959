"""``load``: a dataset by name as features, labels, groups and its card."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oneclass.datasets.card import Card
from oneclass.datasets.errors import need
from oneclass.datasets.registry import card as card_of
from oneclass.datasets.store import data_folder, rows_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "load"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A loaded dataset; unpacks as ``X, y``.

    Parameters
    ----------
    X : pandas.DataFrame
        Features, one named column each.
    y : ndarray of int
        +1 target, -1 outlier.
    groups : ndarray of int or None
        Rows with the same number come from the same person, speaker or recording.
    card : Card
        What is known of the dataset.

    Examples
    --------
    >>> from oneclass.datasets import load
    >>> wine = load("wine")
    >>> wine.X.columns[0], wine.card.title
    ('alcohol', 'Wine')
    """

    X: "pd.DataFrame"
    y: NDArray[np.int64]
    groups: NDArray[np.int64] | None
    card: Card

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    strict: bool = False,
    download: bool = True,
    progress: bool = True,
) -> Dataset:
    """Load a dataset and verify its rows.

    The raw file is looked for in ``data_home``, else in the folder that the environment variable ``ONECLASS_DATA``
    names, then in the cache; last it is downloaded once from its public home.

    Parameters
    ----------
    name : str
        One of `names`.
    data_home : path, optional
        Folder with raw files, ``<data_home>/<dataset>/<file>``.
    strict : bool, default False
        Leave out rows whose label was inferred (some of Concordia; no other dataset has any).
    download : bool, default True
        Whether the network may be used.
    progress : bool, default True
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        Unknown name.
    DatasetError
        File not found, network out of reach, or rows that differ from the registered ones.
    ImportError
        A package of the extra ``data`` is missing.

    Examples
    --------
    >>> from oneclass.datasets import load
    >>> X, y = load("digits_0")
    >>> X.shape, int((y == 1).sum())
    ((1797, 64), 178)
    """
    card = card_of(name)
    pandas = need("pandas", "return features as a table")
    rows = rows_of(card, data_folder(data_home), fetch=download, progress=progress)
    if strict:
        rows = rows.only_certain()
    return Dataset(X=pandas.DataFrame(rows.X, columns=list(rows.columns)), y=rows.y, groups=rows.groups, card=card)

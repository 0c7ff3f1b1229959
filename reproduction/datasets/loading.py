"""Load a dataset by name: features, labels, groups and card."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .card import Card
from .errors import need
from .registry import card as card_of
from .store import data_folder, rows_of

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
        +1 for targets, -1 for outliers.
    groups : ndarray of int or None
        Rows of one person, speaker or recording have the same number.
    card : Card
        What is known about the dataset.

    Examples
    --------
    >>> from reproduction.datasets import load
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

    The raw file is taken from the first of these places that has it: the folder ``data_home`` (by default the one that
    the environment variable ``ONECLASS_DATA`` names), the cache, and its public address. A download goes to the cache.

    Parameters
    ----------
    name : str
        One of `names`.
    data_home : path, optional
        Folder that holds raw files as ``<data_home>/<dataset>/<file>``.
    strict : bool, default False
        Leave out rows whose label was inferred. Only Concordia has such rows.
    download : bool, default True
        Use the network if the file is in neither folder.
    progress : bool, default True
        Show a progress bar during a download (needs tqdm).

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        The name is unknown.
    DatasetError
        The file is not found, the network is out of reach, or the rows differ from the registered ones.
    ImportError
        A package of the extra ``reproduction`` is missing.

    Examples
    --------
    >>> from reproduction.datasets import load
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

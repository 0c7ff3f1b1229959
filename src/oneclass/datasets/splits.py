"""The authors' own splits: train targets, train outliers, test set and five folds, as published."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oneclass.datasets.errors import DatasetError, need
from oneclass.datasets.fingerprints import SPLITS
from oneclass.datasets.handwriting import DKRLVOC, VAAKELM
from oneclass.datasets.rows import fingerprint
from oneclass.datasets.store import ENVIRONMENT, data_folder

__all__ = ["AuthorSplit", "Fold", "author_split_names", "load_author_split"]


class Fold(NamedTuple):
    """One fold of an authors' split: targets to train on, rows and labels to validate on.

    Examples
    --------
    >>> from oneclass.datasets import Fold
    >>> Fold._fields
    ('train_target', 'val_X', 'val_y')
    """

    train_target: NDArray[np.float64]
    val_X: NDArray[np.float64]  # noqa: N815
    val_y: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AuthorSplit:
    """A split as its authors published it; labels +1 target, -1 outlier; values before any scaling of ours.

    Parameters
    ----------
    name : str
        Name of the split.
    train_target, train_outlier : ndarray
        Training rows per class; the outliers are never used to train.
    test_X, test_y : ndarray
        Test rows and labels.
    folds : tuple of Fold
        Five folds of the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.datasets import AuthorSplit
    >>> rows = np.zeros((2, 3))
    >>> AuthorSplit("toy", rows, rows, rows, np.array([1, -1]), ()).test_X.shape
    (2, 3)
    """

    name: str
    train_target: NDArray[np.float64]
    train_outlier: NDArray[np.float64]
    test_X: NDArray[np.float64]  # noqa: N815
    test_y: NDArray[np.int64]
    folds: tuple[Fold, ...]


def author_split_names() -> tuple[str, ...]:
    """Names that `load_author_split` knows; ``dkrlvoc_`` marks those of the group's earlier paper.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from oneclass.datasets import author_split_names
    >>> [name for name in author_split_names() if not name.startswith("dkrlvoc_")]
    ['biomed', 'concordia_0', 'concordia_1', 'diabetic_retinopathy', 'ecoli', 'imports', 'vowel']
    """
    return tuple(SPLITS)


def load_author_split(name: str, path: str | os.PathLike[str] | None = None) -> AuthorSplit:
    """Read a split that the paper's authors published.

    Parameters
    ----------
    name : str
        One of `author_split_names`.
    path : path, optional
        A folder with ``<name>.npz``, that file, or the ``.mat`` file of the authors (taken as it is). None: the folder
        ``author_splits`` in, or beside, the one that ``ONECLASS_DATA`` names.

    Returns
    -------
    AuthorSplit

    Raises
    ------
    ValueError
        Unknown name.
    DatasetError
        File not found, or arrays that are not the published ones.

    Examples
    --------
    >>> from oneclass.datasets import load_author_split
    >>> load_author_split("iris")
    Traceback (most recent call last):
        ...
    ValueError: no authors' split is called 'iris' (oneclass.datasets.author_split_names() lists all)
    """
    if name not in SPLITS:
        raise ValueError(f"no authors' split is called {name!r} (oneclass.datasets.author_split_names() lists all)")
    file = _find(name, data_folder(path))
    try:
        split = _from_mat(name, file) if file.suffix == ".mat" else _from_npz(name, file)
    except Exception as error:
        raise DatasetError(f"author split {name}: {file} cannot be parsed; replace it by a fresh copy.") from error
    if file.suffix != ".mat" and print_of_split(split) != SPLITS[name]:
        raise DatasetError(f"author split {name}: {file} is not the published split; replace it by a fresh copy.")
    return split


def print_of_split(split: AuthorSplit) -> str:
    """Fingerprint of all arrays of a split."""
    folds = [part for fold in split.folds for part in fold]
    return fingerprint(split.train_target, split.train_outlier, split.test_X, split.test_y, *folds)


def _find(name: str, folder: Path | None) -> Path:
    if folder is not None:
        file = f"{name}.npz"
        for place in (folder, folder / file, folder / "author_splits" / file, folder.parent / "author_splits" / file):
            if place.is_file():
                return place
    home = DKRLVOC if name.startswith("dkrlvoc_") else VAAKELM
    where = "no data folder is given" if folder is None else f"it is not in {folder}"
    raise DatasetError(
        f"author split {name}: {where}; it has no public home but its authors' repository ({home}), so name in "
        f"{ENVIRONMENT} or path a folder with author_splits/{name}.npz, or give the authors' .mat file as path."
    )


def _from_npz(name: str, file: Path) -> AuthorSplit:
    with np.load(file, allow_pickle=False) as npz:
        folds = tuple(
            Fold(npz[f"fold{k}_train_target"], npz[f"fold{k}_val_X"], npz[f"fold{k}_val_y"].astype(np.int64))
            for k in range(1, 6)
        )
        return AuthorSplit(
            name, npz["train_target"], npz["train_outlier"], npz["test_X"], npz["test_y"].astype(np.int64), folds
        )


def _from_mat(name: str, file: Path) -> AuthorSplit:
    mat = need("scipy.io", "read .mat files").loadmat(file)
    folds = tuple(
        Fold(fold["train_pos"], fold["val"], _signs(fold["val_labels"])) for fold in mat["folds_train"].ravel()
    )
    return AuthorSplit(
        name,
        mat["train_pos_data_all"],
        mat["train_neg_data_all"],
        mat["test_data"].T,
        _signs(mat["test_labels"]),
        folds,
    )


def _signs(labels: Any) -> NDArray[np.int64]:
    # The files say 1 for target and 2 for outlier.
    return np.where(np.ravel(labels) == 1, 1, -1).astype(np.int64)

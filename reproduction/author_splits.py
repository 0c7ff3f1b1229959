"""The splits that the authors published: training targets and outliers, test set and five folds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from .datasets import DatasetError, card
from .datasets.rows import fingerprint
from .datasets.store import ENVIRONMENT, data_folder
from .fingerprints import SPLITS
from .splitting import Fold, Split

__all__ = ["AUTHORS_SPLITS", "AuthorSplit", "author_split_names", "authors_split", "load_author_split"]

#: The seven splits that the paper's authors released.
AUTHORS_SPLITS = ("biomed", "diabetic_retinopathy", "ecoli", "imports", "vowel", "concordia_0", "concordia_1")


@dataclass(frozen=True, eq=False)
class AuthorSplit(Split):
    """A split as its authors published it. No machine learns from the training outliers.

    Labels are +1 for targets and -1 for outliers. Values are not scaled.
    """

    outliers: NDArray[np.float64]


def author_split_names() -> tuple[str, ...]:
    """Names that `load_author_split` accepts; ``dkrlvoc_`` marks splits of the group's earlier paper.

    Returns
    -------
    tuple of str

    Examples
    --------
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
        A folder that holds ``<name>.npz``, that file, or the authors' ``.mat`` file, which is not verified. None: the
        folder ``author_splits`` inside or beside the one that ``ONECLASS_DATA`` names.

    Returns
    -------
    AuthorSplit

    Raises
    ------
    ValueError
        The name is unknown.
    DatasetError
        The file is not found, or its arrays are not the published ones.

    Examples
    --------
    >>> load_author_split("iris")
    Traceback (most recent call last):
        ...
    ValueError: no authors' split is called 'iris' (author_split_names() lists all)
    """
    if name not in SPLITS:
        raise ValueError(f"no authors' split is called {name!r} (author_split_names() lists all)")
    file = _find(name, data_folder(path))
    try:
        split = _from_mat(file) if file.suffix == ".mat" else _from_npz(file)
    except Exception as error:
        raise DatasetError(f"author split {name}: {file} cannot be parsed; replace it by a fresh copy.") from error
    if file.suffix != ".mat" and print_of_split(split) != SPLITS[name]:
        raise DatasetError(f"author split {name}: {file} is not the published split; replace it by a fresh copy.")
    return split


def authors_split(name: str, *, noisy: bool = True) -> Split:
    """One of `AUTHORS_SPLITS`.

    Parameters
    ----------
    name : str
        Name of a split.
    noisy : bool
        Read Concordia from the authors' file if the data folder has it. Its pixels have rounding errors of 1e-16, which
        the release's z-scores enlarge. Without these errors the published numbers do not come out.

    Returns
    -------
    Split

    Examples
    --------
    >>> authors_split("iris")
    Traceback (most recent call last):
        ...
    ValueError: no authors' split is called 'iris' (author_split_names() lists all)
    """
    return load_author_split(name, next(_authors_files(name), None) if noisy else None)


def _authors_files(name: str) -> Iterator[Path]:
    folder = data_folder(None)
    if folder is not None and name.startswith("concordia_"):
        file = f"concordia/{name.capitalize()}.mat"
        yield from (place for place in (folder / file, folder / "raw" / file) if place.is_file())


def print_of_split(split: AuthorSplit) -> str:
    """Fingerprint of all arrays of a split."""
    folds = [part for fold in split.folds for part in fold]
    return fingerprint(split.train, split.outliers, split.rows, split.y, *folds)


def _find(name: str, folder: Path | None) -> Path:
    if folder is not None:
        file = f"{name}.npz"
        for place in (folder, folder / file, folder / "author_splits" / file, folder.parent / "author_splits" / file):
            if place.is_file():
                return place
    # The splits are in the same repositories as Concordia's digits.
    home = card("concordia_5" if name.startswith("dkrlvoc_") else "concordia_0").source
    where = "no data folder is given" if folder is None else f"it is not in {folder}"
    raise DatasetError(
        f"author split {name}: {where}; it is published in its authors' repository only ({home}), so name in "
        f"{ENVIRONMENT} or path a folder with author_splits/{name}.npz, or give the authors' .mat file as path."
    )


def _from_npz(file: Path) -> AuthorSplit:
    with np.load(file, allow_pickle=False) as npz:
        folds = tuple(
            Fold(npz[f"fold{k}_train_target"], npz[f"fold{k}_val_X"], npz[f"fold{k}_val_y"].astype(np.int64))
            for k in range(1, 6)
        )
        y = npz["test_y"].astype(np.int64)
        return AuthorSplit(npz["train_target"], npz["test_X"], y, folds, npz["train_outlier"])


def _from_mat(file: Path) -> AuthorSplit:
    mat = loadmat(file)
    folds = tuple(
        Fold(fold["train_pos"], fold["val"], _signs(fold["val_labels"])) for fold in mat["folds_train"].ravel()
    )
    y = _signs(mat["test_labels"])
    return AuthorSplit(mat["train_pos_data_all"], mat["test_data"].T, y, folds, mat["train_neg_data_all"])


def _signs(labels: Any) -> NDArray[np.int64]:
    # In the files, 1 is a target and 2 an outlier.
    return np.where(np.ravel(labels) == 1, 1, -1).astype(np.int64)

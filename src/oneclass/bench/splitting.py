"""Splits as every recipe sees them: targets to train on, test rows, and five folds to choose parameters by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oneclass.datasets import load, load_author_split
from oneclass.datasets.store import data_folder

__all__ = ["AUTHORS_SPLITS", "Fold", "Split", "authors_split", "random_split"]

Float = NDArray[np.float64]
Labels = NDArray[np.int64]

#: The seven splits that the paper's authors released.
AUTHORS_SPLITS = ("biomed", "diabetic_retinopathy", "ecoli", "imports", "vowel", "concordia_0", "concordia_1")


class Fold(NamedTuple):
    """Targets to train on; rows of both classes to validate on."""

    train: Float
    rows: Float
    y: Labels


@dataclass(frozen=True, eq=False)
class Split:
    """Training targets, test rows of both classes, and folds of the training part."""

    train: Float
    rows: Float
    y: Labels
    folds: tuple[Fold, ...]

    def reordered(self, seed: int) -> Split:
        """The same split with its training rows in another order; seed 0 keeps the order."""
        if seed == 0:
            return self
        draw = np.random.default_rng(seed).permutation
        folds = tuple(fold._replace(train=draw(fold.train)) for fold in self.folds)
        return replace(self, train=draw(self.train), folds=folds)


def random_split(dataset: str, seed: int, *, share: float = 0.8, n_folds: int = 5) -> Split:
    """Draw `share` of either class for training and cut that part into folds.

    Parameters
    ----------
    dataset : str
        Name of a dataset.
    seed : int
        Number of the split.
    share : float
        Share of the rows of either class that may be trained or validated on.
    n_folds : int
        Number of folds.

    Returns
    -------
    Split

    Examples
    --------
    >>> split = random_split("digits_0", seed=0)
    >>> split.train.shape, split.rows.shape, len(split.folds)
    ((142, 64), (360, 64), 5)
    """
    X, y = _rows(dataset)
    rng = np.random.default_rng([seed, *dataset.encode()])
    kept, test = zip(*(_cut(rng.permutation(np.flatnonzero(y == label)), share) for label in (1, -1)), strict=True)
    folds = []
    for held in zip(*(np.array_split(part, n_folds) for part in kept), strict=True):
        validation = np.concatenate(held)
        folds.append(Fold(X[np.setdiff1d(kept[0], held[0])], X[validation], y[validation]))
    rows = np.concatenate(test)
    return Split(X[np.sort(kept[0])], X[rows], y[rows], tuple(folds))


def authors_split(name: str, *, noisy: bool = True) -> Split:
    """One of `AUTHORS_SPLITS`.

    Parameters
    ----------
    name : str
        Name of a split.
    noisy : bool
        Whether to read Concordia from the authors' own file where the data folder holds it. Its pixels carry rounding
        errors of 1e-16 that the release's z-scores blow up, so that clean values do not give the published numbers.

    Returns
    -------
    Split

    Examples
    --------
    >>> authors_split("iris")
    Traceback (most recent call last):
        ...
    ValueError: no authors' split is called 'iris' (oneclass.datasets.author_split_names() lists all)
    """
    published = load_author_split(name, next(_authors_files(name), None) if noisy else None)
    folds = tuple(Fold(*fold) for fold in published.folds)
    return Split(published.train_target, published.test_X, published.test_y, folds)


def _authors_files(name: str) -> Iterator[Path]:
    folder = data_folder(None)
    if folder is not None and name.startswith("concordia_"):
        file = f"concordia/{name.capitalize()}.mat"
        yield from (place for place in (folder / file, folder / "raw" / file) if place.is_file())


def _cut(indices: Labels, share: float) -> tuple[Labels, Labels]:
    n = round(share * len(indices))
    return indices[:n], indices[n:]


@lru_cache(maxsize=2)
def _rows(dataset: str) -> tuple[Float, Labels]:
    X, y = load(dataset)
    return X.to_numpy(dtype=float), y

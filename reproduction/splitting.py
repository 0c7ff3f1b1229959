"""Splits: training targets, test rows, and five folds to choose parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .datasets import load

__all__ = ["Fold", "Split", "all_rows", "random_split"]

Float = NDArray[np.float64]
Labels = NDArray[np.int64]


class Fold(NamedTuple):
    """Training targets, and validation rows of both classes."""

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
        """The same split with the training rows in another order; seed 0 keeps the order."""
        if seed == 0:
            return self
        draw = np.random.default_rng(seed).permutation
        folds = tuple(fold._replace(train=draw(fold.train)) for fold in self.folds)
        return replace(self, train=draw(self.train), folds=folds)


def random_split(dataset: str, seed: int, *, share: float = 0.8, n_folds: int = 5) -> Split:
    """Draw `share` of each class for training, and cut this part into folds.

    Parameters
    ----------
    dataset : str
        Name of a dataset.
    seed : int
        Number of the split.
    share : float
        Share of the rows of each class that is for training and validation.
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
    X, y = all_rows(dataset)
    rng = np.random.default_rng([seed, *dataset.encode()])
    kept, test = zip(*(_cut(rng.permutation(np.flatnonzero(y == label)), share) for label in (1, -1)), strict=True)
    folds = []
    for held in zip(*(np.array_split(part, n_folds) for part in kept), strict=True):
        validation = np.concatenate(held)
        folds.append(Fold(X[np.setdiff1d(kept[0], held[0])], X[validation], y[validation]))
    rows = np.concatenate(test)
    return Split(X[np.sort(kept[0])], X[rows], y[rows], tuple(folds))


def _cut(indices: Labels, share: float) -> tuple[Labels, Labels]:
    n = round(share * len(indices))
    return indices[:n], indices[n:]


@lru_cache(maxsize=2)
def all_rows(dataset: str) -> tuple[Float, Labels]:
    """Rows and labels of a dataset.

    Parameters
    ----------
    dataset : str
        Name of a dataset.

    Returns
    -------
    tuple of arrays

    Examples
    --------
    >>> all_rows("digits_0")[0].shape
    (1797, 64)
    """
    X, y = load(dataset)
    return X.to_numpy(dtype=float), y

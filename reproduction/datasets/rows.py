"""Rows, labels and groups of a dataset, and their fingerprint."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Rows", "codes", "fingerprint", "rows"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Parsed rows: column names, values, labels (+1, -1), group numbers, and which labels are certain."""

    columns: tuple[str, ...]
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    groups: NDArray[np.int64] | None = None
    certain: NDArray[np.bool_] | None = None

    def only_certain(self) -> "Rows":
        """The rows whose label was not inferred."""
        keep = self.certain
        if keep is None:
            return self
        groups = None if self.groups is None else self.groups[keep]
        return replace(self, X=self.X[keep], y=self.y[keep], groups=groups, certain=keep[keep])


def rows(
    columns: Sequence[str],
    X: ArrayLike,
    target: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    certain: ArrayLike | None = None,
) -> Rows:
    """Rows from text or numbers, and a mask of the target class."""
    return Rows(
        columns=tuple(columns),
        X=np.asarray(X, dtype=np.float64),
        y=np.where(np.asarray(target, dtype=bool), 1, -1).astype(np.int64),
        groups=None if groups is None else np.asarray(groups, dtype=np.int64),
        certain=None if certain is None else np.asarray(certain, dtype=bool),
    )


def codes(names: Sequence[object]) -> NDArray[np.int64]:
    """Numbers 0, 1, 2, ... for names, in order of first appearance."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def fingerprint(*parts: ArrayLike | None) -> str:
    """Sha256 of the values of arrays, which does not depend on how a file writes them."""
    sha = hashlib.sha256()
    for part in parts:
        if part is None:
            sha.update(b"none")
            continue
        # Adding 0 turns -0.0 into 0.0: they are equal but differ in bytes.
        array = np.ascontiguousarray(part, dtype="<f8") + 0.0
        sha.update(str(array.shape).encode() + array.tobytes())
    return sha.hexdigest()

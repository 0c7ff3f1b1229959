"""Which rows are targets: labels of any kind, read once, at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["is_target"]

#: Words that name the target class when the user does not say which label does.
_WORDS = ("target", "normal", "inlier")


def is_target(y: Any, target: Any = None, *, caller: str = "is_target") -> NDArray[np.bool_]:
    """Whether each row is of the target class.

    Without `target`, +1 (against -1), 1 (against 0), True and the words "target", "normal" or "inlier" name the target
    class. Libraries that call outliers 1 and normal rows 0 need ``target=0``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels: numbers, booleans or strings.
    target : label, optional
        The label of the target class; every other label is an outlier's.
    caller : str
        Name to begin error messages with.

    Returns
    -------
    bool array of shape (n_samples,)

    Examples
    --------
    >>> is_target([1, -1, 1])
    array([ True, False,  True])
    >>> is_target(["cat", "dog"], target="dog")
    array([False,  True])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"{caller}: y must have one dimension, got {labels.ndim}")
    if np.iscomplexobj(labels):
        raise ValueError(f"{caller}: y must hold numbers, booleans or strings. Complex data not supported")
    known = np.unique(labels)
    found = labels == (_target_of(known, caller) if target is None else target)
    if not np.any(found):
        named = "" if target is None else f" equal to target={target!r}"
        raise ValueError(f"{caller}: y must hold at least one label of the target class{named}, got {known.tolist()!r}")
    return np.asarray(found)


def _target_of(known: NDArray[Any], caller: str) -> Any:
    labels = known.tolist()
    if set(labels) <= {-1, 1} or set(labels) <= {0, 1}:
        return 1
    words = [label for label in labels if isinstance(label, str) and label.lower() in _WORDS]
    if len(words) == 1:
        return words[0]
    shown = ", ".join(repr(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    raise ValueError(f"{caller}: target must say which label of y is the target class, one of {shown}; got None")

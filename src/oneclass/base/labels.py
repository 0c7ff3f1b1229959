"""Reading of labels: which rows belong to the target class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import is_foreign, to_numpy
from ..core.typing import Labels
from .groups import is_missing
from .warnings import LabelWarning, warn

__all__ = ["is_target", "read_answers", "read_outliers", "read_targets", "warn_of_few"]

#: Labels that mean the target class if the user gives no `target`.
_WORDS = ("target", "normal", "inlier")


def is_target(y: Labels, target: object = None, *, caller: str = "is_target") -> NDArray[np.bool_]:
    """Whether each row is of the target class.

    Without `target`, +1 (against -1), 1 (against 0), True and the words "target", "normal" or "inlier" name the target
    class. Libraries that call outliers 1 and normal rows 0 need ``target=0``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels: numbers, booleans or strings.
    target : label, optional
        The label of the target class; rows with any other label are outliers.
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
    known = _distinct(labels)
    wanted = _target_of(known) if target is None else target
    if wanted is None:
        raise ValueError(
            f"{caller}: target must be the label of the target class in y, one of {_shown(known)}; got None"
        )
    found = labels == wanted
    if not np.any(found):
        named = "" if target is None else f" equal to target={target!r}"
        raise ValueError(f"{caller}: y must hold at least one label of the target class{named}, got {known!r}")
    return np.asarray(found)


def read_targets(estimator: object, y: Labels | None, n_rows: int) -> NDArray[np.bool_] | None:
    """Mask of the training rows that `y` labels as targets; None if all rows are training rows."""
    if y is None:
        return None
    name = type(estimator).__name__
    labels = to_numpy(y) if is_foreign(y) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        raise ValueError(f"{name}: y must be one label a row, of shape ({n_rows},), got {labels.shape}")
    missing = is_missing(labels)
    known = _distinct(labels[~missing])
    if missing.all():
        return None
    if len(known) < 2 and known != [-1] and not missing.any():  # only -1: no row is of the target class
        return None
    target = _target_of(known)
    if missing.any():
        if target is None:
            raise ValueError(
                f"{name}: y must name the target class if some labels are missing, by +1, 1, 'target', 'normal' or "
                f"'inlier', or as is_target(y, target=...) gives it; got {_shown(known)}"
            )
        warn(
            f"{name}: {int(missing.sum())} of {n_rows} rows have no label and are left out, neither normal rows nor "
            "outliers; label those that are normal +1",
            LabelWarning,
        )
    if target is None:
        # A warning and not an error, because scikit-learn's estimator checks pass such labels.
        warn(
            f"{name}: y holds several labels, {_shown(known)}, and none that names the target class, so all rows are "
            "training rows; pass y=is_target(y, target=...), or the rows of the target class alone",
            LabelWarning,
        )
        return None
    targets: NDArray[np.bool_] = labels == target
    if targets.sum() < 2:
        raise ValueError(f"{name}: y must mark at least two rows as targets, {target!r}, got {int(targets.sum())}")
    warn_of_few(name, targets[~missing], "pass the rows of the target class alone")
    return targets


def read_outliers(y: Labels | None, targets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mask of the rows that `y` labels as outliers: those that are no `targets` and have a label."""
    labels = np.asarray(to_numpy(y) if is_foreign(y) else y).reshape(len(targets))
    return ~targets & ~is_missing(labels)


def read_answers(name: str, y: Labels, n_rows: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the rows that `y` labels as normal and as outliers; rows with a missing label are in neither."""
    labels = to_numpy(y) if is_foreign(y) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        raise ValueError(f"{name}: y must be one label a row, of shape ({n_rows},), got {labels.shape}")
    answered = ~is_missing(labels)
    known = _distinct(labels[answered])
    target = _target_of(known)
    if not known or target is None:
        raise ValueError(
            f"{name}: y must hold answers, +1 for normal rows and -1 or 0 for outliers, or 'normal' and another word; "
            f"got {_shown(known) if known else 'missing labels only'}"
        )
    return answered & (labels == target), answered & (labels != target)


def warn_of_few(caller: str, targets: NDArray[np.bool_], remedy: str) -> None:
    """Warn if fewer than half of the rows are targets: in some data sets, 1 means outlier and 0 means normal."""
    if 2 * targets.sum() < len(targets):
        warn(
            f"{caller}: {targets.sum()} of {len(targets)} rows are labelled as targets and the others as outliers; "
            f"if it is the other way round, {remedy}",
            LabelWarning,
        )


def _distinct(labels: NDArray[np.generic]) -> list[object]:
    # Labels of mixed types cannot be sorted.
    return list(dict.fromkeys(labels.tolist())) if labels.dtype == object else np.unique(labels).tolist()


def _target_of(labels: list[object]) -> object:
    """The label of the target class; None if the labels do not determine it."""
    if set(labels) <= {-1, 1} or set(labels) <= {0, 1}:
        return 1
    words = [label for label in labels if isinstance(label, str) and label.lower() in _WORDS]
    return words[0] if len(words) == 1 else None


def _shown(labels: list[object]) -> str:
    return ", ".join(repr(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")

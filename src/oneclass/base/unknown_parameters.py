"""Errors for parameters that a class does not have, which name the parameter of this library for those of others."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

__all__ = ["refusing_unknown"]

#: Parameters of other libraries, each with what stands for it here.
_OTHERS = {
    "contamination": "delta= is the share of normal rows that may be rejected; screen() is for tables with outliers",
    "nu": "delta= is the share of normal rows that may be rejected",
    "n_jobs": "the threads are those of NumPy, which threadpoolctl.threadpool_limits bounds",
    "gamma": "the width is that of the kernel, with gamma = 1 / (2 sigma²): kernel=RBF(sigma=...)",
    "n_estimators": "this classifier is not an ensemble",
}


def refusing_unknown(init: Callable[..., None]) -> Callable[..., None]:
    """The `__init__` of a class, with an error for unknown parameters that names what to use instead."""
    known = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: object, *args: Any, **params: Any) -> None:
        if unknown := [name for name in params if name not in known]:
            hint = f": {_OTHERS[unknown[0]]}" if unknown[0] in _OTHERS else f"; it has {', '.join(known)}"
            raise TypeError(f"{type(self).__name__} has no parameter {unknown[0]!r}{hint}")
        init(self, *args, **params)

    return checked

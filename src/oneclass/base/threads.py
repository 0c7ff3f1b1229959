"""Several threads at one classifier: an answer comes from one fit, and calls that change it take turns."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from threading import Lock, RLock
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["by_one_fit", "lock_of"]

E = TypeVar("E")
P = ParamSpec("P")
R = TypeVar("R")

# Locks are kept beside the estimators: copies, pickles and files of an estimator have no part in its lock.
_locks: WeakKeyDictionary[object, RLock] = WeakKeyDictionary()
_guard = Lock()


def lock_of(estimator: object) -> RLock:
    """The lock that a call holds while it changes this estimator; the same thread may take it again."""
    with _guard:
        return _locks.setdefault(estimator, RLock())


def _unlock() -> None:
    """Forget locks in a forked process, where threads that held them are gone."""
    global _guard, _locks
    _guard, _locks = Lock(), WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def by_one_fit(verb: Callable[Concatenate[E, P], R]) -> Callable[Concatenate[E, P], R]:
    """Decorator: the method answers by the fit that it finds, also when another thread fits the estimator meanwhile.

    It runs on a copy of the estimator's attributes, which every fit replaces in one step.
    """

    @wraps(verb)
    def answer(self: E, /, *args: P.args, **options: P.kwargs) -> R:
        found = object.__new__(type(self))
        found.__dict__ = vars(self).copy()
        return verb(found, *args, **options)

    return answer

"""Thread safety: a method uses the attributes of one fit only, and calls that change an estimator are serialized."""

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

# Locks are stored outside the estimators, so that copies, pickles and files of an estimator do not include them.
_locks: WeakKeyDictionary[object, RLock] = WeakKeyDictionary()
_guard = Lock()


def lock_of(estimator: object) -> RLock:
    """The lock that a call holds while it changes this estimator; the same thread may take it again."""
    with _guard:
        return _locks.setdefault(estimator, RLock())


def _unlock() -> None:
    """Replace locks in a forked process, in which the threads that held them do not exist."""
    global _guard, _locks
    _guard, _locks = Lock(), WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def by_one_fit(verb: Callable[Concatenate[E, P], R]) -> Callable[Concatenate[E, P], R]:
    """Decorator: the method uses the attributes of one fit, even if another thread fits the estimator meanwhile.

    The method runs on a shallow copy of the estimator. A fit replaces all attributes in one step.
    """

    @wraps(verb)
    def answer(self: E, /, *args: P.args, **options: P.kwargs) -> R:
        found = object.__new__(type(self))
        found.__dict__ = vars(self).copy()
        return verb(found, *args, **options)

    return answer

"""What was tried, how often, and what failed."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from oneclass import OneClassWarning

__all__ = ["Refused", "Result", "counted", "own_words", "sample", "told"]

Case = TypeVar("Case")

#: Characters of the description of a failure.
_LONGEST = 300


@dataclass(frozen=True)
class Result:
    """Number of tries of one kind, and a description of each failure."""

    what: str
    tried: int
    failed: tuple[str, ...] = ()
    found: str = ""  # a measured number, for the table

    def __str__(self) -> str:
        return f"{self.what}: {self.tried:,} tried, {len(self.failed)} failed{self.found and f' ({self.found})'}"


class Refused(Exception):  # noqa: N818
    """A call was refused in a sentence of the library."""


def counted(what: str, cases: Iterable[Case], check: Callable[[Case], str | None]) -> Result:
    """Check each case. A failure is a text that `check` returns, or an exception that it raises."""
    tried, failed = 0, []
    for case in cases:
        tried += 1
        try:
            fault = check(case)
        except Refused:
            continue
        except Exception as error:
            fault = f"{type(error).__name__}: {error} [{traceback.format_tb(error.__traceback__)[-1].strip()}]"
        if fault:
            failed.append(f"{case}: {fault}"[:_LONGEST])
    return Result(what, tried, tuple(failed))


def told(error: Exception, *names: str) -> bool:
    """Whether an error is one line that begins with one of these names, or is scikit-learn's and ends with one.

    Those of scikit-learn name the smallest number of rows or columns; its checks of estimators want these words.
    """
    said = str(error)
    worded = said.startswith(names) or said.endswith(tuple(f"is required by {name}." for name in names))
    return isinstance(error, ValueError | TypeError | OSError) and worded and said.isprintable()


@contextmanager
def own_words(*names: str) -> Iterator[None]:
    """A block in which errors that the library words itself are refusals, and its own warnings are ignored.

    Other errors pass, and other warnings are errors.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", OneClassWarning)
        warnings.filterwarnings("ignore", message=".*(did not converge|Number of distinct|did not reach tol)")
        try:
            yield
        except Exception as error:
            if told(error, *names):
                raise Refused(str(error)) from None
            raise


def sample(cases: list[Case], size: int, seed: int) -> list[Case]:
    """At most `size` of the cases, drawn by a seed; as many of them in a row as it takes, if there are fewer."""
    if size >= len(cases):
        return cases
    chosen = np.random.default_rng(seed).choice(len(cases), size, replace=False)
    return [cases[i] for i in sorted(chosen.tolist())]

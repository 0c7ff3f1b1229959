"""The rule ``approximation="auto"``: an exact fit if it is quick, landmarks otherwise."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ..base.checks import ChoiceError
from ..base.kernels import is_precomputed
from ..base.memory import has_room
from ..core.approximation import Approximation, Nystrom
from ..core.arrays import Array, is_foreign, on_host
from .parameters import is_matrix

if TYPE_CHECKING:
    from .kernel_machine import KernelMachine

__all__ = ["choose_approximation", "chunk_approximation", "is_quick"]

_log = logging.getLogger("oneclass")

#: Largest number of rows that "auto" fits exactly, on a CPU and on a GPU. An exact fit of so many rows took a third of
#: a second on one core, and half a second on a GPU.
_EXACT_ROWS, _EXACT_DEVICE_ROWS = 2_000, 30_000


def choose_approximation(machine: KernelMachine, X: Array) -> Approximation | None:
    """The approximation with which `machine` fits the rows `X`; None is an exact fit."""
    if machine.approximation is None:
        return None
    if not isinstance(machine.approximation, str):
        return chunk_approximation(machine)
    exactly = is_quick(int(X.shape[0]), X) or is_precomputed(machine) or is_matrix(machine.variance)
    chosen = None if machine.approximation == "auto" and exactly else chunk_approximation(machine)
    _log.info(
        "%s: approximation='auto' chose %s for %d rows", type(machine).__name__, chosen or "an exact fit", X.shape[0]
    )
    return chosen


def chunk_approximation(machine: KernelMachine) -> Approximation:
    """The approximation with which `machine` fits rows that are too many for an exact fit."""
    choice, name = machine.approximation, type(machine).__name__
    if is_precomputed(machine):
        raise ChoiceError(f"{name}: kernel='precomputed' needs an exact fit, approximation=None")
    if isinstance(choice, Approximation):
        return choice
    if choice is None or (isinstance(choice, str) and choice == "auto"):
        return Nystrom()
    raise ChoiceError(f"{name}: approximation must be None, 'auto', Nystrom(m) or Fourier(m); got {choice!r}")


def is_quick(n: int, like: Array) -> bool:
    """Whether an exact fit of `n` rows is quick and fits into the memory."""
    away = is_foreign(like) and not on_host(like)  # `like` may be a table
    return n <= (_EXACT_DEVICE_ROWS if away else _EXACT_ROWS) and has_room(8 * 3 * n * n, like)

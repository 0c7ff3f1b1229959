"""Limits of a service: size of a request, requests a second, and the names under which it answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["LOOPBACK", "Limits", "Rate"]

#: Hosts that only processes of the same machine reach.
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class Limits:
    """Limits of a service.

    Attributes
    ----------
    body : int
        Largest number of bytes of a request.
    rate : float
        Requests a second, on average; 0 for any number.
    local : bool
        Whether a request must be addressed to one of `LOOPBACK`. A page in a browser can make its own host name point
        to this machine; its requests then have that name.
    """

    body: int = 8 << 20
    rate: float = 1000.0
    local: bool = True


class Rate:
    """Admission of at most `rate` requests a second on average, and of as many at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._most = max(rate, 1.0)
        self._left, self._at = self._most, clock()

    def admits(self) -> bool:
        """Whether one more request is admitted now; if so, it is counted."""
        if not self._rate:
            return True
        now = self._clock()
        self._left, self._at = min(self._left + (now - self._at) * self._rate, self._most), now
        if self._left < 1:
            return False
        self._left -= 1
        return True

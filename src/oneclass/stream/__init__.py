"""Learning from rows that arrive over time while their distribution changes (drift)."""

from .events import Event, Moved
from .martingale import Martingale
from .policy import Patience
from .stream import Stream, Verdict

__all__ = ["Event", "Martingale", "Moved", "Patience", "Stream", "Verdict"]

"""Learning from rows that arrive over time while their distribution changes (drift)."""

from .estimator import Stream
from .events import Event, Martingale, Moved, Verdict
from .policy import Patience

__all__ = ["Event", "Martingale", "Moved", "Patience", "Stream", "Verdict"]

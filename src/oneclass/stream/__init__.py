"""Learning in a world that drifts: forgetting, windows, patience, events."""

from .events import Event, Moved
from .martingale import Martingale
from .policy import Patience
from .stream import Stream, Verdict

__all__ = ["Event", "Martingale", "Moved", "Patience", "Stream", "Verdict"]

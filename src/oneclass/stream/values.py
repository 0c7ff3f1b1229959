"""The frozen values that a stream is made of, for files."""

from ..core.moments import Moments
from .events import Event, Moved
from .forgetting import Forgetting
from .martingale import Bets, Martingale
from .memory import Memory
from .plan_check import Fitting
from .policy import Patience
from .state import Settings, State, Trial

__all__ = ["VALUES"]

#: Classes that a saved stream may hold.
VALUES: tuple[type, ...] = (
    Bets, Event, Fitting, Forgetting, Martingale, Memory, Moments, Moved, Patience, Settings, State, Trial,
)  # fmt: skip

"""The dataclasses that a saved stream contains."""

from ..core.moments import Moments
from .events import Event, Moved
from .forgetting import Forgetting
from .martingale import Bets, Martingale
from .memory import Memory
from .plan_check import Fitting
from .policy import Patience
from .state import Settings, State, Trial

__all__ = ["VALUES"]

#: Classes whose values `oneclass.load` accepts in a saved stream.
VALUES: tuple[type, ...] = (
    Bets, Event, Fitting, Forgetting, Martingale, Memory, Moments, Moved, Patience, Settings, State, Trial,
)  # fmt: skip

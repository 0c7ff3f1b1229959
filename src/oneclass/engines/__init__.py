"""How rows reach the core: an engine sums what a function makes of every chunk, wherever the chunks are."""

from .chunks import Chunks
from .memory import InMemory
from .plan import Plan, Survey
from .quantiles import LossSummary

__all__ = ["Chunks", "InMemory", "LossSummary", "Plan", "Survey"]

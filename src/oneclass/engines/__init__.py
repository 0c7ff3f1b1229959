"""How rows reach the core: an engine sums the results of a function over all chunks of rows."""

from .chunks import Chunks
from .memory import InMemory
from .protocol import Engine

__all__ = ["Chunks", "Engine", "InMemory"]

"""How rows reach the core: an engine sums what a function makes of every chunk, wherever the chunks are."""

from .chunks import Chunks
from .memory import InMemory
from .protocol import Engine

__all__ = ["Chunks", "Engine", "InMemory"]

"""Models that leave the house and come back."""

from ..disk.container import ModelFileError
from .loading import load

__all__ = ["ModelFileError", "load"]

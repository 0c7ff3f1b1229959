"""Models that leave the house and come back: `load`, and `to_onnx` for those that go where there is no Python."""

from ..io.container import ModelFileError
from .loading import load
from .onnx.export import to_onnx

__all__ = ["ModelFileError", "load", "to_onnx"]

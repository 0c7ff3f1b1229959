"""Loading of saved models (`load`), and export to ONNX for use without Python (`to_onnx`)."""

from ..io.container import ModelFileError
from .loading import load
from .onnx.export import to_onnx

__all__ = ["ModelFileError", "load", "to_onnx"]

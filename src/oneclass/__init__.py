"""One-class classification: learn what is normal from normal rows alone, and keep the false-alarm rate asked for."""

from .core.kernels import RBF, Laplacian, Linear, Polynomial
from .estimators import AAKELM, OCKELM, VAAKELM, VOCKELM

__version__ = "0.1.0"

__all__ = ["AAKELM", "OCKELM", "RBF", "VAAKELM", "VOCKELM", "Laplacian", "Linear", "Polynomial"]

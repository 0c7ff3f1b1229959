"""The scikit-learn face of the four kernel machines."""

from .aakelm import AAKELM
from .ockelm import OCKELM
from .vaakelm import VAAKELM
from .vockelm import VOCKELM

__all__ = ["AAKELM", "OCKELM", "VAAKELM", "VOCKELM"]

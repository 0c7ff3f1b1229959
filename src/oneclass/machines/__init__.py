"""Scikit-learn estimators: four kernel machines, and the two machines with a random hidden layer that preceded them."""

from .aaelm import AAELM
from .aakelm import AAKELM
from .ocelm import OCELM
from .ockelm import OCKELM
from .vaakelm import VAAKELM
from .vockelm import VOCKELM

__all__ = ["AAELM", "AAKELM", "OCELM", "OCKELM", "VAAKELM", "VOCKELM"]

"""The scikit-learn face of the four kernel machines, and of the two with a hidden layer that they grew from."""

from .aaelm import AAELM
from .aakelm import AAKELM
from .ocelm import OCELM
from .ockelm import OCKELM
from .vaakelm import VAAKELM
from .vockelm import VOCKELM

__all__ = ["AAELM", "AAKELM", "OCELM", "OCKELM", "VAAKELM", "VOCKELM"]

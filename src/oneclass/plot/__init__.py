"""Pictures for the questions that people ask of a classifier, after scikit-learn's displays.

A display is made by ``from_estimator``, which draws, or by ``of``, which does not; ``plot(ax=)`` draws it, and leaves
`figure_` and `ax_`. All of them look through pipelines and searches. Needs matplotlib, the extra ``plot``; it is
imported when something is drawn.
"""

from .boundary import BoundaryDisplay
from .curves import precision_recall_display, roc_display
from .drift import DriftDisplay
from .explanation import ExplanationDisplay
from .map import MapDisplay
from .p_values import PValueDisplay
from .rates import RateDisplay
from .scores import ScoreDisplay
from .threshold import ThresholdDisplay

__all__ = [
    "BoundaryDisplay",
    "DriftDisplay",
    "ExplanationDisplay",
    "MapDisplay",
    "PValueDisplay",
    "RateDisplay",
    "ScoreDisplay",
    "ThresholdDisplay",
    "precision_recall_display",
    "roc_display",
]

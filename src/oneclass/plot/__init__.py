"""Displays of scores, rates, p-values, explanations, rows and drift, with the interface of scikit-learn's displays.

``from_estimator`` makes a display and draws it; ``of`` makes it without drawing. ``plot(ax=)`` draws it and sets the
attributes `figure_` and `ax_`. Displays accept classifiers, pipelines, searches and tables. They need matplotlib (the
extra ``plot``), which is imported at the first drawing.
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

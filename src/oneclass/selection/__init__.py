"""One-class splits, scorers and the search for parameters."""

from ..base.labels import is_target
from .preference import prefer_first
from .scorers import SCORERS, Scorer, get_scorer, recall_at
from .search import OneClassSearchCV
from .splits import OneClassGroupKFold, OneClassKFold, RepeatedOneClassKFold

__all__ = [
    "SCORERS",
    "OneClassGroupKFold",
    "OneClassKFold",
    "OneClassSearchCV",
    "RepeatedOneClassKFold",
    "Scorer",
    "get_scorer",
    "is_target",
    "prefer_first",
    "recall_at",
]

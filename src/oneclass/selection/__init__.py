"""One-class splits, scorers and tuning, with and without outliers."""

from ..base.labels import is_target
from .consistency import consistency_scores
from .outliers import generate_outliers
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
    "consistency_scores",
    "generate_outliers",
    "get_scorer",
    "is_target",
    "recall_at",
]

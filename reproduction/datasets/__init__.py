"""The datasets of the reproduction, by name: rows, labels and groups, verified by a fingerprint.

They are not part of the installed library: run Python from the root of the repository. ``python -m
reproduction.datasets`` lists them and writes them as tables.
"""

from .card import Card, RawFile
from .errors import DatasetError
from .loading import Dataset, load
from .registry import card, cards, names
from .waveform import waveform_generator

__all__ = [
    "Card",
    "Dataset",
    "DatasetError",
    "RawFile",
    "card",
    "cards",
    "load",
    "names",
    "waveform_generator",
]

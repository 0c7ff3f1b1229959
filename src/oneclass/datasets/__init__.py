"""Named datasets for one-class classification: rows, labels and groups, verified by fingerprint."""

from oneclass.datasets.card import Card, RawFile
from oneclass.datasets.errors import DatasetError
from oneclass.datasets.loading import Dataset, load
from oneclass.datasets.registry import card, cards, names
from oneclass.datasets.waveform import waveform_generator

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

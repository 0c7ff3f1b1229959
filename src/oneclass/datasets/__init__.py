"""Named datasets for one-class classification: rows, labels and groups, verified by fingerprint."""

from oneclass.datasets.card import Card, RawFile
from oneclass.datasets.errors import DatasetError
from oneclass.datasets.loading import Dataset, load
from oneclass.datasets.registry import card, cards, names
from oneclass.datasets.splits import AuthorSplit, Fold, author_split_names, load_author_split
from oneclass.datasets.waveform import waveform_generator

__all__ = [
    "AuthorSplit",
    "Card",
    "Dataset",
    "DatasetError",
    "Fold",
    "RawFile",
    "author_split_names",
    "card",
    "cards",
    "load",
    "load_author_split",
    "names",
    "waveform_generator",
]

"""Names of datasets and methods on the pages."""

from __future__ import annotations

from ..datasets import names
from ..figures.style import title
from ..methods import METHODS

__all__ = ["ALL", "MEDIUM", "SHORT", "SMALL", "title"]

SMALL = names("small")
MEDIUM = names("concordia")
ALL = (*SMALL, *MEDIUM)

#: Column heads.
SHORT = [name.replace("NaiveParzen", "Naive Parzen").replace("Autoencoder", "Auto-encoder") for name in METHODS]

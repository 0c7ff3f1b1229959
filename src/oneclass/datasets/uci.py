"""Addresses of the UCI repository."""

from oneclass.datasets.card import RawFile

__all__ = ["CC_BY", "page", "raw"]

UCI = "https://archive.ics.uci.edu"
CC_BY = "CC BY 4.0"


def page(slug: str) -> str:
    """Home of a dataset; a slug is its number and its name."""
    return f"{UCI}/dataset/{slug}"


def raw(path: str, sha256: str, slug: str, classic: str) -> RawFile:
    """A file: today's archive first, then the address it had for decades."""
    urls = (f"{UCI}/static/public/{slug}.zip", f"{UCI}/ml/machine-learning-databases/{classic}")
    return RawFile(path, sha256, urls)

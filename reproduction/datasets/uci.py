"""Addresses of the UCI repository."""

from .card import RawFile

__all__ = ["CC_BY", "page", "raw"]

UCI = "https://archive.ics.uci.edu"
CC_BY = "CC BY 4.0"


def page(slug: str) -> str:
    """Web page of a dataset; a slug is its number and name."""
    return f"{UCI}/dataset/{slug}"


def raw(path: str, sha256: str, slug: str, classic: str) -> RawFile:
    """A file with two addresses: UCI's archive of the dataset, then the classic address of the file."""
    urls = (f"{UCI}/static/public/{slug}.zip", f"{UCI}/ml/machine-learning-databases/{classic}")
    return RawFile(path, sha256, urls)

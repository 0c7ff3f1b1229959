"""A dataset's card: what is known about it before its file is read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .rows import Rows

__all__ = ["Card", "RawFile"]


@dataclass(frozen=True)
class RawFile:
    """One raw file: its place in a data folder, its sha256, and the addresses that publish it.

    Parameters
    ----------
    path : str
        Path inside a data folder, such as ``"ecoli/ecoli.data"``.
    sha256 : str
        Checksum of the copy that gave the card its counts and its fingerprint.
    urls : tuple of str
        Public addresses, tried in this order: of the file, or of an archive that holds it.
    also : tuple of str
        Other paths to try, relative to a data folder.
    origin : str
        Where a file without addresses comes from; completes the sentence "it ...".

    Examples
    --------
    >>> from reproduction.datasets import card
    >>> card("ecoli").raw.name
    'ecoli.data'
    """

    path: str
    sha256: str
    urls: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    origin: str = "is published in its authors' repository only"

    @property
    def name(self) -> str:
        """File name without the folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Card:
    """What is known about a dataset: origin, licence, counts, fingerprint, known problems, and how to read its file.

    Parameters
    ----------
    name, title, family : str
        Name for `load`; name in the paper; one of the families that `names` accepts.
    source, licence : str
        Web page of the dataset, and its terms of use.
    target, recipe : str
        The target class, and how rows are made from the raw file, both in words.
    rows, targets, features : int
        Expected counts.
    fingerprint : str
        Sha256 of the values of rows, labels and groups.
    read : callable
        The recipe as a function from the path of the raw file to rows.
    raw : RawFile or None
        None if the rows are part of scikit-learn.
    groups : str or None
        What the rows of one group share (a person, a recording), if the file says so.
    notes : tuple of str
        Problems to know before the dataset is used.

    Examples
    --------
    >>> from reproduction.datasets import card
    >>> vowel = card("vowel")
    >>> vowel.rows, vowel.targets, vowel.outliers, vowel.features, vowel.groups
    (528, 48, 480, 10, 'speaker')
    """

    name: str
    title: str
    family: str
    source: str
    licence: str
    target: str
    recipe: str
    rows: int
    targets: int
    features: int
    fingerprint: str
    read: Callable[[Path], Rows] = field(repr=False)
    raw: RawFile | None = None
    groups: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def outliers(self) -> int:
        """Number of rows outside the target class."""
        return self.rows - self.targets

    @property
    def access(self) -> str:
        """Where rows come from: ``bundled`` (with scikit-learn), ``download``, or ``local`` (a data folder only)."""
        if self.raw is None:
            return "bundled"
        return "download" if self.raw.urls else "local"

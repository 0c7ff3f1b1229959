"""A dataset's card: everything known about it before a single row is read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from oneclass.datasets.rows import Rows

__all__ = ["Card", "RawFile"]


@dataclass(frozen=True)
class RawFile:
    """One raw file: where it lies in a data folder, its sha256, and the addresses that publish it.

    Parameters
    ----------
    path : str
        Place inside a data folder, such as ``"ecoli/ecoli.data"``.
    sha256 : str
        Checksum of the copy from which the card's counts and fingerprint were taken.
    urls : tuple of str
        Public addresses in the order in which they are tried: the file, or an archive that holds it.
    also : tuple of str
        Other places inside or beside a data folder.
    origin : str
        Where a file without addresses comes from, in words.

    Examples
    --------
    >>> from oneclass.datasets import card
    >>> card("ecoli").raw.name
    'ecoli.data'
    """

    path: str
    sha256: str
    urls: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    origin: str = "has no public home but its authors' repository"

    @property
    def name(self) -> str:
        """File name without its folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Card:
    """What is known of a dataset: origin, licence, counts, fingerprints, traps, and how raw becomes rows.

    Parameters
    ----------
    name, title, family : str
        Name for `load`; name in the paper; one of the families that `names` takes.
    source, licence : str
        Public home and terms of use.
    target, recipe : str
        The target class, and how the raw file becomes rows, both in words.
    rows, targets, features : int
        Expected counts.
    fingerprint : str
        Sha256 of the parsed rows, labels and groups.
    read : callable
        The recipe in code: path of the raw file -> rows.
    raw : RawFile or None
        None when the rows ship with scikit-learn.
    groups : str or None
        What rows of one group share, where that can be read off.
    notes : tuple of str
        Traps.

    Examples
    --------
    >>> from oneclass.datasets import card
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
        """Rows that are not of the target class."""
        return self.rows - self.targets

    @property
    def access(self) -> str:
        """Where rows come from: ``bundled`` (scikit-learn), ``download`` or ``local`` (a data folder only)."""
        if self.raw is None:
            return "bundled"
        return "download" if self.raw.urls else "local"

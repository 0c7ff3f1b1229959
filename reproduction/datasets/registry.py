"""The list of all datasets."""

from difflib import get_close_matches

from . import clinical, measured
from .card import Card
from .handwriting import CONCORDIA, DIGITS, SEMEION, USPS

__all__ = ["card", "cards", "names"]

_SMALL = (
    clinical.BIOMED,
    clinical.BREAST_CANCER,
    clinical.CARDIOTOCOGRAPHY,
    clinical.COLPOSCOPY,
    clinical.CRYOTHERAPY,
    clinical.DIABETIC_RETINOPATHY,
    measured.ECOLI,
    clinical.HEART_CLEVELAND,
    clinical.HEART_STATLOG,
    measured.IMPORTS,
    measured.SONAR,
    clinical.SURVIVAL,
    measured.VOWEL,
    measured.WAVEFORM,
    measured.WINE,
)
_CARDS = {card.name: card for card in (*_SMALL, *CONCORDIA, clinical.CARDIOTOCOGRAPHY_21, *USPS, *SEMEION, *DIGITS)}
_FAMILIES = tuple(dict.fromkeys(card.family for card in _CARDS.values()))


def cards(*families: str) -> tuple[Card, ...]:
    """Cards of all datasets, or of some families.

    Parameters
    ----------
    *families : str
        Any of ``small`` (the paper's fifteen), ``concordia`` (its ten digit tasks), ``extra``, ``usps``, ``semeion``,
        ``digits``. None given: all.

    Returns
    -------
    tuple of Card

    Examples
    --------
    >>> from reproduction.datasets import cards
    >>> [card.title for card in cards("small")][:3]
    ['Biomed', 'Breast Cancer', 'Cardiotocography']
    >>> len(cards("small", "concordia"))
    25
    """
    for family in families:
        if family not in _FAMILIES:
            raise ValueError(f"cards: family must be one of {', '.join(_FAMILIES)}, got {family!r}")
    return tuple(card for card in _CARDS.values() if not families or card.family in families)


def names(*families: str) -> tuple[str, ...]:
    """Names of all datasets, or of some families; the same families as `cards`.

    Parameters
    ----------
    *families : str
        As in `cards`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from reproduction.datasets import names
    >>> names("concordia")[:2]
    ('concordia_0', 'concordia_1')
    >>> "cardiotocography_21" in names()
    True
    """
    return tuple(card.name for card in cards(*families))


def card(name: str) -> Card:
    """Card of one dataset.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Card

    Examples
    --------
    >>> from reproduction.datasets import card
    >>> card("wine").target
    'class 2 (label 1 in scikit-learn)'
    >>> card("whine")
    Traceback (most recent call last):
        ...
    ValueError: no dataset is called 'whine'; did you mean wine? (reproduction.datasets.names() lists all)
    """
    if name in _CARDS:
        return _CARDS[name]
    raise ValueError(f"no dataset is called {name!r}{_suggestion(name)} (reproduction.datasets.names() lists all)")


def _suggestion(name: object) -> str:
    near = get_close_matches(str(name).lower().replace(" ", "_"), _CARDS, n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""

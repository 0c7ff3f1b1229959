"""OCSVM and SVDD on the released splits: the effect of unscaled rows and of the kernel width, each alone and both.

``python -m reproduction.scaling_or_width`` prints, for each of the four combinations, how many of the 14 published F1
values come out to two decimals. Set ONECLASS_DATA to the folder of the paper's datasets.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from . import published
from .author_splits import AUTHORS_SPLITS
from .methods import METHODS, SOFTWARE, Method
from .protocol import split_of
from .recipes import searched
from .selection import CHOICES

__all__ = ["combinations", "hits"]


def combinations(name: str) -> dict[str, tuple[str, Method]]:
    """What differs from the printed method, the recipe whose rows are used, and the method.

    Parameters
    ----------
    name : str
        OCSVM or SVDD.

    Returns
    -------
    dict of str to tuple

    Examples
    --------
    >>> list(combinations("SVDD"))
    ['as printed', 'unscaled rows', 'width', 'both']
    """
    printed = METHODS[name]
    return {
        "as printed": ("equation", printed),
        "unscaled rows": ("software", replace(printed, fixed={**printed.fixed, "scale": False})),
        "width": ("equation", replace(printed, fixed={**printed.fixed, **_WIDTH[name]})),
        "both": ("software", SOFTWARE[name]),
    }


#: The root mean squared distance as width; SVDD's kernel then needs no special form.
_WIDTH = {"OCSVM": {"sigma": "rms"}, "SVDD": {"sigma": "rms", "kernel": "rbf"}}


def hits(name: str, recipe: str, method: Method) -> int:
    """Number of published F1 values that come out to two decimals.

    Parameters
    ----------
    name, recipe : str
        OCSVM or SVDD, and a recipe on released splits.
    method : Method
        The method to run.

    Returns
    -------
    int
    """
    count = 0
    for dataset in AUTHORS_SPLITS:
        (row,) = searched(split_of(dataset, recipe, 0), method, seed=0, choices={"best": CHOICES["best"]})
        count += abs(100 * row["f1"] - (published.f1(dataset, name) or 0.0)) <= 0.005 + 1e-6
    return count


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in ("OCSVM", "SVDD"):
        found = {change: hits(name, *how) for change, how in combinations(name).items()}
        print(name, ", ".join(f"{change}: {count} of {len(AUTHORS_SPLITS)}" for change, count in found.items()))

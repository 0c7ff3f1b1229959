"""Recipe `authors_code`: the released MATLAB code with its search, threshold and rank-one scatter, on released splits.

The release holds VAAKELM only. For OCKELM and AAKELM the scatter is left out. For OCKELM and VOCKELM the target is 1.

It serves only to reproduce the published numbers. The library's machines solve the paper's equation instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oneclass.selection import SCORERS

from .metrics import VALIDATION, metrics, over_grid
from .release import ReleasedMachine, accepted, zscore
from .selection import CHOICES, CS, DELTAS, KS, best
from .splitting import Fold, Split

__all__ = ["MACHINES", "authors_code"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class _Kind:
    autoassociative: bool
    clusters: tuple[int, ...]


#: The four machines: whether they reconstruct the row, and which numbers of clusters they search.
MACHINES = {
    "OCKELM": _Kind(False, ()),
    "VOCKELM": _Kind(False, KS),
    "AAKELM": _Kind(True, ()),
    "VAAKELM": _Kind(True, KS),
}


def authors_code(split: Split, method: str) -> list[dict[str, Any]]:
    """Choose C, k and delta as the release does, and test the choice; then do the same for each delta alone.

    Parameters
    ----------
    split : Split
        One of the authors' splits.
    method : str
        One of `MACHINES`.

    Returns
    -------
    list of dict
        Results: ``choice`` ("best", "delta=0.01" and so on), ``params``, metrics, ``tied_f1`` (test F1 of all
        parameters with the best validation score), times.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.splitting import Fold, Split
    >>> rng = np.random.default_rng(0)
    >>> rows, y = np.vstack([rng.normal(size=(20, 2)), rng.normal(5, 1, (20, 2))]), np.repeat([1, -1], 20)
    >>> split = Split(rng.normal(size=(30, 2)), rows, y, (Fold(rng.normal(size=(24, 2)), rows, y),))
    >>> [row["choice"] for row in authors_code(split, "AAKELM")]
    ['best', 'delta=0.01', 'delta=0.05', 'delta=0.1']
    """
    kind = MACHINES[method]
    start = process_time()
    folds = [over_grid(VALIDATION, fold.y, _decisions(fold, kind)) for fold in split.folds]
    search = process_time() - start
    f1 = over_grid(SCORERS["f1"], split.y, _decisions(Fold(split.train, split.rows, split.y), kind))
    out = []
    for choice, kept in CHOICES.items():
        ties, validation = best([np.where(kept, fold, np.nan) for fold in folds])
        result = _tested(split, kind, ties[0])
        tied = sorted({round(100 * float(f1[tie]), 2) for tie in ties})
        out.append({"choice": choice, "validation": validation, "tied_f1": tied, "search_seconds": search, **result})
    return out


def _decisions(fold: Fold, kind: _Kind) -> NDArray[np.bool_]:
    """Decisions on the rows of a fold for every (C, k, delta)."""
    train, rows = zscore(fold.train, fold.rows)
    machine = ReleasedMachine.fit(train, autoassociative=kind.autoassociative, clusters=kind.clusters)
    return accepted(machine.losses(train, CS), machine.losses(rows, CS), DELTAS)


def _tested(split: Split, kind: _Kind, index: tuple[int, ...]) -> dict[str, Any]:
    """Fit with the chosen parameters, with times and test metrics."""
    C, delta = CS[index[0]], DELTAS[index[2]]
    clusters = kind.clusters[index[1] : index[1] + 1]
    params = {"C": C, **({"n_clusters": clusters[0]} if clusters else {}), "delta": delta}
    start = process_time()
    train, rows = zscore(split.train, split.rows)
    machine = ReleasedMachine.fit(train, autoassociative=kind.autoassociative, clusters=clusters)
    known = machine.losses(train, [C])[0, 0]
    fitted = process_time()
    losses = machine.losses(rows, [C])[0, 0]
    scored = process_time()
    decided = accepted(known, losses, [delta])[0]
    times = {"fit_seconds": fitted - start, "score_seconds": scored - fitted}
    return {"params": params, **metrics(split.y, decided, -losses), **times}

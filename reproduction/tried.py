"""Recipe `tried`: other settings of the cited software, where results are farthest from the published values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .methods import METHODS, SOFTWARE, Method
from .recipes import searched
from .selection import DELTAS
from .splitting import Fold, Split, all_rows, random_split

__all__ = ["AS_PRINTED", "TRIED", "UNSCALED", "Setting", "tried"]

Float = NDArray[np.float64]

#: The setting of recipe `paper`, and that of OCSVM and SVDD in recipe `software`.
AS_PRINTED = "as in recipe `paper`"
UNSCALED = "rows unscaled, width the root mean squared distance"


@dataclass(frozen=True)
class Setting:
    """A way to run a method that the paper's text does not exclude, or that is a default of its software.

    Parameters
    ----------
    params : mapping of str to object
        Parameters of the classifier.
    grid : mapping of str to tuple
        Parameters that are searched besides delta; None: those of the method.
    deltas : tuple of float
        Values of delta that are searched.
    scaling : str
        "targets": z-scores by training targets; "all": z-scores by all rows of the dataset; "none".
    share : float
        Share of the rows for training and validation.
    dataset : str, optional
        Another form of the dataset.
    method : Method, optional
        Another form of the method.

    Examples
    --------
    >>> Setting({"n_components": 5}).scaling
    'targets'
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] | None = None
    deltas: tuple[float, ...] = DELTAS
    scaling: str = "targets"
    share: float = 0.8
    dataset: str | None = None
    method: Method | None = None


_COMMON = {
    AS_PRINTED: Setting(),
    "rows unscaled": Setting(scaling="none"),
    "z-scores by all rows of the dataset": Setting(scaling="all"),
    "half of the rows to train on": Setting(share=0.5),
    "delta = 10 %, dd_tools' default, not searched": Setting(deltas=(0.1,)),
}

_AUTOENCODER = {
    **_COMMON,
    "2 hidden units": Setting({"hidden_layer_sizes": 2}),
    "10 hidden units": Setting({"hidden_layer_sizes": 10}),
    "20 hidden units": Setting({"hidden_layer_sizes": 20}),
    "hidden units searched, 2 to 20": Setting(grid={"hidden_layer_sizes": (2, 5, 10, 15, 20)}),
    "stopped after 5 iterations": Setting({"max_iter": 5}),
}

_PCA = {
    **_COMMON,
    "21 features, without CLASS": Setting(dataset="cardiotocography_21"),
    "1 component": Setting({"n_components": 1}),
    "5 components": Setting({"n_components": 5}),
}

_MST = {
    **_COMMON,
    "the longest path of the tree alone": Setting({"n_paths": 1}),
    "the 5 longest paths": Setting({"n_paths": 5}),
    "delta searched up to 50 %": Setting(deltas=(0.01, 0.05, 0.1, 0.2, 0.3, 0.5)),
}

_OCRF = {
    AS_PRINTED: Setting(),
    "rows unscaled": Setting(scaling="none"),
    "half of the rows to train on": Setting(share=0.5),
    "a quantile of the training votes": Setting({"threshold": "train"}),
    "as many outliers as targets": Setting({"outlier_ratio": 1.0}),
    "one outlier for ten targets": Setting({"outlier_ratio": 0.1}),
    "outliers in 5 times the range": Setting({"enlargement": 5.0}),
    "outliers in 20 times the range": Setting({"enlargement": 20.0}),
}

_OCSVM = {AS_PRINTED: Setting(), UNSCALED: Setting(method=SOFTWARE["OCSVM"])}
_SVDD = {
    AS_PRINTED: Setting(),
    "rows unscaled": Setting(scaling="none"),
    "the printed kernel, with the factor 2": Setting({"kernel": "rbf", "sigma": "mean"}),
    UNSCALED: Setting(method=SOFTWARE["SVDD"]),
}

#: The settings that are tried, by dataset and method.
TRIED: dict[tuple[str, str], dict[str, Setting]] = {
    ("breast_cancer", "Autoencoder"): _AUTOENCODER,
    ("cardiotocography", "PCA"): _PCA,
    ("ecoli", "MST"): _MST,
    ("vowel", "OCRF"): _OCRF,
    **{(f"concordia_{digit}", "SVDD"): _SVDD for digit in range(10)},
    **{(f"concordia_{digit}", "OCSVM"): _OCSVM for digit in range(10)},
}


def tried(dataset: str, method: str, seed: int) -> list[dict[str, Any]]:
    """Results on one split with every setting of a dataset and method.

    Parameters
    ----------
    dataset, method : str
        One of the keys of `TRIED`.
    seed : int
        Number of the split, and seed of the method's random numbers.

    Returns
    -------
    list of dict
        One result for each setting; ``choice`` names it.

    Raises
    ------
    ValueError
        No settings are listed for this dataset and method.

    Examples
    --------
    >>> tried("wine", "PCA", 0)
    Traceback (most recent call last):
        ...
    ValueError: nothing was tried for PCA on wine
    """
    if (dataset, method) not in TRIED:
        raise ValueError(f"nothing was tried for {method} on {dataset}")
    out = []
    for label, setting in TRIED[dataset, method].items():
        split = random_split(setting.dataset or dataset, seed, share=setting.share)
        chosen = setting.method or METHODS[method]
        fixed = {**chosen.fixed, **setting.params}
        if setting.scaling != "targets":
            fixed["scale"] = False
            if setting.scaling == "all":
                split = _transformed(split, _z_scores(setting.dataset or dataset))
        grid = chosen.grid if setting.grid is None else setting.grid
        (row,) = searched(
            split,
            replace(chosen, fixed=fixed, grid=grid),
            seed=seed,
            choices={label: np.ones(len(setting.deltas), dtype=bool)},
            deltas=setting.deltas,
        )
        sizes = {"n_train": len(split.train), "n_test_target": int((split.y == 1).sum())}
        out.append({**row, **sizes, "n_test_outlier": int((split.y == -1).sum())})
    return out


def _z_scores(dataset: str) -> Callable[[Float], Float]:
    X = all_rows(dataset)[0]
    deviation = X.std(axis=0, ddof=1)
    return lambda rows: (rows - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def _transformed(split: Split, change: Callable[[Float], Float]) -> Split:
    folds = tuple(Fold(change(fold.train), change(fold.rows), fold.y) for fold in split.folds)
    return replace(split, train=change(split.train), rows=change(split.rows), folds=folds)

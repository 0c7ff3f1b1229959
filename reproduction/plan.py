"""Which tasks make a run: the full benchmark, the quick one, or a chosen part."""

from __future__ import annotations

from collections.abc import Sequence

from oneclass.datasets import names

from .author_splits import AUTHORS_SPLITS
from .methods import KERNEL_MACHINES, METHODS
from .protocol import RELEASED, Task

__all__ = ["ORDERS", "PAPER_DATASETS", "QUICK_DATASETS", "QUICK_SPLITS", "full", "quick", "tasks"]

#: The paper's 15 small and 10 medium datasets, in its order.
PAPER_DATASETS = names("small", "concordia")

#: Small ones that need no compiled collection.
QUICK_DATASETS = ("biomed", "ecoli", "sonar", "vowel", "wine")
QUICK_SPLITS = 3

#: Orders of the training rows that measure how much the release depends on them.
ORDERS = 30


def full() -> list[Task]:
    """Every task behind the reproduction page.

    Returns
    -------
    list of Task

    Examples
    --------
    >>> {task.recipe for task in full()} == {"authors_code", "equation", "paper", "honest"}
    True
    """
    orders = range(ORDERS + 1)
    return [
        *tasks("authors_code"),
        *tasks("equation"),
        *tasks("authors_code", ["vowel"], ["VAAKELM"], orders),
        *tasks("equation", ["vowel"], ["VAAKELM"], orders),
        *_by_seed(tasks("honest") + tasks("paper") + tasks("paper", ["cardiotocography_21"])),
    ]


def quick() -> list[Task]:
    """Five datasets, three splits, all methods.

    Returns
    -------
    list of Task

    Examples
    --------
    >>> len({task.dataset for task in quick() if task.recipe == "paper"})
    5
    """
    splits = range(QUICK_SPLITS)
    both = [task for recipe in ("honest", "paper") for task in tasks(recipe, QUICK_DATASETS, seeds=splits)]
    released = [name for name in QUICK_DATASETS if name in AUTHORS_SPLITS]
    return [*tasks("authors_code", released), *tasks("equation", released), *_by_seed(both)]


def tasks(
    recipe: str,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Task]:
    """Tasks of one recipe.

    Parameters
    ----------
    recipe : str
        One of `reproduction.RECIPES`.
    datasets, methods : sequence of str, optional
        None: the paper's datasets (those that the authors released, for the recipes on their splits) and all methods
        (the four kernel machines, for those recipes).
    seeds : sequence of int, optional
        None: as many splits as the method's cost allows; for the recipes on authors' splits, the released order.

    Returns
    -------
    list of Task

    Examples
    --------
    >>> len(tasks("authors_code")), len(tasks("paper", ["wine"], ["PCA"]))
    (28, 20)
    """
    released = recipe in RELEASED
    datasets = datasets or (AUTHORS_SPLITS if released else PAPER_DATASETS)
    methods = methods or (KERNEL_MACHINES if released else tuple(METHODS))
    out = []
    for dataset in datasets:
        for method in methods:
            usual = range(1) if released else range(_splits(dataset, method))
            out += [Task(recipe, dataset, method, seed) for seed in (usual if seeds is None else seeds)]
    return out


def _splits(dataset: str, method: str) -> int:
    cost = METHODS[method]
    return cost.medium_splits if dataset.startswith("concordia") else cost.splits


def _by_seed(found: list[Task]) -> list[Task]:
    # An interrupted run then holds the same splits of every method, and its pace foretells the rest.
    return sorted(found, key=lambda task: task.seed)

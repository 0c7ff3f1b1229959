"""Which tasks make a run: the full benchmark, the quick one, or a chosen part."""

from __future__ import annotations

from collections.abc import Sequence

from .author_splits import AUTHORS_SPLITS
from .datasets import names
from .methods import EMBEDDINGS, EVERY, KERNEL_MACHINES, METHODS, SOFTWARE, embedded
from .protocol import RELEASED, Task
from .published import f1
from .tried import TRIED

__all__ = [
    "LEAK",
    "LEAK_METHODS",
    "ORDERS",
    "PAPER_DATASETS",
    "QUICK_DATASETS",
    "QUICK_SPLITS",
    "full",
    "methods_of",
    "quick",
    "tasks",
]

#: The paper's 15 small and 10 medium datasets, in its order.
PAPER_DATASETS = names("small", "concordia")

#: Small ones that need no compiled collection.
QUICK_DATASETS = ("biomed", "ecoli", "sonar", "vowel", "wine")
QUICK_SPLITS = 3

#: Random splits of a small dataset, and of one on which other settings are tried.
SPLITS = 20
TRIED_SPLITS = 5

#: A dataset with and without the column that gives its label away, and the methods that show the difference.
LEAK = ("cardiotocography", "cardiotocography_21")
LEAK_METHODS = ("PCA", "Autoencoder", "OCSVM", "OCKELM", "VOCKELM", "AAKELM", "VAAKELM")

#: Orders of the training rows that measure how much the release depends on them.
ORDERS = 30


def full() -> list[Task]:
    """Every task behind the reproduction page.

    Returns
    -------
    list of Task

    Examples
    --------
    >>> {task.recipe for task in full()} == {"authors_code", "equation", "software", "paper", "honest", "tried"}
    True
    """
    orders = range(ORDERS + 1)
    return [
        *tasks("authors_code"),
        *tasks("equation"),
        *tasks("software"),
        *tasks("authors_code", ["vowel"], ["VAAKELM"], orders),
        *tasks("equation", ["vowel"], ["VAAKELM"], orders),
        *_by_seed(tasks("honest") + tasks("paper") + tasks("paper", LEAK[1:], LEAK_METHODS) + tasks("tried")),
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
    both = [task for r in ("honest", "paper") for task in tasks(r, QUICK_DATASETS, list(METHODS), splits)]
    released = [name for name in QUICK_DATASETS if name in AUTHORS_SPLITS]
    return [*(task for recipe in RELEASED for task in tasks(recipe, released)), *_by_seed(both)]


def methods_of(recipe: str) -> list[str]:
    """What a recipe is run for, in the order of the tables.

    Parameters
    ----------
    recipe : str
        One of `reproduction.RECIPES`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> methods_of("authors_code")
    ['OCKELM', 'VOCKELM', 'AAKELM', 'VAAKELM']
    >>> methods_of("equation")[-5:]
    ['VOCKELM/none', 'VOCKELM/class', 'VOCKELM/own', 'VAAKELM/class', 'VAAKELM/own']
    """
    if recipe == "authors_code":
        return list(KERNEL_MACHINES)
    if recipe == "software":
        return list(SOFTWARE)
    if recipe == "tried":
        return list(dict.fromkeys(method for _, method in TRIED))
    own = (*KERNEL_MACHINES, *SOFTWARE) if recipe == "equation" else tuple(METHODS)
    variants = [embedded(recipe, machine, e) for machine in ("VOCKELM", "VAAKELM") for e in EMBEDDINGS]
    return list(dict.fromkeys((*own, *variants)))


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
        that the recipe has.
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
    datasets = datasets or (AUTHORS_SPLITS if recipe in RELEASED else PAPER_DATASETS)
    methods = methods or methods_of(recipe)
    cells = [(dataset, method) for dataset in datasets for method in methods if _has(recipe, dataset, method)]
    return [
        Task(recipe, dataset, method, seed)
        for dataset, method in cells
        for seed in (_seeds(recipe, dataset, method) if seeds is None else seeds)
    ]


def _has(recipe: str, dataset: str, method: str) -> bool:
    """Whether the recipe has the cell: settings are tried on few, and released splits are for what is printed."""
    if recipe == "tried":
        return (dataset, method) in TRIED
    return recipe not in RELEASED or method not in SOFTWARE or f1(dataset, method) is not None


def _seeds(recipe: str, dataset: str, method: str) -> range:
    if recipe in RELEASED:
        return range(1)
    if recipe == "tried":
        return range(TRIED_SPLITS)
    return range(EVERY[method].medium_splits if dataset.startswith("concordia") else SPLITS)


def _by_seed(found: list[Task]) -> list[Task]:
    # An interrupted run then holds the same splits of every method, and its pace foretells the rest.
    return sorted(found, key=lambda task: task.seed)

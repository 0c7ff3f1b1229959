"""The tasks of a run: of the full one, of the quick one, or of a part."""

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

#: Small datasets of the quick run.
QUICK_DATASETS = ("biomed", "ecoli", "sonar", "vowel", "wine")
QUICK_SPLITS = 3

#: Number of random splits of a small dataset, and of a dataset on which other settings are tried.
SPLITS = 20
TRIED_SPLITS = 5

#: A dataset with and without the column that reveals its label, and the methods that show the difference.
LEAK = ("cardiotocography", "cardiotocography_21")
LEAK_METHODS = ("PCA", "Autoencoder", "OCSVM", "OCKELM", "VOCKELM", "AAKELM", "VAAKELM")

#: Number of orders of the training rows that show how much the released code depends on the order.
ORDERS = 30


def full() -> list[Task]:
    """Every task behind the reproduction pages.

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
    """Tasks of five datasets, three splits and all methods.

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
    """Methods of a recipe, in the order of the tables.

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
        None: the paper's datasets (for recipes on released splits, the released ones) and all methods of the recipe.
    seeds : sequence of int, optional
        None: fewer splits for methods that take long; for recipes on released splits, the released order.

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
    """Whether a recipe is run for a dataset and a method."""
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
    # An interrupted run then has the same splits of every method, and can estimate the time that is left.
    return sorted(found, key=lambda task: task.seed)

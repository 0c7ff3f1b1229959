"""Which pages there are behind the front page, and which sections each has."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..results import Results
from .claims import claims
from .datasets import datasets
from .differences import differences, tried_settings
from .f1 import default_f1, f1_tables
from .false_alarms import false_alarms
from .method import method
from .metrics import metric_tables
from .problems import problems
from .ranking import rank_tests, threshold_free
from .released import kernel_machines, row_order, software
from .time import training_time
from .variance import variance

__all__ = ["PAGES", "Page"]


class Page(NamedTuple):
    """A page of tables: its title, what the front page says about it, and its sections."""

    title: str
    about: str
    sections: tuple[Callable[[Results], str], ...]


#: File name -> page, in the order of the list on the front page.
PAGES = {
    "released": Page(
        "Results on the released splits",
        "all published F1 values of the seven released splits, with four ways to compute them",
        (kernel_machines, software, row_order),
    ),
    "claims": Page("The paper's claims", "each claim, with the number that repeated splits give", (claims,)),
    "differences": Page(
        "Differences from the published values",
        "how far each classifier is from its published values, and which settings explain the largest differences",
        (differences, tried_settings),
    ),
    "f1": Page("F1 by dataset", "all classifiers and datasets, as printed and with defaults", (f1_tables, default_f1)),
    "ranks": Page(
        "Ranks, tests, and scores without a threshold",
        "mean ranks, Friedman, Nemenyi and Wilcoxon tests, AUROC and average precision",
        (rank_tests, threshold_free),
    ),
    "metrics": Page(
        "Accuracy, precision, recall and g-mean", "the paper's bar charts and F1 against delta", (metric_tables,)
    ),
    "time": Page("Training time", "seconds of one fit, and of the whole search", (training_time,)),
    "false_alarms": Page(
        "False-alarm rates", "the rate asked for and the rate delivered, by classifier", (false_alarms,)
    ),
    "variance": Page(
        "The effect of the variance embedding", "every variance of the paper against no variance", (variance,)
    ),
    "datasets": Page("Datasets", "origin, counts and licence, and how to load them", (datasets,)),
    "problems": Page("Problems to know before comparing", "why published numbers are hard to compare", (problems,)),
    "method": Page("How the experiments were run", "splits, parameters, thresholds and software", (method,)),
}

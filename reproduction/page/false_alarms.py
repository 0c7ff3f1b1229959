"""Page: the false-alarm rate asked for, and the rate delivered."""

from __future__ import annotations

import numpy as np

from ..methods import KERNEL_MACHINES, METHODS
from ..results import Results
from .markdown import percent, table
from .naming import title

__all__ = ["SAME_MACHINE", "asked", "false_alarms"]

#: Metrics: share of targets that one machine rejects by its printed threshold, and by a threshold on held-out scores.
SAME_MACHINE = ("false_alarm_rate", "held_out_false_alarm_rate")


def false_alarms(results: Results) -> str:
    """Delta and the share of new targets rejected.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    if not results.all:
        return ""
    body = [[m, *_rates(results, "paper", m), *_rates(results, "honest", m)] for m in METHODS]
    one = ["asked", "delivered", "worst dataset"]
    machines = [[m, *_same_machine(results, m)] for m in KERNEL_MACHINES]
    head = ["machine", "asked", "training scores (printed)", "held-out scores"]
    return f"""\
Delta is the false-alarm rate that is asked for; the rate that is delivered is the share of the test set's targets
that are rejected. All numbers are per cent.

## The same machines with two thresholds

Both columns of rates are of the same fitted machines (recipe `paper`: the same C, k, sigma and loss) at the same
delta, which the validation folds chose. Only the scores differ that the threshold is a quantile of: scores of the
training rows, as printed, or held-out scores. Means over splits and datasets. (VOCKELM's printed threshold is not a
quantile, but delta times the mean output.)

{table(head, machines)}

## All classifiers

The two recipes differ in more than the threshold.

{table(["method", *(f"{name} (paper)" for name in one), *(f"{name} (honest)" for name in one)], body)}

![Rate of rejected targets minus delta, one dot per dataset](false_alarms.png)"""


def asked(results: Results, recipe: str, method: str) -> float:
    """Mean delta of a method, over splits and then over datasets.

    Parameters
    ----------
    results : Results
        Stored rows.
    recipe, method : str
        Names.

    Returns
    -------
    float
    """
    rows = [results.rows(recipe, dataset, method).values() for dataset in results.all]
    return float(np.mean([np.mean([row["params"]["delta"] for row in each]) for each in rows]))


def _rates(results: Results, recipe: str, method: str) -> list[str]:
    rates = {d: float(results.values("false_alarm_rate", recipe, d, method).mean()) for d in results.all}
    worst = max(rates, key=lambda dataset: rates[dataset])
    delivered = float(np.mean(list(rates.values())))
    return [percent(asked(results, recipe, method)), percent(delivered), f"{percent(rates[worst])} ({title(worst)})"]


def _same_machine(results: Results, method: str) -> list[str]:
    delivered = [results.mean(metric, "paper", results.all, [method]).mean() for metric in SAME_MACHINE]
    return [percent(asked(results, "paper", method)), *map(percent, delivered)]

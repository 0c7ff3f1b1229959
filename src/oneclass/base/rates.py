"""The false-alarm rate of a classifier, and warnings if there are too few training rows to keep it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..core.arrays import Array, namespace
from ..core.calibration import Calibration, rows_needed
from ..core.threshold import Decision, Rule
from ..core.wording import parameter
from .checks import ChoiceError, check_choice, check_number
from .warnings import UnreachableRateWarning, warn

__all__ = ["RATES", "PutsThreshold", "decision_of", "warn_below_smallest", "warn_of_decision", "warn_too_coarse"]

#: What a false-alarm rate may be a share of, if there are groups.
RATES = ("group", "row")


class PutsThreshold(Protocol):
    """A classifier with a false-alarm rate `delta` and a rule, `threshold`, that keeps it."""

    @property
    def _thresholds(self) -> Mapping[str, Rule]:
        """Rules by name."""
        ...

    @property
    def _held_out_thresholds(self) -> tuple[str, ...]:
        """Names of the rules that use held-out losses."""
        ...

    @property
    def confidence(self) -> float | None:
        """Probability that the fitted model keeps the rate; None for a rate that is kept on average."""
        ...

    @property
    def rate_by(self) -> str:
        """What the rate is a share of, if there are groups: "group" or "row"."""
        ...


def decision_of(classifier: PutsThreshold) -> Decision:
    """Check `delta`, `threshold` and `confidence` of a classifier, and return them as a `Decision`."""
    delta = check_number(classifier, "delta", 0, 1, closed_low=True)
    rule = check_choice(classifier, "threshold", tuple(classifier._thresholds))
    check_choice(classifier, "rate_by", RATES)
    held_out = rule in classifier._held_out_thresholds
    if classifier.confidence is None:
        return Decision(rule, delta, held_out)
    confidence = check_number(classifier, "confidence", 0, 1)
    if not held_out:
        raise ChoiceError(
            f"{type(classifier).__name__}: confidence must be None with threshold={rule!r}, which does not use "
            f"held-out losses and guarantees no rate; got {confidence!r}"
        )
    return Decision(rule, delta, held_out, confidence)


def warn_of_decision(name: str, decision: Decision, calibration: Calibration) -> None:
    """Warn if there are too few held-out losses to guarantee `delta`, alone or with `confidence`."""
    delta, confidence = decision.delta, decision.confidence
    warn_below_smallest(name, calibration, "delta", delta)
    if confidence is not None and delta >= calibration.smallest_budget and not decision.budget(calibration.total):
        warn(
            f"{name}: delta={delta:g} with confidence={confidence:g} needs "
            f"n={rows_needed(delta, confidence, exact=decision.exact)} "
            f"independent rows or groups, but there are {calibration.total:g}; the threshold is the lowest held-out "
            "score",
            UnreachableRateWarning,
        )


def warn_below_smallest(
    name: str,
    calibration: Calibration,
    budget: str,
    value: float,
    so: str = "the threshold is the lowest held-out score",
) -> None:
    """Warn if the rate `value` is below the smallest rate that the held-out losses can guarantee."""
    smallest = calibration.smallest_budget
    if 0 < value < smallest:
        warn(
            f"{name}: {budget}={value:g} is below 1/(n+1)={smallest:.3g}, the smallest rate that "
            f"n={calibration.total:g} independent training rows or groups can keep; {so}",
            UnreachableRateWarning,
        )


def warn_too_coarse(name: str, calibration: Calibration, p: Array, q: float) -> None:
    """Warn if rows have the smallest possible p-value, and that is too large to label any row as an outlier."""
    smallest, m = calibration.smallest_budget, p.shape[0]
    beyond = int(namespace(p).count_nonzero(p <= smallest * (1 + 1e-6)))
    if beyond and smallest <= q:
        warn(
            f"{name}: label_batch labels no row as an outlier, although {beyond} of {m} have a larger loss than every "
            f"held-out row: n={calibration.total:g} training rows or groups give no p-value below {smallest:.3g}; with "
            f"q={q:g}, {beyond} outliers among {m} rows need n={rows_needed(q * beyond / m)}, one outlier needs "
            f"n={rows_needed(q / m)}; {parameter('tail', 'pareto')} gives smaller p-values",
            UnreachableRateWarning,
        )

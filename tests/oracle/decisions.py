"""Thresholds and p-values by counting, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["RULES", "mean_output", "p_value"]


def _decided(losses, rank):
    """The loss of that rank (1 is the smallest) and the next larger one, None at the top."""
    value = sorted(losses)[rank - 1]
    return value, _following(losses, value)


def _following(losses, value):
    return min((s for s in losses if s > value), default=None)


def loo(losses, delta):
    """Rank ceil((n + 1)(1 - delta)), at most n."""
    n = len(losses)
    return _decided(losses, min(n, math.ceil((n + 1) * (1 - Fraction(str(delta))))))


def train(losses, delta):
    """The floor(delta n)-th largest; the largest where that is none."""
    n = len(losses)
    return _decided(losses, n + 1 - max(1, math.floor(Fraction(str(delta)) * n)))


def dd_tools(losses, delta):
    """The round((1 - delta) n)-th smallest, halves upwards."""
    n = len(losses)
    return _decided(losses, max(1, math.floor((1 - Fraction(str(delta))) * n + Fraction(1, 2))))


def authors(losses, delta):
    """The ceil(n (1 - delta))-th smallest; accepted is what is strictly below it."""
    n = len(losses)
    return sorted(losses)[math.ceil(n * (1 - Fraction(str(delta)))) - 1]


RULES = {"conformal": loo, "paper": train, "dd_tools": dd_tools}


def mean_output(outputs, delta):
    """`VOCKELM_thresh`."""
    return delta * sum(outputs) / len(outputs)


def p_value(loss, held_out):
    """(1 + number of held-out losses at least as large) / (n + 1)."""
    return (1 + sum(1 for s in held_out if s >= loss)) / (len(held_out) + 1)

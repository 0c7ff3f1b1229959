"""The verdict of a report: one sentence about what was found, and one about how sure it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..core.batches import false_alarm_bounds
from ..plot.drawing import ROUNDING
from .formatting import counted, percent
from .schema import AlarmGroup, AlarmSummary, Verdict
from .scores import ScoredRows

__all__ = ["verdict_of"]

#: Most groups of like alarms that the verdict names, and the smallest share of the rows of each.
_NAMED, _NAMED_SHARE = 2, 0.1
#: Lower bounds on the number of odd rows, of which the largest is stated.
_BOUNDS = 3


def verdict_of(
    scored: ScoredRows,
    alarms: AlarmSummary,
    groups: Sequence[AlarmGroup],
    rows_in_groups: Sequence[int | None],
    confidence: float,
    *,
    trained_on: bool,
) -> Verdict:
    """What was found: more odd rows than chance explains, some extreme rows, or nothing.

    `rows_in_groups` are the numbers of the groups of the listed rows, the most unusual row first.
    If the model was `trained_on` most of the rows, the number of odd rows is not estimated.
    """
    n, flagged, expected = len(scored.scores), alarms["flagged"], alarms.get("if_all_normal")
    rows = f"{flagged:,} of {counted(n, 'row')} {'is' if flagged == 1 else 'are'} flagged"
    shared = _shared(groups, rows_in_groups[:flagged])
    if trained_on:
        named = f"{rows}, but most of them are training rows: screen the table to find its mistakes."
        learned = "The model has learned these rows, so mistakes in them may not be flagged."
        return {"sentence": named, "certainty": learned, "odd": None, "at_least": None}
    if expected is None:
        unknown = "The model has no held-out losses, so it is not known how many rows chance alone would flag."
        return {"sentence": f"{rows}{shared}.", "certainty": unknown, "odd": None, "at_least": None}
    fewest, most = expected["fewest"], expected["most"]
    chance = f"If all rows were normal, {f'{fewest:,} to {most:,}' if fewest < most else f'{most:,}'} would be flagged."
    if flagged > most:
        least = _fewest_odd(scored, flagged, confidence)
        odd = max(round(flagged - expected["expected"]), least, 1)
        named = f"About {odd:,} of {counted(n, 'row')} {'is' if odd == 1 else 'are'} odd beyond chance{shared}."
        sure = (
            f"{rows}. {chance} With {percent(confidence)} confidence, at least {least:,} of the flagged rows are odd."
        )
        return {"sentence": named, "certainty": sure, "odd": odd, "at_least": least}
    beyond = alarms["beyond_training"]
    if beyond["rows"] > beyond["most"]:
        named = f"{beyond['rows']:,} of {counted(n, 'row')} {'is' if beyond['rows'] == 1 else 'are'}"
        named += f" more unusual than every training row{_shared(groups, rows_in_groups[: beyond['rows']])}."
        sure = f"{rows}, which chance alone may explain. {chance}"
        least = _fewest_odd(scored, flagged, confidence)
        return {"sentence": named, "certainty": sure, "odd": beyond["rows"], "at_least": least}
    if not flagged:
        return {"sentence": f"No row of {n:,} is flagged.", "certainty": chance, "odd": 0, "at_least": 0}
    named = f"Nothing stands out: chance alone may explain the {counted(flagged, 'flagged row')} of {n:,}."
    return {"sentence": named, "certainty": chance, "odd": 0, "at_least": 0}


def _fewest_odd(scored: ScoredRows, flagged: int, confidence: float) -> int:
    """Lower bound on the number of odd rows among the flagged rows.

    The largest of three bounds, each of which may fail with a third of the probability: by Simes' tests of the
    p-values, by the number of flagged rows, and by the number of rows that are more unusual than every training row.
    """
    known, rate, n = scored.calibration, scored.rate, len(scored.scores)
    if known is None or rate is None or not flagged:
        return 0
    level = (1 - confidence) / _BOUNDS
    found = [flagged - int(false_alarm_bounds(scored.p_values, level=level)[flagged - 1])]
    for budget in (rate, known.smallest_budget):
        beyond = int(np.count_nonzero(scored.p_values <= budget * (1 + ROUNDING)))
        found.append(min(beyond, flagged) - known.alarms(budget, n, 1 - 2 * level).most)
    return max(0, *found)


def _shared(groups: Sequence[AlarmGroup], rows_in_groups: Sequence[int | None]) -> str:
    """The largest groups of some rows, as the end of a sentence."""
    counts = Counter(number for number in rows_in_groups if number is not None).most_common(_NAMED)
    large = [(groups[i]["reason"], n) for i, n in counts if n >= max(2, _NAMED_SHARE * len(rows_in_groups))]
    if not large:
        return ""
    named = " and ".join(f"{reason} ({counted(n, 'row')})" for reason, n in large)
    return f"; the most common {'reason is' if len(large) == 1 else 'reasons are'} {named}"

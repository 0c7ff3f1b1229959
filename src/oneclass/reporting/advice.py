"""Sentences about a summary: what was found, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from .columns import CLEAR_DISTANCE
from .formatting import counted, listed, percent
from .schema import AlarmSummary, Resemblance, Summary

__all__ = ["advice_of", "findings_of", "is_uncontrolled", "likeness"]

#: Significance level of the test whether new rows differ from training rows.
_SIGNIFICANCE = 0.01
#: The upper confidence limit of the false-alarm rate, as a multiple of the requested rate, above which advice is given.
_ACCEPTED_EXCESS = 1.5
#: Columns that are named as the largest contributors.
_CONTRIBUTORS = 3


def findings_of(summary: Summary) -> list[str]:
    """The main results of the summary, a sentence or two each."""
    return [*_scored(summary), *_beyond(summary), *_resemblance(summary), *_contributors(summary)]


def _scored(summary: Summary) -> Iterator[str]:
    data, model = summary["data"], summary["model"]
    fitted = ""
    if (n := model["fitted_on"]) is not None:
        rows = f"{counted(n, 'group')} of training rows" if model["grouped"] else counted(n, "training row")
        known = f" and {counted(model['known_outliers'], 'known outlier')}" if "known_outliers" in model else ""
        fitted = f", which was fitted on {rows}{known}"
    table = f"{counted(data['rows'], 'row')} of {counted(data['columns'], 'column')}"
    yield f"{table} {'was' if data['rows'] == 1 else 'were'} scored by {model['name']}{fitted}."
    if data["training_rows"]:
        yield "Most of these rows are training rows, so mistakes that the model has learned may not be flagged."


def _beyond(summary: Summary) -> Iterator[str]:
    alarms = summary["alarms"]
    if "beyond_training" not in alarms:
        return
    beyond = alarms["beyond_training"]
    if beyond["rows"] > beyond["most"]:
        found = f"{counted(beyond['rows'], 'row')} {'is' if beyond['rows'] == 1 else 'are'}"
        most = f"at most {counted(beyond['most'], 'such row')}" if beyond["most"] else "no such row"
        yield f"{found} more unusual than every training row. If all rows were normal, there would be {most}."


def _resemblance(summary: Summary) -> Iterator[str]:
    resemblance, changed = summary["resemblance"], _changed_columns(summary)
    if resemblance is not None:
        how = "more" if resemblance["more_unusual"] else "less"
        yield {
            "similar": "As a whole, the new rows resemble the training rows.",
            "mostly similar": "Except for some unusual rows, the new rows resemble the training rows.",
            "slightly different": f"As a whole, the new rows are slightly {how} unusual than the training rows.",
            "different": f"As a whole, the new rows are clearly {how} unusual than the training rows.",
        }[likeness(resemblance, summary["alarms"])]
    if changed:
        yield f"{counted(len(changed), 'column')} changed clearly since the fit: {listed(changed)}."


def _contributors(summary: Summary) -> Iterator[str]:
    columns = sorted((c for c in summary["columns"] if c.get("largest_in")), key=lambda c: -c["largest_in"])
    if columns:
        named = [f"{c['name']} (in {counted(c['largest_in'], 'row')})" for c in columns[:_CONTRIBUTORS]]
        yield f"Columns that contribute most to the scores of flagged rows: {listed(named)}."


def likeness(resemblance: Resemblance, alarms: AlarmSummary) -> str:
    """How similar new rows and training rows are; they are ``mostly similar`` if only some flagged rows differ."""
    if resemblance["p_value"] >= _SIGNIFICANCE:
        return "mostly similar" if _exceeds_chance(alarms) else "similar"
    return "different" if resemblance["distance"] >= CLEAR_DISTANCE else "slightly different"


def _exceeds_chance(alarms: AlarmSummary) -> bool:
    beyond = alarms["beyond_training"]
    return bool(alarms["flagged"] > alarms["if_all_normal"]["most"] or beyond["rows"] > beyond["most"])


def _changed_columns(summary: Summary) -> list[str]:
    """Columns that clearly changed, the largest change first."""
    changed = [column for column in summary["columns"] if column.get("changed") == "clearly"]
    return [str(column["name"]) for column in sorted(changed, key=lambda column: -column["distance"])]


def is_uncontrolled(alarms: AlarmSummary) -> bool:
    """Whether the threshold rule does not control the false-alarm rate; that of a stream does."""
    return not alarms["held_out"] and alarms["rule"] != "stream"


def advice_of(summary: Summary) -> list[str]:
    """What to do next, the most urgent first."""
    return [*_about_rows(summary), *_about_data(summary), *_about_model(summary)]


def _about_rows(summary: Summary) -> Iterator[str]:
    alarms = summary["alarms"]
    flagged, expected = alarms["flagged"], alarms.get("if_all_normal")
    if summary["data"]["training_rows"]:
        yield (
            "To find mistakes among training rows, use screen (on the command line: oneclass screen) or the scores in "
            "held_out_scores_, instead of this report."
        )
    if flagged == 0:
        yield "No row is flagged, so there is no row to look at."
    elif expected is None:
        yield "Look at the flagged rows from the top of the table: the most unusual rows come first."
    elif flagged > expected["most"] and summary["groups"] and summary["groups"][0]["rows"] > 1:
        yield (
            "Start with the largest groups of like alarms: their rows probably have one cause. Then look at the other "
            "flagged rows from the top of the table, where the most unusual rows come first."
        )
    elif flagged > expected["most"]:
        yield (
            "Look at the flagged rows from the top of the table: the most unusual rows come first, and there are more "
            "flagged rows than false alarms explain."
        )
    elif _exceeds_chance(alarms):
        yield (
            f"Look at the first {counted(alarms['beyond_training']['rows'], 'row')} of the table. They are more "
            "unusual than every training row, and false alarms explain fewer such rows. The other flagged rows may be "
            "false alarms."
        )
    elif flagged == 1:
        yield "Look at the flagged row. It may be a false alarm: one is to be expected."
    else:
        lower = "move the slider to a lower rate" if summary["steps"] else "fit with a lower rate"
        yield (
            "Look at the first few flagged rows only. False alarms explain the number of flagged rows, so most of them "
            f"are probably normal. To keep only the most unusual rows, {lower}."
        )


def _about_data(summary: Summary) -> Iterator[str]:
    resemblance, changed = summary["resemblance"], _changed_columns(summary)
    if resemblance and resemblance["more_unusual"] and likeness(resemblance, summary["alarms"]) == "different":
        yield (
            "As a whole, the new rows differ from the training rows. First check whether they were measured, coded or "
            "selected in another way. If normal rows have changed for good, fit the model again with recent rows."
        )
    if changed:
        yield f"Check the units, devices and coding of {listed(changed)}: the values have changed since the fit."
    for column in summary["columns"]:
        if column.get("unseen"):
            yield f"Check {column['name']}: no training row has the value {listed(column['unseen'])}."
    if not any("training" in column for column in summary["columns"]):
        yield (
            "Pass the training rows as X_train (on the command line: --train) to compare the columns with them: this "
            "model stores no summary of its training columns."
        )


def _about_model(summary: Summary) -> Iterator[str]:
    alarms = summary["alarms"]
    if is_uncontrolled(alarms):
        yield (
            f"The threshold rule {alarms['rule']!r} does not use held-out losses, so it does not control the "
            "false-alarm rate; fit with threshold='held_out'."
        )
    elif alarms["held_out"] and alarms["confidence"] is None and alarms["delta"] > 0 and "interval" in alarms:
        high, delta = alarms["interval"][1], alarms["delta"]
        if high > _ACCEPTED_EXCESS * delta:
            safe, rows = alarms["safe_delta"], alarms["rows_needed"]
            what = f"{rows:,} {'groups' if summary['model']['grouped'] else 'rows'}"
            remedy = f"request {percent(safe)}" if safe else f"fit on at least {what}"
            yield (
                f"The false-alarm rate of this model may be as high as {percent(high)}, although {percent(delta)} was "
                f"requested. To stay below {percent(delta)} with 95 % confidence, {remedy}."
            )

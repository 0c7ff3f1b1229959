"""What the numbers of a summary mean in words, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator

from .contents import Budget, Resemblance, Summary
from .wording import counted, listed, percent

__all__ = ["advice_of", "changed_columns", "likeness", "unpromised", "words_of"]

#: P-value below which new rows are called unlike the training rows, and distance from which on that matters.
_DOUBT, _CLEAR = 0.01, 0.1


def words_of(summary: Summary) -> list[str]:
    """The summary in a few sentences."""
    return [*_data(summary), *_alarms(summary), *_likeness(summary), *_blamed(summary)]


def _data(summary: Summary) -> Iterator[str]:
    data, model = summary["data"], summary["model"]
    learnt = ""
    if model["learnt_from"] is not None:
        what = "group" if model["grouped"] else "row"
        learnt = f", which learnt what is normal from {counted(model['learnt_from'], what)}"
    judged = f"{counted(data['rows'], 'row')} of {counted(data['columns'], 'column')}"
    yield f"{judged} {'was' if data['rows'] == 1 else 'were'} judged by {model['name']}{learnt}."


def _alarms(summary: Summary) -> Iterator[str]:
    budget = summary["budget"]
    flagged, expected = budget["flagged"], budget.get("if_all_normal")
    said = f"{counted(flagged, 'row')} ({percent(budget['flagged_share'])}) {'is' if flagged == 1 else 'are'} flagged."
    if expected is None:
        yield said
        return
    low, high = expected["fewest"], expected["most"]
    usual = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    said += f" If all rows were normal, {usual} would be"
    if flagged > high:
        yield f"{said}: about {flagged - expected['expected']:,.0f} of them are more than chance explains."
    elif flagged < low:
        yield f"{said}: there are fewer than chance explains."
    else:
        yield f"{said}: that is what chance explains."
    beyond = budget["beyond_all"]
    if beyond["rows"] > beyond["most"]:
        are = "row is" if beyond["rows"] == 1 else "rows are"
        most = f"at most {beyond['most']:,}" if beyond["most"] else "none"
        yield f"{beyond['rows']:,} {are} stranger than every row that the model learnt from; chance explains {most}."


def _likeness(summary: Summary) -> Iterator[str]:
    alike, changed = summary["resemblance"], changed_columns(summary)
    if alike is not None:
        how = "stranger" if alike["stranger"] else "more alike"
        yield {
            "like": "As a whole, the rows are as normal as those that the model learnt from.",
            "odd": "Apart from odd ones among the flagged, the rows are as normal as those that the model learnt from.",
            "slightly": f"As a whole, the rows are slightly {how} than those that the model learnt from.",
            "unlike": f"As a whole, the rows are clearly {how} than those that the model learnt from.",
        }[likeness(alike, summary["budget"])]
    if changed:
        yield f"{counted(len(changed), 'column')} changed clearly since: {listed(changed)}."


def _blamed(summary: Summary) -> Iterator[str]:
    first = sorted((c for c in summary["columns"] if c.get("first")), key=lambda c: -c["first"])[:3]
    if first:
        named = listed([f"{column['name']} ({counted(column['first'], 'row')})" for column in first])
        yield f"Most often the first reason: {named}."


def likeness(alike: Resemblance, budget: Budget) -> str:
    """How new rows are: ``like`` training rows, that but for ``odd`` ones, ``slightly`` off, or ``unlike`` them."""
    if alike["p_value"] >= _DOUBT:
        return "odd" if _more_than_chance(budget) else "like"
    return "unlike" if alike["distance"] >= _CLEAR else "slightly"


def _more_than_chance(budget: Budget) -> bool:
    beyond = budget["beyond_all"]
    return bool(budget["flagged"] > budget["if_all_normal"]["most"] or beyond["rows"] > beyond["most"])


def changed_columns(summary: Summary) -> list[str]:
    """Columns that have clearly changed, the most first."""
    changed = [column for column in summary["columns"] if column.get("changed") == "clearly"]
    return [str(column["name"]) for column in sorted(changed, key=lambda column: -column["distance"])]


def unpromised(budget: Budget) -> bool:
    """Whether another rule would have kept the rate asked for; streams watch theirs."""
    return not budget["promised"] and budget["rule"] != "stream"


def advice_of(summary: Summary) -> list[str]:
    """What to do next, the most pressing first."""
    return [*_about_rows(summary), *_about_data(summary), *_about_model(summary)]


def _about_rows(summary: Summary) -> Iterator[str]:
    budget = summary["budget"]
    flagged, expected = budget["flagged"], budget.get("if_all_normal")
    if flagged == 0:
        yield "Nothing is flagged: there is no row to look at."
    elif expected is not None and flagged > expected["most"]:
        yield (
            "Look at the flagged rows from the top of the table: the strangest come first, and there are more of them "
            "than false alarms explain."
        )
    elif expected is not None and _more_than_chance(budget):
        yield (
            f"Look at the first {counted(budget['beyond_all']['rows'], 'row')} of the table, which chance does not "
            "explain; the number of the others is what false alarms explain, so most are likely to be normal."
        )
    elif expected is not None and flagged == 1:
        yield "Look at the flagged row: one is what false alarms explain, so it may well be normal."
    elif expected is not None:
        yield (
            "Look at the first few flagged rows only: their number is what false alarms explain, so most are likely to "
            "be normal. A smaller budget, on the slider, leaves the strangest."
        )
    else:
        yield "Look at the flagged rows from the top of the table: the strangest come first."


def _about_data(summary: Summary) -> Iterator[str]:
    alike, changed = summary["resemblance"], changed_columns(summary)
    if alike is not None and likeness(alike, summary["budget"]) == "unlike" and alike["stranger"]:
        yield (
            "The rows as a whole are not what the model learnt from. Check first whether something was measured, coded "
            "or selected otherwise; if this is the new normal, fit the model again with recent rows."
        )
    if changed:
        yield f"Check units, devices and coding of {listed(changed)}: what they hold has changed since the fit."
    for column in summary["columns"]:
        if column.get("unseen"):
            yield f"Check {column['name']}: no training row held what it holds now, {listed(column['unseen'])}."
    if not any("training" in column for column in summary["columns"]):
        yield "Pass X_train, the training rows, to compare the columns with them: this model kept nothing of them."


def _about_model(summary: Summary) -> Iterator[str]:
    budget = summary["budget"]
    if unpromised(budget):
        yield (
            f"The threshold {budget['rule']!r} does not use held-out rows, so that its false-alarm rate is unknown; "
            "fit with threshold='held_out'."
        )
    elif budget["promised"] and budget["confidence"] is None and budget["asked"] > 0 and "interval" in budget:
        high, asked = budget["interval"][1], budget["asked"]
        if high > 1.5 * asked:
            surely, rows = budget["ask_to_keep_surely"], budget["rows_to_keep_surely"]
            how = f"ask {percent(surely)}" if surely else f"fit with at least {rows:,} rows"
            yield (
                f"This model's own rate of false alarms may be up to {percent(high)}, where {percent(asked)} was "
                f"asked; to stay below that with 95 % confidence, {how}."
            )

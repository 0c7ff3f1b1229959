"""Results have a `repr` of one line, and a small table for notebooks."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from oneclass import VAAKELM, KNNDetector, Stream, TableDetector, screen
from oneclass.stream import Verdict


class Table(HTMLParser):
    """Counts of the lines of a table, and its text."""

    def __init__(self, html):
        super().__init__()
        self.lines, self.text = 0, ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        assert tag in ("p", "table", "tr", "th", "td")
        self.lines += tag == "tr"

    def handle_data(self, data):
        self.text += data


def results():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    dirty = rng.normal(size=(300, 1)) + 0.1 * rng.normal(size=(300, 3))
    dirty[::60, 1] += 9
    stream = Stream().fit(X)
    verdict = stream.watch(np.concatenate([X, X + 6]))
    named = pd.DataFrame(X, columns=["<script>", "b", "c"])
    table = TableDetector(KNNDetector()).fit(named)
    return {
        "explanation": table.explain(named + 9),
        "screening": screen(dirty),
        "plan": table.plan_,
        "verdict": verdict,
        "calibration": VAAKELM().fit(X).calibration_,
        "events": stream.events_,
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_the_repr_is_one_short_line(name):
    assert "\n" not in repr(RESULTS[name])
    assert len(repr(RESULTS[name])) < 110


@pytest.mark.parametrize("name", RESULTS)
def test_the_table_of_a_notebook_is_small_and_escaped(name):
    shown = Table(RESULTS[name]._repr_html_())
    assert 2 <= shown.lines <= 11
    assert shown.text.startswith(repr(RESULTS[name]))


@pytest.mark.parametrize("name", ["explanation", "screening", "plan", "verdict", "events"])
def test_it_becomes_a_data_frame(name):
    frame = RESULTS[name].to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0


def test_the_data_frame_of_a_verdict_holds_every_row():
    verdict = RESULTS["verdict"]
    frame = verdict.to_frame()
    assert isinstance(verdict, Verdict)
    assert frame["row"].tolist() == verdict.rows.tolist()
    assert frame["label"].tolist() == verdict.labels.tolist()


def test_the_table_counts_the_rows_that_it_leaves_out():
    alarms = int((RESULTS["verdict"].labels < 0).sum())
    assert f"{alarms - 10:,} more" in RESULTS["verdict"]._repr_html_()


def test_events_are_a_tuple():
    assert RESULTS["events"] == tuple(RESULTS["events"])

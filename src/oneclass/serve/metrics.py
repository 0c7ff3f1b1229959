"""Counts of a service, as Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

__all__ = ["Metrics"]

#: Upper bounds of the bins for seconds and for p-values.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_P_VALUES = (0.001, 0.01, 0.05, *(k / 10 for k in range(1, 11)))


class _Histogram:
    """Numbers of values up to each bound, their sum and their count."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds, self._counts, self._sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> Iterable[str]:
        total = 0
        for bound, count in zip((*self._bounds, None), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{le="{"+Inf" if bound is None else f"{bound:g}"}"}} {total}'
        yield f"{name}_sum {self._sum!r}"
        yield f"{name}_count {total}"


class Metrics:
    """Counts of requests, rows, alarms and reloads, and histograms of seconds and p-values.

    Use it from one thread.
    """

    def __init__(self) -> None:
        self._requests: Counter[int] = Counter()
        self._rows = self._alarms = 0
        self._reloads: Counter[str] = Counter({"loaded": 0, "failed": 0})
        self._seconds, self._p_values = _Histogram(_SECONDS), _Histogram(_P_VALUES)

    def count(self, status: int, seconds: float) -> None:
        """Count a request for scores or reasons."""
        self._requests[status] += 1
        self._seconds.add(seconds)

    def judged(self, labels: Iterable[int], p_values: Iterable[float]) -> None:
        """Count rows by their labels and p-values."""
        for label in labels:
            self._rows += 1
            self._alarms += label == -1
        for p in p_values:
            self._p_values.add(p)

    def reloaded(self, result: str) -> None:
        """Count a reload of the model file, ``loaded`` or ``failed``."""
        self._reloads[result] += 1

    def text(self, loaded_at: float) -> str:
        """All counts in the text format of Prometheus."""
        lines = []
        for name, kind, about, values in (
            ("requests_total", "counter", "Requests for scores or reasons, by HTTP status.",
             [f'{{status="{status}"}} {n}' for status, n in sorted(self._requests.items())]),
            ("rows_total", "counter", "Rows judged.", [f" {self._rows}"]),
            ("alarms_total", "counter", "Rows labelled as outliers.", [f" {self._alarms}"]),
            ("reloads_total", "counter", "Reloads of the model file.",
             [f'{{result="{result}"}} {n}' for result, n in self._reloads.items()]),
            ("model_loaded_timestamp_seconds", "gauge", "When the model was loaded.", [f" {loaded_at:.3f}"]),
        ):  # fmt: skip
            lines += [f"# HELP oneclass_{name} {about}", f"# TYPE oneclass_{name} {kind}"]
            lines += [f"oneclass_{name}{value}" for value in values]
        for name, about, histogram in (
            ("request_seconds", "Seconds of a request.", self._seconds),
            ("p_value", "P-values of the rows; those of normal rows are uniform.", self._p_values),
        ):
            lines += [f"# HELP oneclass_{name} {about}", f"# TYPE oneclass_{name} histogram"]
            lines += histogram.lines(f"oneclass_{name}")
        return "\n".join(lines) + "\n"

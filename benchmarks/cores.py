"""The effect of more cores on a fit, its scores and its labels, in rows per second.

Writes the table of docs/speed.md; the numbers of cores depend on the machine.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits

from _compiled import allow_compiled
from _table import markdown, write_between_markers
from fit_cost import rows
from oneclass import VAAKELM, Nystrom

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
MANY, EXACT, SCORED = 100_000, 3_000, 20_000


def rate(n: int, run: Callable[[], object], rounds: int) -> float:
    """Rows per second: the median of some rounds, after a first one that is not counted."""
    run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return n / statistics.median(times)


def main() -> None:
    allow_compiled(False)
    rounds = int(sys.argv[1]) if sys.argv[1:] else 3
    many, some = rows(MANY), rows(SCORED)
    machine = VAAKELM(approximation=Nystrom(1000))
    exact = VAAKELM(approximation=None).fit(rows(EXACT))
    found: dict[int, list[float]] = {}
    for k in [2**i for i in range(10) if 2**i <= (os.cpu_count() or 1)]:
        with threadpool_limits(k):
            found[k] = [
                rate(MANY, lambda: machine.fit(many), rounds),
                rate(MANY, lambda: machine.score_samples(many), rounds),
                rate(MANY, lambda: machine.predict(many), rounds),
                rate(SCORED, lambda: exact.score_samples(some), rounds),
                rate(SCORED, lambda: exact.predict(some), rounds),
            ]
    one = found[1]
    body = [
        [str(k), *(f"{r:,.0f} ({r / alone:.1f})" for r, alone in zip(v, one, strict=True))] for k, v in found.items()
    ]
    head = [
        "cores",
        *(f"{what}, m = 1,000" for what in ("fit", "score", "label")),
        "score, 3,000 exact",
        "label, 3,000 exact",
    ]
    table = markdown(head, body)
    print(table, flush=True)
    write_between_markers(PAGE, "cores", table, of_cores=True)


if __name__ == "__main__":
    main()

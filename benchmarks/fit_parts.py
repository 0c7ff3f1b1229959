"""Where the time of a default fit of 10,000 rows goes, by a profile of processor time on one thread.

Without compiled code. Writes a table of docs/speed.md.
"""

from __future__ import annotations

import cProfile
import pstats
import statistics
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from _arrays import Rows
from _compiled import allow_compiled
from _table import markdown, write_between_markers
from fit_cost import D, M, bare_landmarks, medians, rows
from oneclass import VAAKELM

N, ROUNDS = 10_000, 5
WHOLE = "kernel_machine.py fit"
LEFT_OUT, CHECK = ("landmark_rows.py of", "landmark_rows.py without"), ("approximate.py _judging",)
#: Functions whose times are added, and functions that they call, whose times are in another line.
STEPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "choice of scaling, bandwidth, clusters and landmarks": (("approximate.py _planned",), ()),
    "kernel values of all rows": (("approximate.py _with_features",), ()),
    "means and scatters of the kernel values": (("plan.py block_moments",), ()),
    "solution of the normal equations": (("primal.py solve_primal",), ()),
    "losses of all rows, with leverage and uncertainty": (("approximate.py judge_training",), LEFT_OUT + CHECK),
    "holding out the landmarks": (LEFT_OUT, ()),
    "check that single precision is accurate enough": (CHECK, ()),
}


def profiled(X: Rows) -> dict[str, float]:
    """Seconds of a fit in each function, with what it calls, by file and name."""
    profile = cProfile.Profile(time.process_time)
    profile.runcall(VAAKELM().fit, X)
    found: dict[str, float] = {}
    for (file, _, name), (_, _, _, seconds, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        key = f"{Path(file).name} {name}"
        found[key] = found.get(key, 0.0) + seconds
    return found


def main() -> None:
    threadpool_limits(1)
    allow_compiled(False)
    X = rows(N)
    VAAKELM().fit(X)
    least = medians({"bare": lambda: bare_landmarks(X)}, rounds=ROUNDS)["bare"]
    rounds = [profiled(X) for _ in range(ROUNDS)]
    seconds = {key: statistics.median(found[key] for found in rounds) for key in rounds[0]}
    lines = {
        label: sum(seconds[name] for name in added) - sum(seconds[name] for name in elsewhere)
        for label, (added, elsewhere) in STEPS.items()
    }
    lines["other work"] = seconds[WHOLE] - sum(lines.values())
    lines |= {"**the fit**": seconds[WHOLE], "bare arithmetic": least}
    body = [[label, f"{1000 * s:.0f}", f"{s / seconds[WHOLE]:.0%}"] for label, s in lines.items()]
    table = markdown([f"{N:,} rows of {D} columns, m = {M:,}", "ms", "share"], body)
    print(table)
    write_between_markers(Path(__file__).parents[1] / "docs" / "speed.md", "fit-parts", table)


if __name__ == "__main__":
    main()

"""
A million rows
==============

The same machine with 300 landmarks, with more and more rows: time is proportional to the number of rows, and the false-
alarm rate is kept. ``ONECLASS_ROWS`` sets the largest number (default: a million).
"""

import os
import time

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from oneclass import VAAKELM, Nystrom

most = int(os.environ.get("ONECLASS_ROWS", "1_000_000"))
rng = np.random.default_rng(0)
seen = rng.normal(size=(3, 10))


def readings(n: int) -> NDArray[np.float64]:
    """Ten sensors, each a different function of three hidden variables."""
    return 3 * np.tanh(rng.normal(size=(n, 3)) @ seen) + 0.3 * rng.normal(
        size=(n, 10)
    )


# %%
# New rows, and rows in which every second sensor comes from another row: each value is in range, but they do not fit
# together.

fresh = readings(5_000)
mixed = readings(5_000)
mixed[:, ::2] = fresh[:, ::2]
sizes = [most // 100, most // 10, most]
seconds, alarms, caught = [], [], []
for n in sizes:
    X = readings(n)
    start = time.perf_counter()
    model = VAAKELM(delta=0.05, approximation=Nystrom(300)).fit(X)
    seconds.append(time.perf_counter() - start)
    alarms.append(100 * np.mean(model.predict(fresh) == -1))
    caught.append(100 * np.mean(model.predict(mixed) == -1))

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.8), layout="constrained"
)
left.loglog(sizes, seconds, "o-", color="#0072b2")
left.set(xlabel="rows", ylabel="seconds to fit")
right.semilogx(sizes, alarms, "o-", color="#0072b2", label="fresh normal rows")
right.semilogx(
    sizes, caught, "s-", color="#d55e00", label="sensors that do not agree"
)
right.axhline(5, color="black", linewidth=0.8, linestyle=":")
right.set(xlabel="rows", ylabel="rejected, %", ylim=(0, 101))
right.legend(frameon=False, loc="center right")
plt.show()

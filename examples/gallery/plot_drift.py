"""
A sensor that ages, and an attack
=================================

Four thousand rows of six sensors arrive in blocks of fifty. One sensor ages. At row 2,500 the plant changes to another
operating point. At row 1,200 there is an attack of 100 rows. A stream learns the first two changes and not the attack.
A machine that was fitted once cannot.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from oneclass import VAAKELM, Stream

rng = np.random.default_rng(0)
seen = rng.normal(size=(2, 6))


def sensors(n: int) -> NDArray[np.float64]:
    """Six sensors, each a different function of two hidden variables."""
    return 3 * np.tanh(rng.normal(size=(n, 2)) @ seen) + 0.3 * rng.normal(
        size=(n, 6)
    )


opening, X = sensors(500), sensors(4000)
X[:, 0] += np.linspace(0, 5, 4000)  # ages
X[2500:] += [3, 0, -5, 0, 4, 0]  # another operating point
attack = np.zeros(4000, dtype=bool)
attack[1200:1300] = True
X[attack] = [5, -4, 5, -4, 5, -4] + 0.4 * rng.normal(size=(100, 6))

# %%
# ``watch`` scores a block. Once the data have changed, it learns the accepted rows.

stream, once = (
    Stream(window=1000, delta=0.05).fit(opening),
    VAAKELM(delta=0.05).fit(opening),
)
alarms = np.concatenate(
    [stream.watch(X[i : i + 50]).labels == -1 for i in range(0, 4000, 50)]
)
frozen = once.predict(X) == -1
print(
    f"attack: {alarms[attack].mean():.0%} found; "
    f"normal rows: {alarms[~attack].mean():.1%} rejected, ",
    end="",
)
print(f"by the machine fitted once {frozen[~attack].mean():.0%}")
for event in stream.events_:
    if event.kind in ("strange", "change", "mode", "wider"):
        print(f"row {event.row - 500}: {event.kind}")

# %%

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(9, 5.4), sharex=True, layout="constrained"
)
top.plot(X[:, 0], ".", markersize=2, color="#808080")
top.plot(
    np.flatnonzero(attack),
    X[attack, 0],
    ".",
    markersize=3,
    color="#d55e00",
    label="attack",
)
top.set(ylabel="first sensor")
top.legend(frameon=False)
window = np.ones(200) / 200
for name, found, colour in (
    ("stream", alarms, "#0072b2"),
    ("fitted once", frozen, "#d55e00"),
):
    bottom.plot(
        100 * np.convolve(found & ~attack, window)[:4000],
        color=colour,
        label=name,
    )
for height, event in enumerate(
    event for event in stream.events_ if event.kind in ("strange", "change")
):
    bottom.axvline(event.row - 500, color="#55a868", linestyle="--")
    bottom.text(event.row - 480, 85 - 12 * height, event.kind, color="#55a868")
bottom.axhline(5, color="black", linewidth=0.8, linestyle=":")
bottom.set(xlabel="row", ylabel="false alarms, % of 200 rows", ylim=(0, 101))
bottom.legend(frameon=False, loc="upper left")
plt.show()

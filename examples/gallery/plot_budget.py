"""
The false-alarm rate of one fitted model
========================================

The requested rate holds on average over training sets. The rate of one fitted model differs from it, and less so with
more training rows. ``false_alarm_interval`` returns an interval for it. With ``confidence=``, the threshold is chosen
so that most models keep the rate.
"""

import matplotlib.pyplot as plt
import numpy as np

from oneclass import OCKELM, rows_needed

rng = np.random.default_rng(0)
fresh = rng.normal(size=(4000, 3))
sizes, repeats = (30, 60, 120, 250, 500), 20

# %%
# Fit many times, and measure the rate of each model on four thousand new rows.

figure, axes = plt.subplots(
    1, 2, figsize=(10, 4), sharey=True, layout="constrained"
)
for ax, confidence in zip(axes, (None, 0.9), strict=True):
    for n in sizes:
        models = [
            OCKELM(delta=0.1, confidence=confidence).fit(
                rng.normal(size=(n, 3))
            )
            for _ in range(repeats)
        ]
        rates = [100 * np.mean(model.predict(fresh) == -1) for model in models]
        ax.plot(
            np.full(repeats, n) * rng.uniform(0.93, 1.07, repeats),
            rates,
            ".",
            color="#0072b2",
            alpha=0.6,
        )
        low, high = models[0].false_alarm_interval(confidence=0.9)
        ax.plot(
            [n, n],
            [100 * low, 100 * high],
            color="#d55e00",
            linewidth=8,
            alpha=0.35,
            solid_capstyle="butt",
        )
        above = np.mean(np.array(rates) > 10)
        print(
            f"n = {n}, confidence={confidence}: {np.mean(rates):.1f} %, "
            f"{above:.0%} of the models above"
        )
    ax.axhline(10, color="black", linewidth=0.8, linestyle=":")
    ax.set(
        xscale="log",
        xlabel="training rows",
        title=f"confidence={confidence}",
        xticks=sizes,
        xticklabels=sizes,
    )
    ax.minorticks_off()
axes[0].set_ylabel("this model's false alarms, %")
plt.show()

# %%
# How many rows does a rate need?

for budget in (0.1, 0.05, 0.01, 0.001):
    sure = rows_needed(budget, confidence=0.95)
    print(
        f"{budget:.1%}: {rows_needed(budget)} rows on average, "
        f"{sure} to be 95 % sure"
    )

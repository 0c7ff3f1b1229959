"""
P-values, and false discoveries
===============================

A p-value is about the share of normal rows that are at least as anomalous. In a batch of normal rows p-values are
nearly uniform; outliers have small ones. ``delta`` bounds false alarms among *normal* rows; ``label_batch`` bounds the
share of normal rows among those *named*.
"""

import matplotlib.pyplot as plt
import numpy as np

from oneclass import VAAKELM

rng = np.random.default_rng(0)
model = VAAKELM(delta=0.05).fit(rng.normal(size=(399, 5)))
batches = {
    "like the training rows": rng.normal(size=(1000, 5)),
    "30 outliers among 1,000 rows": np.concatenate(
        [rng.normal(size=(970, 5)), 4 + rng.normal(size=(30, 5))]
    ),
    "a world that has moved": rng.normal(size=(1000, 5)) * 1.25,
}

# %%
# Three batches. The last one contains no outliers: the distribution of its normal rows has changed.

figure, axes = plt.subplots(
    1, 3, figsize=(11, 3.6), sharey=True, layout="constrained"
)
for ax, (name, rows) in zip(axes, batches.items(), strict=True):
    p = model.p_value(rows)
    ax.hist(p, bins=20, range=(0, 1), color="#0072b2")
    ax.axhline(len(rows) / 20, color="black", linewidth=0.8, linestyle=":")
    alarms, named = (
        (model.predict(rows) == -1).sum(),
        (model.label_batch(rows, q=0.1, tail="pareto") == -1).sum(),
    )
    ax.set_title(
        f"{name}\n{alarms} alarms at 5 %, {named} named at q = 10 %",
        fontsize=10,
    )
    ax.set_xlabel("p-value")
axes[0].set_ylabel("rows")
plt.show()

# %%
# Share of normal rows among the named ones: twenty models and twenty batches for each number of outliers.

counts, shares = (
    (3, 10, 30, 100),
    {
        name: list[float]()
        for name in ("budget of 5 %", "label_batch, q = 10 %")
    },
)
for count in counts:
    wrong = {name: list[float]() for name in shares}
    for _ in range(20):
        model.fit(rng.normal(size=(399, 5)))
        rows = np.concatenate(
            [
                rng.normal(size=(1000 - count, 5)),
                5 + rng.normal(size=(count, 5)),
            ]
        )
        labels = (
            model.predict(rows),
            model.label_batch(rows, q=0.1, tail="pareto"),
        )
        for name, named in zip(shares, np.array(labels) == -1, strict=True):
            wrong[name].append(named[:-count].sum() / max(named.sum(), 1))
    for name in shares:
        shares[name].append(100 * float(np.mean(wrong[name])))
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, values), colour in zip(
    shares.items(), ("#d55e00", "#0072b2"), strict=True
):
    ax.semilogx(counts, values, "o-", color=colour, label=name)
ax.axhline(10, color="black", linewidth=0.8, linestyle=":")
ax.set(
    xlabel="outliers among 1,000 rows",
    ylabel="normal rows among those named, %",
    ylim=(0, 100),
)
ax.legend(frameon=False)
plt.show()

"""The picture of the front page: false-alarm rates asked and delivered, and an alarm in the units of the table.

python -m examples.front        (needs matplotlib)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_breast_cancer

from oneclass import VAAKELM

from .demo import WAYS, delivered, normal_rows, splits

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

ASKED = (0.02, 0.05, 0.10, 0.15, 0.20)
LOOKS = (("#4c72b0", 2.6, "o"), ("#dd8452", 1.6, "s"), ("#8172b3", 1.6, "^"), ("#999999", 1.4, "v"))


def draw_budgets(ax: Axes) -> None:
    """Share of new normal rows rejected, mean over three tables."""
    tables = normal_rows().values()
    ax.plot([0, 20], [0, 20], color="black", linewidth=0.8, linestyle=":")
    for (name, make), (colour, width, mark) in zip(WAYS.items(), LOOKS, strict=True):
        rates = [100 * np.mean([delivered(make, asked, X) for X in tables]) for asked in ASKED]
        ax.plot([100 * a for a in ASKED], rates, color=colour, linewidth=width, marker=mark, label=name)
    ax.set(
        xlabel="false alarms asked for, %",
        ylabel="delivered on fresh normal rows, %",
        ylim=(0, 95),
        xlim=(0, 21),
        xticks=range(0, 21, 5),
    )
    ax.set_title("Asked and delivered\n(benign tumours, digit 0, wine 2; ten splits each)", fontsize=11)
    ax.legend(frameon=False, fontsize=9, loc="upper left")


def draw_alarm(ax: Axes) -> None:
    """The columns that have the largest shares of one alarm's loss."""
    data = load_breast_cancer()
    train, _ = next(splits(data.data[data.target == 1]))
    model, row = VAAKELM(delta=0.05).fit(train), data.data[:1]
    for column, value, expected, share in model.explain(row).top(6)[0]:
        name = data.feature_names[column]
        ax.barh(name, 100 * share, color="#dd8452", height=0.62)
        ax.text(0.3, name, f"{value:.4g}  (expected {expected:.3g})", va="center", fontsize=9)
    ax.invert_yaxis()
    ax.set(xlabel="share of the loss, %")
    ax.set_title(
        f"One alarm, in the units of the table\n(a malignant tumour, p = {model.p_value(row)[0]:.4f})", fontsize=11
    )


if __name__ == "__main__":
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    draw_budgets(axes[0])
    draw_alarm(axes[1])
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).parents[1] / "docs" / "front.png", dpi=110)

"""
A contaminated table: name the outliers, learn from the other rows
==================================================================

A table of 400 rows: 370 normal rows of three kinds and 30 outliers, of which twenty are scattered and ten form a
cluster. ``screen`` names outliers at a false-discovery rate of 10 %, and learns from the other rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from oneclass import VAAKELM

rng = np.random.default_rng(1)
kind = rng.integers(3, size=370)
normal = np.array([[-2, -1], [2, -1], [0, 2]])[kind] + np.array(
    [0.6, 0.3, 0.4]
)[kind, None] * rng.normal(size=(370, 2))
away = rng.uniform(0, 2 * np.pi, 20)
scattered = np.c_[np.cos(away), np.sin(away)] * rng.uniform(
    4.5, 9, size=(20, 1)
)
clump = [6, 6] + 0.2 * rng.normal(size=(10, 2))
X, dirty = (
    np.concatenate([normal, scattered, clump]),
    np.repeat([False, True], [370, 30]),
)

# %%
# ``fit_predict`` scores rows by a model that has learned from them, and misses most outliers.

found = VAAKELM(delta=0.05).screen(X, q=0.1)
naive = VAAKELM(delta=0.05).fit_predict(X) == -1
for name, odd in (("screen", found.odd), ("fit_predict", naive)):
    print(
        f"{name}: {(odd & dirty).sum()} of {dirty.sum()} found, "
        f"{(odd & ~dirty).sum()} normal rows named"
    )

# %%
# The classifier of the remaining rows, and one of all rows.

xs, ys = np.meshgrid(np.linspace(-10, 10, 120), np.linspace(-10, 10, 120))
plane = np.c_[xs.ravel(), ys.ravel()]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, title, model, odd in (
    (axes[0], "fit(X): learns the dirt", VAAKELM(delta=0.05).fit(X), naive),
    (axes[1], "screen(X): learns the rest", found.classifier, found.odd),
):
    ax.contourf(
        xs,
        ys,
        np.sign(model.decision_function(plane)).reshape(xs.shape),
        levels=[-2, 0, 2],
        colors=["#f7ede2", "#a6cee3"],
    )
    ax.scatter(*X[~dirty].T, s=6, color="#333333", label="normal")
    ax.scatter(*X[dirty].T, s=14, color="#d55e00", label="does not belong")
    ax.scatter(
        *X[odd].T, s=60, facecolors="none", edgecolors="#e69f00", label="named"
    )
    ax.set(title=title, xticks=[], yticks=[])
axes[0].legend(loc="lower right", fontsize=8)
plt.show()

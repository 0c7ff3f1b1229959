"""
Tuning with and without outliers
================================

Digit 3 is the target. ``OneClassSearchCV`` chooses bandwidth and C twice: by the likelihood of the targets alone, and
by fifty outliers (other digits). Both are then compared with the default on digits that neither search used.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from oneclass import VAAKELM, OneClassSearchCV

X, y = load_digits(return_X_y=True)
y = np.where(y == 3, 1, -1)
rng = np.random.default_rng(0)
targets, others = (
    rng.permutation(np.flatnonzero(y == label)) for label in (1, -1)
)
train, odd = X[targets[:110]], X[others[:50]]
test = np.concatenate([targets[110:], others[50:]])
grid = {"C": [0.5, 2.0, 8.0, 32.0], "sigma": [10.0, 20.0, 40.0, 80.0]}

# %%
# Without outliers no label is needed. Labelled outliers are used for comparison only, and never for a fit.

without = OneClassSearchCV(VAAKELM(), grid, criterion="likelihood").fit(train)
rows, labels = (
    np.concatenate([train, odd]),
    np.repeat([1, -1], [len(train), len(odd)]),
)
having = OneClassSearchCV(VAAKELM(), grid, scoring="auroc", cv=5).fit(
    rows, labels
)
chosen: dict[str, VAAKELM | OneClassSearchCV] = {
    "default": VAAKELM().fit(train)
}
chosen |= {"without outliers": without, "with 50 outliers": having}
for name, model in chosen.items():
    area = roc_auc_score(y[test], model.decision_function(X[test]))
    alarms = np.mean(model.predict(X[targets[110:]]) == -1)
    print(
        f"{name:<18} AUROC {area:.3f}, {alarms:.0%} false alarms",
        getattr(model, "best_params_", ""),
    )

# %%
# The scores in both searches, and the AUROC on the other digits; the best of each is framed.

shape = len(grid["C"]), len(grid["sigma"])
points = without.cv_results_["params"]
truth = [
    roc_auc_score(
        y[test], VAAKELM(**point).fit(train).decision_function(X[test])
    )
    for point in points
]
maps = {
    "likelihood of targets": without.cv_results_["mean_test_score"],
    "AUROC with 50 outliers": having.cv_results_["mean_test_score"],
    "AUROC on unseen digits": truth,
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (name, values) in zip(axes, maps.items(), strict=True):
    values = np.reshape(values, shape)
    ax.imshow(values, cmap="cividis", aspect="auto")
    best = np.unravel_index(values.argmax(), shape)
    for (i, j), value in np.ndenumerate(values):
        dark = value < (values.min() + values.max()) / 2
        ax.text(
            *(j, i, f"{value:.3f}" if value <= 1 else f"{value:.0f}"),
            color="white" if dark else "black",
            fontweight="bold" if (i, j) == best else None,
            ha="center",
            va="center",
        )
    corner = best[1] - 0.48, best[0] - 0.48
    ax.add_patch(
        Rectangle(corner, 0.96, 0.96, fill=False, color="#d55e00", linewidth=3)
    )
    ax.set(xticks=range(4), xticklabels=grid["sigma"], xlabel="sigma")
    ax.set(yticks=range(4), yticklabels=grid["C"], title=name)
axes[0].set_ylabel("C")
plt.show()

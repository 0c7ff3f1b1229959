"""
Decision boundaries of all classifiers
======================================

All seventeen classifiers learn four shapes of 150 normal points and have delta of 5 %. Blue areas are accepted; the
number is the percentage of 500 fresh normal points that are rejected.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import oneclass
from oneclass import AAELM, OCELM, OCRF, AutoencoderDetector

rng = np.random.default_rng(0)


def blobs(n: int) -> NDArray[np.float64]:
    """Three clusters of different width."""
    kind = rng.integers(3, size=n)
    centres, widths = np.array([[-2, -1], [2, -1], [0, 2]]), np.array([0.6, 0.3, 0.4])
    return centres[kind] + widths[kind, None] * rng.normal(size=(n, 2))


def ring(n: int) -> NDArray[np.float64]:
    """A ring with a hole."""
    angle = rng.uniform(0, 2 * np.pi, n)
    return 2.2 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.normal(size=(n, 2))


def banana(n: int) -> NDArray[np.float64]:
    """A bent band."""
    angle = rng.uniform(-0.4, np.pi + 0.4, n)
    return np.column_stack([2.4 * np.cos(angle), 2.8 * np.sin(angle) - 1.4]) + 0.25 * rng.normal(size=(n, 2))


def skewed(n: int) -> NDArray[np.float64]:
    """Correlated, with a long tail."""
    x = rng.lognormal(0, 0.7, n)
    return np.column_stack([x, 0.6 * x + 0.3 * rng.normal(size=n)]) - [1.5, 1.0]


# %%
# A list of all classifiers, those that draw random numbers with a seed.

names = "VAAKELM AAKELM VOCKELM OCKELM KNNDetector KMeansDetector KCentersDetector MSTDetector PCADetector"
models = [getattr(oneclass, name)() for name in [*names.split(), "NaiveParzen", "Parzen", "OCSVM", "SVDD"]]
models += [AAELM(random_state=0), OCELM(n_hidden=50, random_state=0), AutoencoderDetector(random_state=0)]
models += [OCRF(random_state=0)]

# %%
# Fit, and colour the plane by the decision function.

shapes = [(shape(150), shape(500)) for shape in (blobs, ring, banana, skewed)]
xs, ys = np.meshgrid(np.linspace(-4, 4, 50), np.linspace(-4, 4, 50))
plane = np.c_[xs.ravel(), ys.ravel()]
figure, axes = plt.subplots(8, 9, figsize=(13.5, 12.4), layout="constrained")
for ax in axes.flat:
    ax.set_axis_off()
for i, model in enumerate(models):
    for j, (train, fresh) in enumerate(shapes):
        ax = axes[4 * (i // 9) + j, i % 9]
        inside = model.fit(train).predict(plane).reshape(xs.shape)
        ax.contourf(xs, ys, inside, levels=[-2, 0, 2], colors=["#f6ede6", "#b9cde5"])
        ax.scatter(*train.T, s=2, color="#333333", linewidths=0)
        ax.text(3.8, -3.8, f"{100 * np.mean(model.predict(fresh) < 0):.0f}", ha="right", fontsize=9)
        if j == 0:
            ax.set_title(type(model).__name__.replace("Detector", ""), fontsize=10)
        ax.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal")
plt.show()

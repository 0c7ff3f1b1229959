"""
Decision boundaries of all classifiers
======================================

All seventeen classifiers learn the same 250 normal points: a bent band, and two clusters of different width. Each is
asked for 5 % false alarms. Blue areas are accepted; the number is the percentage of 2,000 new normal points that are
rejected.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import oneclass
from oneclass import AAELM, OCELM, OCRF, AutoencoderDetector


def points(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Half of the points in a bent band, and a quarter in each cluster."""
    kind = rng.integers(4, size=n)
    angle = rng.uniform(-0.4, np.pi + 0.4, n)
    band = np.c_[2.4 * np.cos(angle), 2.4 * np.sin(angle)]
    centres = np.where((kind == 2)[:, None], [0.0, 0.0], [0.0, -2.6])
    width = np.choose(kind, (0.2, 0.2, 0.2, 0.5))[:, None]
    middle = np.where((kind < 2)[:, None], band, centres)
    return middle + width * rng.normal(size=(n, 2))


# %%
# All classifiers, those that draw random numbers with a seed.

names = """VAAKELM AAKELM VOCKELM OCKELM KNNDetector KMeansDetector MSTDetector
KCentersDetector PCADetector NaiveParzen Parzen OCSVM SVDD"""
models = [getattr(oneclass, name)() for name in names.split()]
models += [
    kind(random_state=0) for kind in (AAELM, OCELM, AutoencoderDetector, OCRF)
]

# %%
# Fit, and colour the plane by the decision function.

rng = np.random.default_rng(0)
train, fresh = points(250, rng), points(2000, rng)
xs, ys = np.meshgrid(np.linspace(-4.2, 4.2, 90), np.linspace(-4.8, 3.6, 90))
plane = np.c_[xs.ravel(), ys.ravel()]
figure, axes = plt.subplots(3, 6, figsize=(12, 6.6), layout="constrained")
for ax in axes.flat:
    ax.set_axis_off()
for ax, model in zip(axes.flat, models, strict=False):
    inside = model.fit(train).predict(plane).reshape(xs.shape)
    ax.contourf(
        xs, ys, inside, levels=[-2, 0, 2], colors=["#f7ede2", "#a6cee3"]
    )
    ax.scatter(*train.T, s=3, color="#333333", linewidths=0)
    rejected = 100 * np.mean(model.predict(fresh) < 0)
    name = type(model).__name__.replace("Detector", "")
    ax.set_title(f"{name}: {rejected:.0f} %", fontsize=11)
    ax.set(aspect="equal")
plt.show()

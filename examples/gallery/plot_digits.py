"""
The most and the least normal digits
====================================

A machine learns 500 handwritten digits of all ten kinds, without their labels, and scores the other 1,297. The pictures
show the most and the least normal digit of each kind. Below the latter are the expected image and the share of each
pixel in the loss.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from oneclass import AAKELM

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
train, rest = order[:500], order[500:]
model = AAKELM(delta=0.02).fit(X[train])
print(
    f"{(model.predict(X[rest]) == -1).mean():.1%} of fresh digits "
    "rejected, 2 % asked for"
)

# %%
# Rank the new digits of each kind.

ranked = rest[np.argsort(-model.score_samples(X[rest]))]
normal, odd = (
    [ranked[y[ranked] == kind][place] for kind in range(10)]
    for place in (0, -1)
)
print("p-values of the least normal ones:", model.p_value(X[odd]).round(3))

# %%
# ``explain`` returns the value, the expected value and the share of the loss for every pixel.

why = model.explain(X[odd])
figure, axes = plt.subplots(4, 10, figsize=(10, 4.4), layout="constrained")
lines = {
    "most normal": (X[normal], "gray_r", 16),
    "least normal": (X[odd], "gray_r", 16),
    "expected": (why.expected, "gray_r", 16),
    "share": (why.shares, "Oranges", 0.1),
}
for line, (name, (images, colours, most)) in zip(
    axes, lines.items(), strict=True
):
    for ax, image in zip(line, images, strict=True):
        ax.imshow(
            np.asarray(image, dtype=float).reshape(8, 8),
            cmap=colours,
            vmin=0,
            vmax=most,
        )
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name)
plt.show()

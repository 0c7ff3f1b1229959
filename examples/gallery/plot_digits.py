"""
The most and the least normal digits, and what is odd about them
================================================================

A machine learns 500 handwritten digits of all ten kinds, without their labels, and judges the other 1,297. Here are
the most and the least normal one of each kind; below the latter what the machine would have expected, and where the
blame lies.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from oneclass import AAKELM

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
train, rest = order[:500], order[500:]
model = AAKELM(delta=0.02).fit(X[train])
print(f"{(model.predict(X[rest]) == -1).mean():.1%} of fresh digits rejected, 2 % asked for")

# %%
# Rank the fresh digits of each kind.

ranked = rest[np.argsort(-model.score_samples(X[rest]))]
normal, odd = ([ranked[y[ranked] == kind][place] for kind in range(10)] for place in (0, -1))
print("p-values of the least normal ones:", model.p_value(X[odd]).round(3))

# %%
# ``explain`` gives every pixel its value, the expected value and its share of the blame.

why = model.explain(X[odd])
figure, axes = plt.subplots(4, 10, figsize=(10, 4.4), layout="constrained")
lines = {
    "most normal": (X[normal], "gray_r", 16),
    "least normal": (X[odd], "gray_r", 16),
    "expected": (why.expected, "gray_r", 16),
    "blame": (why.shares, "Oranges", 0.1),
}
for line, (name, (images, colours, most)) in zip(axes, lines.items(), strict=True):
    for ax, image in zip(line, images, strict=True):
        ax.imshow(np.asarray(image, dtype=float).reshape(8, 8), cmap=colours, vmin=0, vmax=most)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name)
plt.show()

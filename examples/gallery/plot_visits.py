"""
Groups: five visits of each patient
===================================

Sixty patients have five visits each, and visits of one patient are similar. Without groups, one visit is held out while
similar visits stay in the training rows. The threshold is then too strict for new patients. ``groups=`` holds out whole
patients.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from oneclass import VAAKELM, DependentRowsWarning, KNNDetector

warnings.simplefilter(
    "ignore", DependentRowsWarning
)  # one warning for every fit below; it is correct
rng = np.random.default_rng(0)


def visits(patients: int, noise: float) -> NDArray[np.float64]:
    """Five visits of each patient: the patient's value plus noise."""
    habit = rng.normal(size=(patients, 1, 4))
    return (habit + noise * rng.normal(size=(patients, 5, 4))).reshape(-1, 4)


# %%
# The false-alarm rate for new patients, by the similarity of a patient's visits.

noises, patient = (1.0, 0.5, 0.3, 0.2, 0.1), np.repeat(np.arange(60), 5)
delivered = {
    (model, known): list[float]()
    for model in (VAAKELM, KNNDetector)
    for known in (False, True)
}
for noise in noises:
    X, X_new = visits(60, noise), visits(400, noise)
    for (model, known), rates in delivered.items():
        fitted = model(delta=0.05).fit(X, groups=patient if known else None)
        rates.append(100 * float(np.mean(fitted.predict(X_new) == -1)))

figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for (model, known), rates in delivered.items():
    given = "groups=patient" if known else "no groups"
    ax.plot(
        noises,
        rates,
        "o-" if model is VAAKELM else "s--",
        color="#0072b2" if known else "#d55e00",
        label=f"{model.__name__}, {given}",
    )
ax.axhline(5, color="black", linewidth=0.8, linestyle=":", label="asked for")
ax.set(xscale="log", xticks=noises, xticklabels=noises, ylim=(0, 100))
ax.set_xlabel("spread of a patient's visits (spread of the patients: 1)")
ax.set_ylabel("visits of new patients rejected, %")
ax.minorticks_off()
figure.legend(loc="outside right center", frameon=False)
plt.show()

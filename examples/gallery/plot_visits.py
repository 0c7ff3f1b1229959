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

warnings.simplefilter("ignore", DependentRowsWarning)  # one warning for every fit below; it is correct
rng = np.random.default_rng(0)


def visits(patients: int, noise: float) -> NDArray[np.float64]:
    """Five visits of each patient: a value of the patient plus noise of the day."""
    habit = rng.normal(size=(patients, 1, 4))
    return (habit + noise * rng.normal(size=(patients, 5, 4))).reshape(-1, 4)


# %%
# The false-alarm rate for new patients, by the similarity of a patient's visits.

noises, patient = (1.0, 0.5, 0.3, 0.2, 0.1), np.repeat(np.arange(60), 5)
delivered = {(model, known): list[float]() for model in (VAAKELM, KNNDetector) for known in (False, True)}
for noise in noises:
    X, X_new = visits(60, noise), visits(400, noise)
    for (model, known), rates in delivered.items():
        fitted = model(delta=0.05).fit(X, groups=patient if known else None)
        rates.append(100 * float(np.mean(fitted.predict(X_new) == -1)))

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (model, known), rates in delivered.items():
    name, colour = f"{model.__name__}, {'groups=patient' if known else 'rows'}", "#4c72b0" if known else "#dd8452"
    ax.plot(noises, rates, "o-" if model is VAAKELM else "o--", color=colour, label=name)
ax.axhline(5, color="black", linewidth=0.8, linestyle=":")
ax.set(xlabel="noise of a visit (the patients' own spread is 1)", ylabel="visits of new patients rejected, %")
ax.invert_xaxis()
ax.legend(frameon=False)
plt.show()

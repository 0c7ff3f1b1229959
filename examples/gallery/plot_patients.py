"""
Patients in clinical units: which entry is wrong?
=================================================

scikit-learn's 442 diabetes patients, in the units in which they were measured. A machine learns 300 of them. Twelve of
the others get one wrong entry each: another unit, a lost decimal point, or an extra digit. Which rows are named, and is
the wrong column the first reason?
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from oneclass import VAAKELM

names = {
    "age": "age, years",
    "bmi": "BMI, kg/m²",
    "bp": "blood pressure, mmHg",
    "s1": "cholesterol, mg/dl",
}
names |= {"s2": "LDL, mg/dl", "s3": "HDL, mg/dl", "s6": "glucose, mg/dl"}
table = (
    load_diabetes(as_frame=True, scaled=False)
    .data[list(names)]
    .rename(columns=names)
)
table = table.sample(frac=1, random_state=0, ignore_index=True)
train, new = table[:300], table[300:].reset_index(drop=True)
model = VAAKELM(delta=0.05).fit(train)

# %%
# The wrong entries: column and change.

slips: list[tuple[str, Callable[[float], float]]] = [
    ("glucose, mg/dl", lambda value: value / 18),  # mmol/l
    ("cholesterol, mg/dl", lambda value: value / 38.7),  # mmol/l
    ("BMI, kg/m²", lambda value: value * 10),  # the point was lost
    ("blood pressure, mmHg", lambda value: value + 100),  # 91 became 191
]
for row in range(12):
    column, slip = slips[row % 4]
    new.loc[row, column] = slip(new.loc[row, column])

# %%
# All rows are labelled as one batch, at a false-discovery rate of 10 %.

named = model.label_batch(new, q=0.1, tail="pareto") == -1
why = model.explain(new)
print(
    f"{named[:12].sum()} of 12 slips found, "
    f"{named[12:].sum()} other patients named"
)
print(
    f"{np.mean(model.predict(new[12:]) == -1):.1%} of the others have p <= 0.05"
)
first = [reasons[0].column for reasons in why.top(1)]
print(
    f"right column is the first reason: "
    f"{sum(first[row] == slips[row % 4][0] for row in range(12))} of 12"
)

# %%
# One of each kind: the entered value (orange), the expected value (blue), and the range of 90 % of the patients.

figure, axes = plt.subplots(2, 2, figsize=(10, 5.6), layout="constrained")
low, middle, high = (train.quantile(q).to_numpy() for q in (0.05, 0.5, 0.95))
place = np.arange(len(table.columns))
for row, ax in enumerate(axes.flat):
    value, expected = (
        (np.asarray(v[row], float) - middle) / (high - low)
        for v in (why.values, why.expected)
    )
    ax.barh(
        place,
        (high - low) / (high - low),
        left=(low - middle) / (high - low),
        color="#e8e8e8",
    )
    ax.plot(expected, place, "o", color="#0072b2", label="expected")
    ax.plot(np.clip(value, -3, 3), place, "D", color="#d55e00", label="entered")
    worst = why.top(1)[row][0]
    ax.set(yticks=place, yticklabels=table.columns, xlim=(-3.2, 3.2), xticks=[])
    ax.set_title(
        f"{worst.column}: {worst.value:.4g}? Expected {worst.expected:.3g}.",
        fontsize=10,
    )
    ax.invert_yaxis()
axes[0, 0].legend(frameon=False, fontsize=8)
plt.show()

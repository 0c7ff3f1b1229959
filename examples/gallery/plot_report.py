"""
A table with mixed columns, and a report without code
=====================================================

Parcels of a shop: numbers, a town, a flag, a time, and missing values. The table needs no preprocessing. The results
are alarms with reasons by column, and a report as one HTML file.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import oneclass
from oneclass.plot import ExplanationDisplay

rng = np.random.default_rng(0)


def parcels(n: int) -> pd.DataFrame:
    """Parcels: price follows weight, distance and insurance."""
    grams = rng.gamma(4, 300, n).round()
    town, far = (
        rng.choice(
            ["Bonn", "Graz", "Lyon", "Oslo"], n, p=[0.5, 0.3, 0.15, 0.05]
        ),
        {"Lyon": 2.0, "Oslo": 4.0},
    )
    insured = rng.random(n) < 0.3
    price = (
        3
        + grams / 400
        + np.array([far.get(name, 0.0) for name in town])
        + 2 * insured
        + rng.normal(0, 0.3, n)
    )
    minutes = rng.integers(8 * 60, 18 * 60, n) + 24 * 60 * rng.integers(
        0, 90, n
    )
    table = {
        "grams": grams,
        "price": price.round(2),
        "town": town,
        "insured": insured,
    }
    table["sent"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        minutes, unit="min"
    )
    return pd.DataFrame(table).mask(rng.random((n, 1)) < [0.03, 0, 0, 0, 0])


# %%
# Learn from 800 parcels. The plan lists the encoding of each column, and the reason.

model = oneclass.TableDetector(oneclass.VAAKELM(delta=0.02)).fit(parcels(800))
print(model.plan_)

# %%
# Four hundred new parcels, five of them with errors.

new = parcels(400)
new.loc[0, "price"] = 45.0
new.loc[1, "town"] = "Rome"
new.loc[2, "sent"] = pd.Timestamp("2024-02-03 03:12")
new.loc[3, ["grams", "price"]] = [150, 12.9]
new.loc[4, "grams"] = 16000
warnings.simplefilter(
    "ignore", oneclass.ColumnWarning
)  # that no parcel went to Rome before
flagged = np.flatnonzero(model.predict(new) == -1)
print(f"flagged: {flagged.tolist()}")
for row, reasons in zip(
    flagged[:5], model.explain(new.iloc[flagged[:5]]).top(2), strict=True
):
    print(f"{row}: {'; '.join(map(str, reasons))}")

# %%
# One alarm as a picture: values, expected values, and shares of the loss.

ExplanationDisplay(model.explain(new), row=3).plot()
plt.show()

# %%
# The report: ``save("report.html")`` writes one file that needs no network.

oneclass.report(model, new, title="Parcels of this week")

"""Write a small model file of each kind in the present version of the format, and what it must answer for ever.

To be run once when the format gets a new version, from the root: ``python tests/files/versions/write.py``. The files of
older versions stay as they are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oneclass import OCRF, OCSVM, VAAKELM, Nystrom, PCADetector, TableDetector
from oneclass.io.container import VERSION

ROWS = np.random.default_rng(0).normal(size=(25, 2)) * [1, 30]
FRESH = (ROWS[:6] * [[1], [1], [1], [3], [9], [27]]).round(3)

MODELS = {
    "vaakelm": VAAKELM(kernel="rbf", sigma=1.0, C=8.0, approximation=Nystrom(5)),
    "exact": VAAKELM(kernel="laplacian", sigma=2.0, C=8.0, loss="reconstruction", variance="class"),
    "ocrf": OCRF(n_estimators=2),
    "ocsvm": OCSVM(sigma=1.0),
    "pca": PCADetector(),
}


def mixed(n: int, seed: int) -> pd.DataFrame:
    """A table of all kinds of columns."""
    rng = np.random.default_rng(seed)
    day = np.datetime64("2024-01-01T00:00") + rng.integers(0, 500_000, n).astype("timedelta64[m]")
    return pd.DataFrame(
        {
            "mass": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)),
            "town": rng.choice(["Bonn", "Graz", "Lyon"], n),
            "insured": rng.random(n) < 0.4,
            "sent": day.astype(str),
            "id": np.arange(n),
        }
    )


def answers(model: Any, fresh: pd.DataFrame) -> dict[str, Any]:
    return {verb: getattr(model, verb)(fresh).tolist() for verb in ("score_samples", "p_value", "predict")}


def main() -> None:
    folder = Path(__file__).parent
    known = {}
    for name, model in MODELS.items():
        model.fit(pd.DataFrame(ROWS, columns=["mass", "height"]))
        model.save(folder / f"{VERSION}-{name}.oneclass")
        known[name] = answers(model, pd.DataFrame(FRESH, columns=["mass", "height"]))
    written = {"columns": ["mass", "height"], "rows": FRESH.tolist(), "answers": known}
    (folder / f"{VERSION}.json").write_text(json.dumps(written, indent=1) + "\n")
    table, fresh = TableDetector(VAAKELM(sigma=1.0, C=8.0, approximation=Nystrom(5))).fit(mixed(40, 0)), mixed(6, 1)
    table.save(folder / f"{VERSION}-table.oneclass")
    fresh = fresh.astype(object).where(fresh.notna(), None)
    written = {"columns": list(fresh), "rows": fresh.values.tolist(), "answers": {"table": answers(table, fresh)}}
    (folder / f"{VERSION}-table.json").write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()

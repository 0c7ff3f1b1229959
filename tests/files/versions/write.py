"""Write a small model file of each kind in the present version of the format, and what it must answer for ever.

To be run once when the format gets a new version, from the root: ``python tests/files/versions/write.py``. The files of
older versions stay as they are.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from oneclass import OCRF, OCSVM, VAAKELM, Nystrom, PCADetector
from oneclass.disk.container import VERSION

ROWS = np.random.default_rng(0).normal(size=(25, 2)) * [1, 30]
FRESH = (ROWS[:6] * [[1], [1], [1], [3], [9], [27]]).round(3)

MODELS = {
    "vaakelm": VAAKELM(kernel="rbf", sigma=1.0, C=8.0, approximation=Nystrom(5)),
    "exact": VAAKELM(kernel="laplacian", sigma=2.0, C=8.0, loss="reconstruction", variance="class"),
    "ocrf": OCRF(n_estimators=2),
    "ocsvm": OCSVM(sigma=1.0),
    "pca": PCADetector(),
}


def main() -> None:
    folder = Path(__file__).parent
    known = {}
    for name, model in MODELS.items():
        model.fit(pd.DataFrame(ROWS, columns=["mass", "height"]))
        fresh = pd.DataFrame(FRESH, columns=["mass", "height"])
        model.save(folder / f"{VERSION}-{name}.oneclass")
        known[name] = {verb: getattr(model, verb)(fresh).tolist() for verb in ("score_samples", "p_value", "predict")}
    answers = {"columns": ["mass", "height"], "rows": FRESH.tolist(), "answers": known}
    (folder / f"{VERSION}.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()

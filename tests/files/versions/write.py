"""Write model files and what they must answer for ever; files of older versions stay as they are.

To be run from the root. When the format gets a new version, once: ``python tests/files/versions/write.py`` writes a
small file of each kind. At each minor release, once: ``PYTHONPATH=tests python tests/files/versions/write.py release``
writes all cases of tests/saved.py into one archive. The last is run in the environment of ``make test-oldest``: a newer
scikit-learn may have parameters of scalers that the oldest does not know.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import oneclass
from oneclass import OCRF, OCSVM, VAAKELM, Nystrom, PCADetector, TableDetector
from oneclass.io.container import VERSION

FOLDER = Path(__file__).parent
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
    known = {}
    for name, model in MODELS.items():
        model.fit(pd.DataFrame(ROWS, columns=["mass", "height"]))
        model.save(FOLDER / f"{VERSION}-{name}.oneclass")
        known[name] = answers(model, pd.DataFrame(FRESH, columns=["mass", "height"]))
    written = {"columns": ["mass", "height"], "rows": FRESH.tolist(), "answers": known}
    (FOLDER / f"{VERSION}.json").write_text(json.dumps(written, indent=1) + "\n")
    table, fresh = TableDetector(VAAKELM(sigma=1.0, C=8.0, approximation=Nystrom(5))).fit(mixed(40, 0)), mixed(6, 1)
    table.save(FOLDER / f"{VERSION}-table.oneclass")
    fresh = fresh.astype(object).where(fresh.notna(), None)
    written = {"columns": list(fresh), "rows": fresh.values.tolist(), "answers": {"table": answers(table, fresh)}}
    (FOLDER / f"{VERSION}-table.json").write_text(json.dumps(written, indent=1) + "\n")


def every_case() -> None:
    """Write the model file of each case of tests/saved.py, some rows, and the answers for them."""
    import saved

    known, release = {}, oneclass.__version__.rpartition(".")[0]
    with zipfile.ZipFile(FOLDER / f"{release}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for case in saved.KINDS:
            model, fresh = saved.made(case)
            fresh, name = fresh[::3], case.replace(",", "")
            with tempfile.TemporaryDirectory() as place:
                model.save(f"{place}/{name}.oneclass")
                archive.write(f"{place}/{name}.oneclass", f"{name}.oneclass")
            found = {verb: value.tolist() for verb, value in saved.answers(model, fresh).items() if verb in ANSWERS}
            columns = list(fresh) if isinstance(fresh, pd.DataFrame) else None
            dtype = None if columns else fresh.dtype.name
            rows = np.asarray(fresh, dtype=object if columns else None).tolist()
            known[name] = {"columns": columns, "rows": rows, "dtype": dtype, "answers": found}
        archive.writestr("answers.json", json.dumps(known))


ANSWERS = {"score_samples", "predict", "p_value", "offset_"}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    every_case() if sys.argv[1:] == ["release"] else main()

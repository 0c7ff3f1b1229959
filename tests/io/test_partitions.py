"""Folders named as by Hive and Spark hold columns, which are read as PyArrow reads them."""

import numpy as np
import pandas as pd
import pytest
from pyarrow.dataset import dataset

from oneclass.io.table_file import TableFile


@pytest.fixture
def folder(tmp_path):
    """A table of two partition columns, one with a missing value and a character that must be encoded."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=12), "b": range(12)})
    table["year"] = np.repeat([2023, 2024], 6)
    table["site"] = ["north/1", "south", None] * 4
    table.to_parquet(tmp_path / "table", partition_cols=["year", "site"])
    return tmp_path / "table"


def read(place, **options):
    """The whole table, its rows sorted."""
    return pd.concat([*TableFile(place, **options)], ignore_index=True)


@pytest.mark.parametrize("pattern", ["", "*/*/*.parquet", "**/*.parquet"])
def test_partition_columns_are_those_that_pyarrow_reads(folder, pattern):
    wanted = dataset(folder, partitioning="hive").to_table().to_pandas()
    found = read(folder / pattern if pattern else folder)
    assert [*found] == ["a", "b", "year", "site"]
    assert found["year"].dtype == np.int64
    found, wanted = (frame.sort_values("b", ignore_index=True) for frame in (found, wanted))
    assert found["site"].isna().tolist() == wanted["site"].isna().tolist()
    found, wanted = (frame.fillna({"site": "missing"}) for frame in (found, wanted))
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


def test_partition_columns_can_be_chosen_and_kept(folder):
    assert [*read(folder, columns=["year", "b"])] == ["year", "b"]
    [*blocks] = TableFile(folder, columns=["a"], keep=["site", "b"]).blocks()
    assert all(kept.schema.names == ["site", "b"] and [*rows] == ["a"] for rows, kept in blocks)
    assert [*read(folder / "year=2024")] == ["a", "b", "site"]


def test_a_column_of_the_files_and_of_the_folders_is_refused(folder):
    for path in folder.glob("**/*.parquet"):
        pd.read_parquet(path, partitioning=None).assign(year=1).to_parquet(path, index=False)
    with pytest.raises(ValueError, match="columns must have names of their own, but more than one is 'year'"):
        read(folder)


def test_folders_that_name_other_columns_are_refused(folder):
    (folder / "year=2024" / "site=south").rename(folder / "year=2024" / "place=south")
    with pytest.raises(ValueError, match=r"must name the columns year, site, but name year, place"):
        read(folder)


@pytest.mark.parametrize("end", ["csv", "jsonl", "xlsx"])
def test_files_of_text_and_records_get_the_columns(tmp_path, end):
    for year in (2023, 2024):
        (tmp_path / f"year={year}" / "site=north").mkdir(parents=True)
        place, table = tmp_path / f"year={year}" / "site=north" / f"rows.{end}", pd.DataFrame({"a": [1.5], "b": [2]})
        if end == "xlsx":
            pytest.importorskip("openpyxl")
            table.to_excel(place, index=False)
        elif end == "csv":
            table.to_csv(place, index=False)
        else:
            table.to_json(place, orient="records", lines=True)
    found = read(tmp_path, text="all")
    assert [*found] == ["a", "b", "year", "site"]
    assert found["year"].tolist() == [2023, 2024]
    assert found["site"].tolist() == ["north", "north"]
    numbers = pd.concat(TableFile(tmp_path, columns=["a", "year"], keep=["site"]))
    assert numbers.to_numpy().tolist() == [[1.5, 2023], [1.5, 2024]]

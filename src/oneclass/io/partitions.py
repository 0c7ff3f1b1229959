"""Columns of Hive-style tables whose values are in the names of folders, such as ``year=2024/site=north``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from .formats import Batch, arrow

__all__ = ["Partition", "partitions_of", "with_partition"]

#: The value of each partition column of one file, as a PyArrow scalar.
Partition: TypeAlias = Mapping[str, Any]

#: The name that Hive gives the folder of missing values.
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})")


def partitions_of(root: Path, files: Sequence[Path]) -> list[Partition]:
    """The partition columns of each file below the folder `root`; all files must have the same ones.

    A column whose values are all whole numbers holds numbers, any other column holds text.
    """
    pa = arrow()
    found = [_named(file.relative_to(root).parts[:-1]) for file in files]
    for file, values in zip(files, found, strict=True):
        if [*values] != [*found[0]]:
            one, other = (", ".join(names) or "none" for names in (found[0], values))
            raise ValueError(f"{root.name}: the folders of {file.name} must name the columns {one}, but name {other}")
    types = {}
    for name in found[0] if found else ():
        known = [text for values in found if (text := values[name]) is not None]
        types[name] = pa.int64() if known and all(map(_WHOLE.fullmatch, known)) else pa.string()
    return [
        {
            name: pa.scalar(text if text is None or types[name] != pa.int64() else int(text), types[name])
            for name, text in values.items()
        }
        for values in found
    ]


def _named(folders: Sequence[str]) -> dict[str, str | None]:
    pairs = [folder.split("=", 1) for folder in folders if folder.find("=") > 0]
    return {unquote(name): None if value == _MISSING else unquote(value) for name, value in pairs}


def with_partition(batch: Any, partition: Partition) -> Batch:
    """The batch with the partition columns of its file after its own columns."""
    if not partition:
        return batch  # type: ignore[no-any-return]
    columns = [arrow().repeat(value, batch.num_rows) for value in partition.values()]
    made: Batch = arrow().RecordBatch.from_arrays([*batch.columns, *columns], names=[*batch.schema.names, *partition])
    return made

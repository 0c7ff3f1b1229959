"""Rows of a database: the result of a query, written as lines of JSON."""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ..io.messages import one_line
from ..io.records import json_value

__all__ = ["write_query"]


def write_query(database: str, query: str, place: Path) -> None:
    """Write the rows of a query to the file `place`; the database is an SQLite file or a URL of SQLAlchemy."""
    with _rows_of(database, query) as (names, rows):
        if len({*names}) < len(names):
            raise ValueError("the columns of a query must have names of their own: rename them with AS")
        empty = True
        with place.open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(dict(zip(names, map(json_value, row), strict=True))) + "\n")
                empty = False
    if empty:
        raise ValueError("the query gives no rows")


@contextmanager
def _rows_of(database: str, query: str) -> Iterator[tuple[list[str], Iterator[Sequence[object]]]]:
    """Names of the columns of a query, and its rows."""
    if "://" in database:
        with _rows_of_server(database, query) as found:
            yield found
        return
    if not Path(database).is_file():
        raise FileNotFoundError(errno.ENOENT, "there is no such SQLite file", database)
    with closing(sqlite3.connect(f"{Path(database).resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            cursor = connection.execute(query)
        except sqlite3.Error as error:
            raise ValueError(f"the query failed: {one_line(error)}") from None
        if cursor.description is None:
            raise ValueError("the query must be one that gives rows")
        yield [column[0] for column in cursor.description], cursor


@contextmanager
def _rows_of_server(url: str, query: str) -> Iterator[tuple[list[str], Iterator[Any]]]:
    try:
        import sqlalchemy
    except ImportError as error:
        raise ImportError(
            "a database URL needs SQLAlchemy and the driver of the database: pip install 'oneclass[sql]'"
        ) from error
    try:
        # Without a pool, which would keep the connection open.
        with sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool).connect() as connection:
            found = connection.execution_options(stream_results=True).execute(sqlalchemy.text(query))
            yield [*found.keys()], iter(found)
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise ValueError(f"the query failed: {one_line(error)}") from None

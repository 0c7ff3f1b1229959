"""Parts that several commands share: options, checks, and the output of results."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import oneclass as library

from ..io.container import check_target, is_model_file
from .table_io import CellOptions, on_terminal
from .terminal import CLEAR, drawn

if TYPE_CHECKING:
    from ..core.typing import Name

__all__ = [
    "about_columns", "as_json", "asked_columns", "bad_cells", "cell_options", "check_outputs", "confidence", "escape",
    "force", "known_model", "learning", "named", "plan_table", "rate_by", "reading", "refuse_both", "say",
    "segment_table", "segments", "shown",
]  # fmt: skip

Command = TypeVar("Command", bound=Callable[..., Any])
T = TypeVar("T")


def _shared(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


#: Options for reading text.
reading = _shared(
    click.option("--delimiter", help="Character between the columns of text."),
    click.option("--header/--no-header", default=None, help="Whether the first line holds column names."),
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of text."),
    click.option("--decimal", default=".", show_default=True, help="Decimal separator."),
    click.option("--newlines", is_flag=True, help="Allow line breaks in quoted values."),
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel file, if more than one holds cells."),
    click.option("--sql", metavar="QUERY", help="Query for the rows of TABLE, an SQLite file or a database URL."),
)
#: Options about the columns of a table without a model.
about_columns = _shared(
    click.option("--groups", metavar="COLUMN",
                 help="Column of groups, such as patients or days; the rate holds for new groups."),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Column to ignore; may be repeated."),
    click.option("--column", metavar="NAME=KIND", multiple=True,
                 help="Kind of a column: number, category, ordinal, date, clock or drop; thousands, decimal_comma, "
                 "currency, percent or duration for numbers in text; or words in their order, as in size=S<M<L."),
)  # fmt: skip
#: Options for a fit.
learning = _shared(
    click.option("--delta", type=click.FloatRange(0, 1, max_open=True), default=0.05, show_default=True,
                 help="Requested false-alarm rate."),
    about_columns,
)  # fmt: skip


bad_cells = click.option(
    "--bad-cells", type=click.Choice(["alarm", "gap", "refuse"]), default=None,
    help="What to do with cells that are not values of their column: the row is an outlier (alarm, the default), the "
    "cell is missing (gap), or the table is refused.",
)  # fmt: skip


def cell_options(command: Command) -> Command:
    """Options for reading cells, which the command gets in its parameter `cells` as those of a TableDetector."""

    @wraps(command)
    def bundled(**given: Any) -> Any:
        cells = {name: given.pop(name) for name in CellOptions.__annotations__}
        return command(cells={name: value for name, value in cells.items() if value is not None}, **given)

    return _shared(
        click.option("--date-format", metavar="FORMAT", help="Format of dates, such as %d/%m/%Y."),
        click.option(
            "--merge-variants", is_flag=True, help="Treat words that differ only in case or spaces as one category."
        ),
        bad_cells,
    )(bundled)  # type: ignore[return-value]


confidence = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Confidence with which the rate of this model is at most delta.",
)
rate_by = click.option(
    "--rate-by",
    type=click.Choice(["group", "row"]),
    help="Whether the rate is by group or by row of new groups. [default: group]",
)
segments = click.option(
    "--segments", metavar="COLUMN", help="Column of segments, such as sites; the rate holds in each of them."
)
escape = click.option(
    "--escape", is_flag=True, help="Put an apostrophe before CSV text that a spreadsheet takes for a formula."
)
force = click.option("--force", is_flag=True, help="Overwrite a file that is not a model.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def say(fields: Mapping[str, object], as_json: bool, text: str) -> None:
    """Print the result, as one JSON object or as text."""
    click.echo(json.dumps(fields, default=str) if as_json else text)


def shown(items: Iterable[T], label: str) -> Iterator[T]:
    """The items; on a terminal, progress is shown on standard error."""
    items = list(items)
    for i, item in enumerate(items, 1):
        if on_terminal():
            click.echo(f"{CLEAR}{label}: {i} of {len(items)}, {item!s:.40}", nl=False, err=True)
        yield item
    if on_terminal():
        click.echo(err=True)


def named(pairs: Iterable[str], option: str) -> dict[str, str]:
    """A dict from pairs NAME=VALUE."""
    found = {}
    for pair in pairs:
        name, sign, value = pair.rpartition("=")
        if not sign:
            raise click.UsageError(f"{option} must be NAME=VALUE, got {pair!r}")
        found[name] = value
    return found


def asked_columns(names: Iterable[Name], drop: tuple[str, ...], column: tuple[str, ...]) -> dict[Name, Any] | None:
    """Kinds that the options give to columns; a table without column names has positions."""
    asked: dict[Any, Any] = dict.fromkeys(drop, "drop") | named(column, "--column")
    asked |= {name: kind.split("<") for name, kind in asked.items() if "<" in kind}
    if all(isinstance(name, int) for name in names):
        asked = {int(name) if name.isdecimal() else name: kind for name, kind in asked.items()}
    return asked or None


def known_model(path: str, bad_cells: str | None = None) -> library.TableDetector:
    """The model in a file, which must be a TableDetector; `bad_cells` replaces its parameter unless it is None."""
    model = library.load(path)
    if not isinstance(model, library.TableDetector):
        kind = type(model).__name__
        raise ValueError(
            f"{path}: the model must be a TableDetector, but this is a {kind}; fit one with oneclass fit, or save "
            f"TableDetector({kind}()) after its fit"
        )
    return model if bad_cells is None else model.set_params(bad_cells=bad_cells)


def check_outputs(
    inputs: Iterable[str | Path | None], *tables: str | None, model: str | None = None, force: bool = False
) -> None:
    """Raise an error, before any work, if an output is an input or another output, or cannot be written.

    A table or a report never overwrites a model; a model overwrites a file that is not a model only with `force`.
    """
    if model == "-":
        raise click.UsageError("a model is not written to standard output: name a file")
    written = [output for output in (*tables, model) if output]
    for output in written:
        if output != "-" and not Path(output).parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", output)
        if os.path.isdir(output):
            raise IsADirectoryError(errno.EISDIR, "a file must be written, and this is a folder", output)
        for read in inputs:
            if read and _are_one_file(read, output):
                raise ValueError(f"the output must be another file than the input, got {output} for both")
        if output != model and is_model_file(output):
            raise FileExistsError(errno.EEXIST, "the file is a model: write to another file", output)
    for one, other in combinations(written, 2):
        if _are_one_file(one, other):
            raise ValueError(f"outputs must be different files, got {one} and {other}, which are the same")
    if model:
        check_target(model, force=force)


def _are_one_file(one: str | Path, other: str) -> bool:
    """Whether two paths are those of one file, which need not exist yet."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def refuse_both(as_json: bool, output: str) -> None:
    """Raise an error if a result and JSON would both go to standard output."""
    if as_json and output == "-":
        raise click.UsageError("--json: the result already goes to standard output; write it to a file with -o")


def plan_table(model: library.TableDetector) -> str:
    """The column plan of a model, for people."""
    rows = []
    for column in model.plan_.columns:
        made = f"{len(column.parts)}: {', '.join(column.parts)}" if len(column.parts) > 1 else "".join(column.parts)
        rows.append((column.name, column.kind, column.why, made))
    return drawn(("column", "taken for", "because", "made of it"), rows)


def segment_table(model: library.TableDetector) -> str:
    """The false-alarm rates by segment, for people; empty without segments."""
    if model.segments_ is None:
        return ""
    from ..reporting.formatting import percent

    heads = ("segment", "training rows", "false-alarm rate", "95 % interval", "with one threshold for all rows")
    rows = [
        (found.segment, f"{found.rows:g}", percent(found.rate), f"{percent(found.low)} to {percent(found.high)}",
         percent(found.unsegmented))
        for found in model.segment_rates()
    ]  # fmt: skip
    # The no-break spaces of percentages would be escaped, as in cells of tables that may come from anybody.
    return drawn(heads, [(name, *(cell.replace("\u00a0", " ") for cell in cells)) for name, *cells in rows])

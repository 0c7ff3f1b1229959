"""The reference lists every public name."""

import importlib
import re
from operator import attrgetter

from examples.pages import DOCS

ROOMS = ("plot", "selection", "stream", "tabular")


def test_the_reference_lists_every_public_name():
    library = importlib.import_module("oneclass")
    rooms = [library, *(importlib.import_module(f"oneclass.{room}") for room in ROOMS)]
    names = re.findall(r"^   ([\w.]+)$", (DOCS / "api.md").read_text(), flags=re.M)
    listed = [attrgetter(name)(library) for name in names]
    public = {f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in room.__all__}
    assert [name for name, value in public.items() if not any(value is other for other in listed)] == [
        "oneclass.selection.SCORERS"  # a dict, shown on the page of the search
    ]

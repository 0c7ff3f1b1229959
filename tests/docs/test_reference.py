"""The reference lists every public name."""

import importlib
import re
from inspect import ismodule
from operator import attrgetter

from examples.pages import DOCS

PACKAGES = ("plot", "selection", "stream", "tabular")


def test_the_reference_lists_every_public_name():
    library = importlib.import_module("oneclass")
    modules = [library, *(importlib.import_module(f"oneclass.{name}") for name in PACKAGES)]
    names = re.findall(r"^   ([\w.]+)$", (DOCS / "api.md").read_text(), flags=re.M)
    listed = [attrgetter(name)(library) for name in names]
    public = {f"{module.__name__}.{name}": getattr(module, name) for module in modules for name in module.__all__}
    public = {name: value for name, value in public.items() if not ismodule(value)}
    assert [name for name, value in public.items() if not any(value is other for other in listed)] == [
        "oneclass.selection.SCORERS"  # a dict, shown on the page of the search
    ]

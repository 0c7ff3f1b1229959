"""The shape of the house, read from its source."""

import ast
from pathlib import Path

import pytest

import oneclass

ROOT = Path(oneclass.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]


def room(parts):
    """The room that a module stands in: the first name below the package, or the package itself."""
    return parts[0] if len(parts) > 1 or (ROOT / parts[0]).is_dir() else ""


def imports(path):
    """Module (as parts below the package) and names of every import from inside the package."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("oneclass")):
            inside = tuple((node.module or "").split(".")) if node.module else ()
            base = here[: len(here) - node.level] if node.level else ()
            yield (*base, *(inside if node.level else inside[1:])), [alias.name for alias in node.names]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_private_name_crosses_the_wall_of_a_room(path):
    own = room(path.relative_to(ROOT).parts)
    crossing = [
        (".".join(module), name)
        for module, names in imports(path)
        for name in names
        if module and room(module) != own and (is_private(name) or any(map(is_private, module)))
    ]
    assert crossing == []


def self_assignments(function):
    """Names that a function sets on its first argument."""
    owner = function.args.args[0].arg if function.args.args else None
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for leaf in ast.walk(target) if target is not None else ():
                if isinstance(leaf, ast.Attribute) and isinstance(leaf.value, ast.Name) and leaf.value.id == owner:
                    yield leaf.attr


def estimators():
    """Every class of the package that has, or inherits inside the package, the verbs of an estimator."""
    from sklearn.base import BaseEstimator

    for name in oneclass.__all__:  # loaded when asked for
        getattr(oneclass, name)
    found, left = [], [BaseEstimator]
    while left:
        children = left.pop().__subclasses__()
        found += [child for child in children if child.__module__.startswith("oneclass.")]
        left += children
    return sorted(set(found), key=lambda cls: cls.__qualname__)


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_estimators_change_in_their_constructor_and_in_fit_alone(cls):
    import inspect
    import textwrap

    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    changed = {
        (function.name, name)
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name not in ("__init__", "fit", "_keep")
        for name in self_assignments(function)
    }
    assert changed == set()

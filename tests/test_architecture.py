"""Which package imports what, read from the source."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

import oneclass

ROOT = Path(oneclass.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]


def package(parts):
    """The package of a module: the first name below oneclass; empty for modules of oneclass itself."""
    return parts[0] if len(parts) > 1 or (ROOT / parts[0]).is_dir() else ""


def of(path):
    """The package of a file."""
    return package(path.relative_to(ROOT).parts)


def imports(path):
    """Module (as parts below the package) and names of every import from inside the package; no names are all."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [alias.name.split(".") for alias in node.names]
            yield from ((tuple(parts), []) for root, *parts in modules if root == "oneclass")
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("oneclass")):
            inside = tuple((node.module or "").split(".")) if node.module else ()
            base = here[: len(here) - node.level] if node.level else ()
            yield (*base, *(inside if node.level else inside[1:])), [alias.name for alias in node.names]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_package_imports_private_names_of_another(path):
    own = of(path)
    crossing = [
        (".".join(module), names)
        for module, names in imports(path)
        if module and package(module) != own and any(map(is_private, (*module, *names)))
    ]
    assert crossing == []


#: Private names of other libraries that a reader of their documentation, or of named tuples', may use.
THEIRS = {"_asdict", "_getframe", "_meta", "_replace"}


@cache
def names_in(own):
    """Names that a package defines: functions, classes, variables and attributes."""
    found = set()
    for node in (node for path in FILES if of(path) == own for node in ast.walk(ast.parse(path.read_text()))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
    return found


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_package_uses_private_attributes_of_objects_of_another(path):
    """A private name counts as foreign if the package itself does not define it: the source does not tell types."""
    known, asked = names_in(of(path)) | THEIRS, []
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Attribute(value=value, attr=name) if ast.unparse(value) not in ("self", "cls", "super()"):
                asked += [ast.unparse(node)] if is_private(name) and name not in known else []
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
                asked += [ast.unparse(node)] if is_private(name) else []
    assert asked == []


def test_every_private_module_is_protected():
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"]
    protected = [name for contract in settings["contracts"] for name in contract.get("protected_modules", ())]
    modules = [("oneclass", *path.relative_to(ROOT).with_suffix("").parts) for path in FILES]
    assert sorted(protected) == sorted(".".join(parts) for parts in modules if is_private(parts[-1]))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_packages_below_the_command_line_and_services_do_not_import_the_public_names_of_oneclass(path):
    name = path.relative_to(ROOT).as_posix()
    taken = {
        (name, what)
        for module, names in imports(path)
        if not module and of(path) not in ("cli", "serve")
        for what in names or ["oneclass"]
        if not (ROOT / what).is_dir()  # a package: import-linter checks it
    }
    assert not taken


def changes(function):
    """Names that a function sets on its first argument, and calls and words by which it may set any."""
    owner = function.args.args[0].arg if function.args.args else None
    is_owner = lambda node: isinstance(node, ast.Name) and node.id == owner
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=value, attr=name, ctx=ctx) if is_owner(value):
                yield from [name] if name == "__dict__" or not isinstance(ctx, ast.Load) else []
            case ast.Call(func=ast.Name(id="setattr" | "delattr" as name), args=[value, *_]) if is_owner(value):
                yield name


def classes():
    """Every class of the package that is part of an estimator."""
    from sklearn.base import BaseEstimator

    for name in oneclass.__all__:  # loaded when asked for
        getattr(oneclass, name)
    found, left = set(), [BaseEstimator]
    while left:
        children = left.pop().__subclasses__()
        found |= {part for child in children for part in child.__mro__ if part.__module__.startswith("oneclass.")}
        left += children
    return sorted(found, key=lambda cls: cls.__qualname__)


#: Functions that may change an estimator: what makes it, the verbs that learn, and what these end with.
LEARNING = ("__init__", "__init_subclass__", "fit", "partial_fit", "_watched", "_keep", "_forget")


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_estimators_change_in_their_constructor_and_where_they_learn_alone(cls):
    import inspect
    import textwrap

    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    changed = {
        (function.name, name)
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name not in LEARNING
        for name in changes(function)
    }
    assert changed == set()

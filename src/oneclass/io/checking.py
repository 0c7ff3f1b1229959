"""Check stored values against the annotations of their classes: types, conditions, and sizes that must agree.

A file holds values of a fixed list of classes, but whoever writes a file decides what is in their fields. All values
are checked when a file is read, before anything is computed with them, and when it is written, so that what has been
saved can be loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from itertools import repeat
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..core.stored import APART, MAYBE, Mark, Sizes, Within
from .scikit_learn import STAND_INS

__all__ = ["Checker", "Rule", "name_of", "rules_of"]

_PACKAGE = __name__.partition(".")[0]

#: Marks of numbers that have no other: all of them are finite, and whole ones are no larger than those of arrays.
_DEFAULTS: dict[Any, tuple[Mark, ...]] = {float: (Within(),), int: (Within(-(2**63), 2**63),)}
#: Types of the values that stand for one of these, where they are more than the type itself.
_NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (float, int, np.floating, np.integer),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


def name_of(kind: type) -> str:
    """The name that a class has in files."""
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix(f"{_PACKAGE}.")
    return name.replace("sklearn.preprocessing._data.", "sklearn.preprocessing.")


class Checker:
    """Checks values, inner ones first, and stores the sizes of each."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Sizes, object]] = {}  # by id; the value itself too, so that no other takes its id

    def __call__(self, value: object, parts: Mapping[str, object], derived: Collection[str] = ()) -> None:
        """Check the fields of a frozen value, or what a fit found; those that are `derived` from others may be any.

        Raises a `ValueError` that names the class, the field and the rule.
        """
        kind: type = type(value)
        stand_in = STAND_INS.get(name_of(kind), kind)
        rules, sizes = rules_of(stand_in), Sizes()
        try:
            if parts:  # an estimator that is not fitted has none
                self._check_parts(kind, rules, parts, derived, sizes)
            if parts or not rules:
                check: Callable[[object], Mapping[str, int] | None] = getattr(stand_in, "__check__", lambda value: None)
                for name, size in (check(value) or {}).items():
                    if not sizes.fit(name, size):
                        raise ValueError(f"{name} must be {sizes.get(name)}, got {size}")
        except ValueError as error:
            raise ValueError(f"{kind.__name__}: {error}") from None
        self._known[id(value)] = sizes, value

    def _check_parts(
        self,
        kind: type,
        rules: Mapping[str, Rule],
        parts: Mapping[str, object],
        derived: Collection[str],
        sizes: Sizes,
    ) -> None:
        if unknown := parts.keys() - rules.keys() - set(derived):
            raise ValueError(f"{min(unknown)!r:.60} is not known")
        for name, rule in rules.items():
            if name in parts:
                try:
                    self._check(parts[name], rule, sizes)
                except ValueError as error:
                    raise ValueError(f"{name} {error}") from None
            elif not rule.may_lack and not hasattr(kind, name):
                raise ValueError(f"{name} must be there")

    def _check(self, value: Any, rule: Rule, sizes: Sizes) -> None:
        if not rule.takes(value):
            raise ValueError(f"must be {rule.said}, got {'None' if value is None else f'a {type(value).__name__}'}")
        if rule.apart:
            sizes = Sizes()
        if rule.options:
            self._check(value, next(option for option in rule.options if option.takes(value)), sizes)
        elif rule.entries:
            self._check_entries(value, rule)
        elif is_dataclass(value):
            self._merge(value, sizes)
        for mark in rule.marks:
            mark.check(value, sizes)

    def _check_entries(self, value: Any, rule: Rule) -> None:
        if isinstance(value, dict):
            for pair in value.items():
                self._check_each(pair, rule.entries)
        elif rule.fixed:
            if len(value) != len(rule.entries):
                raise ValueError(f"must have {len(rule.entries)} entries, got {len(value)}")
            self._check_each(value, rule.entries)
        else:
            self._check_each(value, repeat(rule.entries[0]))

    def _check_each(self, values: Iterable[Any], rules: Iterable[Rule]) -> None:
        for value, rule in zip(values, rules, strict=False):
            self._check(value, rule, Sizes())

    def _merge(self, value: Any, sizes: Sizes) -> None:
        """Take over the sizes of a stored value that are not its own alone."""
        if id(value) not in self._known:
            self(value, {field.name: getattr(value, field.name) for field in fields(value)})
        for name, size in self._known[id(value)][0].items():
            if not name.startswith("_") and not sizes.fit(name, size):
                raise ValueError(f"must have {name} = {sizes[name]}, got {size}")


@dataclass(frozen=True)
class Rule:
    """A type with its marks, taken apart once for all values that it is held against."""

    said: str
    types: tuple[type, ...] = (object,)
    kind: str = ""  # of an array's data type
    options: tuple[Rule, ...] = ()  # of which one must do
    entries: tuple[Rule, ...] = ()  # of a list or tuple, or the keys and values of a dict
    fixed: bool = False  # whether a tuple has one entry for each of those
    marks: tuple[Mark, ...] = ()
    apart: bool = False
    may_lack: bool = False

    @classmethod
    def of(cls, hint: Any) -> Rule:
        """The rule that an annotation states."""
        if get_origin(hint) is Annotated:
            found = hint.__metadata__
            marks = tuple(mark for mark in found if isinstance(mark, Mark))
            return replace(cls._of_type(hint.__origin__), marks=marks, apart=APART in found, may_lack=MAYBE in found)
        return replace(cls._of_type(hint), marks=_DEFAULTS.get(hint, ()))

    @classmethod
    def _of_type(cls, hint: Any) -> Rule:
        origin, inner = get_origin(hint), get_args(hint)
        said = "None" if hint is NoneType else getattr(hint, "__name__", str(hint))
        if origin in (Union, UnionType):
            # None first: an array of any library is of any type.
            options = tuple(cls.of(option) for option in sorted(inner, key=lambda option: option is not NoneType))
            return cls(" or ".join(option.said for option in (*options[1:], options[0])), options=options)
        if hint in _NUMBERS:
            return cls(said, _NUMBERS[hint])
        if origin is np.ndarray:
            return cls("array", (np.ndarray,), kind=np.dtype(get_args(inner[1])[0]).kind)
        if origin in (list, tuple, dict):
            entries = tuple(cls.of(part) for part in inner if part is not ...)
            return cls(origin.__name__, (origin,), entries=entries, fixed=origin is tuple and ... not in inner)
        try:
            isinstance(None, hint)
        except TypeError:  # of "any", and of protocols without a run-time check: the class with the field checks it
            return cls(said)
        return cls(said, (hint,))

    def takes(self, value: object) -> bool:
        """Whether a value is of the type; its contents are not checked."""
        if self.options:
            return any(option.takes(value) for option in self.options)
        if isinstance(value, bool) and self.types is not _NUMBERS[bool]:
            return self.types == (object,)
        return isinstance(value, self.types) and (not self.kind or value.dtype.kind == self.kind)  # type: ignore[attr-defined]


@cache
def rules_of(kind: type) -> dict[str, Rule]:
    """Rules of the fields of a frozen value, or of what the fit of an estimator finds, by name."""
    rules: dict[str, Rule] = {}
    for base in reversed(kind.__mro__):
        annotated = vars(base).get("__annotations__", {})
        named = {name: hint for name, hint in annotated.items() if is_dataclass(kind) or name.endswith("_")}
        found = _resolved(named, base.__module__)
        rules |= {name: Rule.of(hint) for name, hint in found.items() if get_origin(hint) is not ClassVar}
    return rules


def _resolved(named: dict[str, Any], module: str) -> dict[str, Any]:
    """Annotations as types; a class that a module imports for type checkers only is one that the package exports."""
    holder, later = type("Holder", (), {"__annotations__": named, "__module__": module}), dict[str, Any]()
    while True:
        try:
            return get_type_hints(holder, localns=later, include_extras=True)
        except NameError as error:
            later[str(error.name)] = getattr(import_module(_PACKAGE), str(error.name))

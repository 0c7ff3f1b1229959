"""Encoding of fitted estimators as JSON and arrays, and decoding.

Numbers, strings, lists, tuples and dicts are written as JSON. Arrays are written as separate blocks. A dataclass is
written as the name of its class and its fields. An estimator is written as the name of its class, its parameters and
its fitted attributes. Dataclasses and estimators are entries of one list, in which an object comes after the objects
that it contains. An object with several references is written once, and is one object again after decoding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any

import numpy as np

from ..core.arrays import Array, from_numpy, library_of, to_numpy
from .checking import Checker, name_of
from .container import Host, Json
from .messages import one_line
from .scikit_learn import STAND_INS
from .structure import check_structure

__all__ = ["decode", "encode", "name_of"]

_PACKAGE = __name__.partition(".")[0]
#: Longest part of a message that comes from the content of a file.
_LONGEST = 100
#: Numbers that are keys of dicts are smaller.
_LARGEST_KEY = 1 << 53
#: Words of the state of a Mersenne twister.
_MERSENNE = 624

#: A function that converts the parts of a record of an earlier version, given its class, to those of this version.
Upgrade = Callable[[type, dict[str, Any]], dict[str, Any]]


def _derived(estimator: object) -> dict[str, object]:
    """Attributes of an estimator that follow from others and from its parameters, and are not written."""
    found: dict[str, Any] = getattr(estimator, "__derived__", dict)()
    return found


def encode(estimator: object) -> tuple[dict[str, Json], list[Host]]:
    """Encode an estimator as a JSON header and a list of arrays; refuse what `decode` would refuse."""
    encoder = _Encoder(type(estimator).__name__)
    try:
        encoder.node(estimator, "")
        check_structure(encoder.values)
    except ValueError as error:
        raise ValueError(f"{type(estimator).__name__}: no file can hold it: {error}") from None
    return {"values": encoder.values}, encoder.arrays


class _Encoder:
    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.values: list[dict[str, Json]] = []
        self.arrays: list[Host] = []
        self._known: dict[int, tuple[Json, object]] = {}  # by id; the object is kept, so that its id is not reused
        self._check = Checker()

    def node(self, value: object, path: str) -> Json:
        """The JSON for a value; `path` is its location, for error messages."""
        if value is None or (isinstance(value, bool | int | str) and type(value) in (bool, int, str)):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, list | tuple) and type(value) in (list, tuple):
            nodes = [self.node(part, f"{path}[{i}]") for i, part in enumerate(value)]
            return nodes if type(value) is list else {"tuple": nodes}
        if type(value) is dict:
            if wrong := [key for key in value if not _is_key(key)]:
                raise TypeError(f"{self._owner}: {path} has the key {wrong[0]!r:.60}, and may have words and numbers")
            return {"dict": [[self.node(key, path), self.node(value[key], f"{path}[{key!r}]")] for key in value]}
        if id(value) not in self._known:
            self._known[id(value)] = self._listed(value, path), value
        return self._known[id(value)][0]

    def _listed(self, value: object, path: str) -> dict[str, Json]:
        if isinstance(value, np.str_):
            return {"text": str(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), path)}
        if (library := library_of(value)) is not None:
            return self._array_node(value, library, path)
        if isinstance(value, np.random.RandomState):
            return {"random": self.node(value.get_state(legacy=False), path)}
        kind = type(value)
        known = kind.__module__.partition(".")[0] == _PACKAGE or name_of(kind) in STAND_INS
        if known and not isinstance(value, type):
            if hasattr(value, "get_params"):
                return self._estimator(value, path)
            if is_dataclass(value):
                parts = {field.name: getattr(value, field.name) for field in fields(value)}
                nodes = self._nodes(parts, path)
                self._check(value, parts)
                return self._value(kind, {"fields": nodes})
        raise TypeError(self._refusal(value, path))

    def _estimator(self, value: Any, path: str) -> dict[str, Json]:
        parameters, derived = value.get_params(deep=False), _derived(value)
        found = {name: vars(value)[name] for name in vars(value).keys() - parameters.keys() - derived.keys()}
        known, learnt = self._nodes(parameters, path), self._nodes(dict(sorted(found.items())), path)
        self._check(value, found | derived, derived)
        return self._value(type(value), {"parameters": known, "found": learnt})

    def _nodes(self, parts: Mapping[str, object], path: str) -> dict[str, Json]:
        return {name: self.node(part, f"{path}.{name}".lstrip(".")) for name, part in parts.items()}

    def _value(self, kind: type, nodes: dict[str, Json]) -> dict[str, Json]:
        self.values.append({"class": name_of(kind), **nodes})
        return {"value": len(self.values) - 1}

    def _array_node(self, value: Array, library: str, path: str) -> dict[str, Json]:
        if library != "numpy":
            array = self._array(to_numpy(value), path)
            return {"array": array, "library": library, "device": str(value.device)}
        if isinstance(value, np.ma.MaskedArray):
            return {"masked": [self.node(value.data, path), self.node(np.ma.getmaskarray(value), path)]}
        if value.dtype == object:
            return {"objects": self.node(value.ravel().tolist(), path), "shape": list(value.shape)}
        return {"array": self._array(np.asarray(value), path)}

    def _array(self, array: Host, path: str) -> int:
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise TypeError(f"{self._owner}: {path} is of type {array.dtype}, which a model file cannot hold")
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _refusal(self, value: object, path: str) -> str:
        path = path or "the estimator"
        if callable(value):
            name = getattr(value, "__qualname__", repr(value))
            return f"{self._owner}: {path} is the function {name}, and a model file cannot hold code"
        said = f"{self._owner}: {path} is of type {type(value).__qualname__}, which a model file cannot hold"
        if hasattr(value, "fit"):
            said += (
                " without pickle, which can run code when a file is loaded; skops.io.dump(model, path) writes it, or "
                "joblib.dump for files that only you can change"
            )
        return said


def decode(
    header: dict[str, Any],
    arrays: list[Host],
    classes: Mapping[str, type],
    *,
    device: str | None = None,
    upgrade: Upgrade = lambda kind, record: record,
) -> object:
    """Decode an estimator. Only the classes in `classes` are created.

    `upgrade` changes the parts of records of earlier versions to those of the present one. Invalid
    content raises a `ValueError`.
    """
    try:
        check_structure(header["values"])
        decoder = _Decoder(arrays, classes, device, upgrade)
        for record in header["values"]:
            decoder.add(record)
        return decoder.values[-1]
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(f"its content is invalid: {type(error).__name__}: {one_line(error, _LONGEST)}") from None


class _Decoder:
    def __init__(self, arrays: list[Host], classes: Mapping[str, type], device: str | None, upgrade: Upgrade) -> None:
        self._arrays, self._classes, self._device, self._upgrade = arrays, classes, device, upgrade
        self._check = Checker()
        self.values: list[Any] = []

    def add(self, record: dict[str, Any]) -> None:
        """Decode the next entry of the list."""
        kind = self._classes.get(record["class"])
        if kind is None:
            raise ValueError(f"it holds a {record['class']}, which this version of oneclass does not know")
        if is_dataclass(kind):
            parts = self._upgrade(kind, self._parts(record["fields"]))
            value = kind(**parts)
            self._check(value, {field.name: getattr(value, field.name) for field in fields(value)})
        else:
            value = kind(**self._upgrade(kind, self._parts(record["parameters"])))
            self._learn(value, self._upgrade(kind, self._parts(record["found"])))
        self.values.append(value)

    def _learn(self, estimator: Any, found: dict[str, Any]) -> None:
        """Give an estimator what its fit found."""
        vars(estimator).update(found)
        derived = _derived(estimator)
        self._check(estimator, found | derived, derived)
        vars(estimator).update(derived)
        if self._device is not None and vars(estimator).get("device_") is not None:
            elsewhere = None if self._device == "host" else self._device
            vars(estimator).update(device=elsewhere, device_=elsewhere)

    def _parts(self, nodes: dict[str, Any]) -> dict[str, Any]:
        return {name: self._part(node) for name, node in nodes.items()}

    def _part(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._part(part) for part in node]
        if not isinstance(node, dict):
            return node
        (kind, content), *others = node.items()
        match kind:
            case "value":
                return self.values[content]
            case "array":
                array = self._arrays[content]
                return from_numpy(array, node["library"], self._device or node["device"]) if others else array
            case "float":
                return _FLOATS[content]
            case "text" if isinstance(content, str):
                return np.str_(content)
            case "scalar":
                return self._arrays[content].reshape(())[()]
            case "tuple":
                return tuple(self._part(content))
            case "dict":
                return self._dict(content)
            case "masked":
                values, mask = map(self._part, content)
                if values.shape != mask.shape:
                    raise ValueError(f"a masked array has values of shape {values.shape}, a mask of {mask.shape}")
                return np.ma.MaskedArray(values, mask)
            case "objects":
                made = np.empty(len(content), dtype=object)
                for i, part in enumerate(content):
                    made[i] = self._part(part)
                return made.reshape(node["shape"])
            case "random":
                return _random(self._part(content))
        raise ValueError(f"it holds a {kind}, which this version of oneclass does not know")

    def _dict(self, pairs: list[list[Any]]) -> dict[Any, Any]:
        made = {}
        for node, content in pairs:
            key = self._part(node)
            if not _is_key(key) or key in made:
                raise ValueError(f"a dict must have small numbers or words as keys, each once, got {key!r:.40}")
            made[key] = self._part(content)
        return made


def _is_key(key: object) -> bool:
    """Whether a dict in a file may have this key: large numbers and tuples may all have the same hash."""
    if isinstance(key, int | np.integer):
        return abs(int(key)) < _LARGEST_KEY
    return isinstance(key, str | NoneType)


#: Numbers that JSON has no word for, by the words for them.
_FLOATS = {str(number): number for number in (math.nan, math.inf, -math.inf)}


def _random(state: dict[str, Any]) -> np.random.RandomState:
    """A generator of random numbers in this state, if it can be in it: NumPy's own check reads beyond the state."""
    key, pos = state["state"]["key"], state["state"]["pos"]
    fits = key.shape == (_MERSENNE,) and key.dtype == np.uint32 and 0 <= pos <= _MERSENNE
    # A generator whose state is all zeros returns only zeros.
    if not fits or not (key[0] >> 31 or key[1:].any()) or not math.isfinite(state["gauss"]):
        raise ValueError("a generator of random numbers must be in a state of the Mersenne twister")
    random = np.random.RandomState()
    random.set_state(state)
    return random

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
from typing import Any

import numpy as np

from ..core.arrays import Array, from_numpy, library_of, to_numpy
from .container import Host, Json, ModelFileError

__all__ = ["decode", "encode", "name_of"]

_PACKAGE = __name__.partition(".")[0]

#: Classes of scikit-learn that files may hold. Their parameters and fitted attributes are plain values and arrays.
_SKLEARN = (
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing.MaxAbsScaler",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.RobustScaler",
    "sklearn.preprocessing.StandardScaler",
)

#: A function that converts the parts of a record of an earlier version, given its class, to those of this version.
Upgrade = Callable[[type, dict[str, Any]], dict[str, Any]]


def name_of(kind: type) -> str:
    """The name of a class in files."""
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix(f"{_PACKAGE}.")
    return name.replace("sklearn.preprocessing._data.", "sklearn.preprocessing.")


def _derived(estimator: object) -> dict[str, object]:
    """Fitted attributes that follow from the parameters, and are not written."""
    found: dict[str, Any] = getattr(estimator, "__derived__", dict)()
    return found


def encode(estimator: object) -> tuple[dict[str, Json], list[Host]]:
    """Encode an estimator as a JSON header and a list of arrays."""
    encoder = _Encoder(type(estimator).__name__)
    encoder.node(estimator, "")
    return {"values": encoder.values}, encoder.arrays


class _Encoder:
    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.values: list[dict[str, Json]] = []
        self.arrays: list[Host] = []
        self._known: dict[
            int, tuple[Json, object]
        ] = {}  # by id; the object is stored too, so that its id is not reused

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
        known = kind.__module__.partition(".")[0] == _PACKAGE or name_of(kind) in _SKLEARN
        if known and not isinstance(value, type):
            if hasattr(value, "get_params"):
                return self._estimator(value, path)
            if is_dataclass(value):
                parts = {field.name: getattr(value, field.name) for field in fields(value)}
                return self._value(kind, {"fields": self._nodes(parts, path)})
        raise TypeError(self._refusal(value, path))

    def _estimator(self, value: Any, path: str) -> dict[str, Json]:
        parameters = value.get_params(deep=False)
        found = {name: vars(value)[name] for name in vars(value).keys() - parameters.keys() - _derived(value).keys()}
        known, learnt = self._nodes(parameters, path), self._nodes(dict(sorted(found.items())), path)
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
        return f"{self._owner}: {path} is of type {type(value).__qualname__}, which a model file cannot hold"


def decode(
    header: dict[str, Any],
    arrays: list[Host],
    classes: Mapping[str, type],
    *,
    device: str | None = None,
    upgrade: Upgrade = lambda kind, record: record,
) -> object:
    """Decode an estimator. Only the classes in `classes` are created.

    Arrays are placed on the device that they were on, or on `device` if it is given. `upgrade` converts records of
    earlier versions.
    """
    try:
        decoder = _Decoder(arrays, classes, device, upgrade)
        for record in header["values"]:
            decoder.add(record)
        return decoder.values[-1]
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its content is invalid: {error!r}") from None


class _Decoder:
    def __init__(self, arrays: list[Host], classes: Mapping[str, type], device: str | None, upgrade: Upgrade) -> None:
        self._arrays, self._classes, self._device, self._upgrade = arrays, classes, device, upgrade
        self.values: list[Any] = []

    def add(self, record: dict[str, Any]) -> None:
        """Decode the next entry of the list."""
        kind = self._classes.get(record["class"])
        if kind is None:
            raise ModelFileError(f"it holds a {record['class']}, which this version of oneclass does not know")
        if "fields" in record:
            self.values.append(kind(**self._upgrade(kind, self._parts(record["fields"]))))
            return
        made: Any = kind(**self._upgrade(kind, self._parts(record["parameters"])))
        vars(made).update(self._upgrade(kind, self._parts(record["found"])) | _derived(made))
        if self._device is not None and vars(made).get("device_") is not None:
            elsewhere = None if self._device == "host" else self._device
            vars(made).update(device=elsewhere, device_=elsewhere)
        self.values.append(made)

    def _parts(self, nodes: dict[str, Any]) -> dict[str, Any]:
        return {str(name): self._part(node) for name, node in nodes.items()}

    def _part(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._part(part) for part in node]
        if not isinstance(node, dict):
            return node
        if "value" in node:
            return self.values[node["value"]]
        if "array" in node:
            array = self._arrays[node["array"]]
            return from_numpy(array, node["library"], self._device or node["device"]) if "library" in node else array
        (kind, content), *_ = node.items()
        match kind:
            case "float":
                return float(content)
            case "text":
                return np.str_(content)
            case "scalar":
                return self._arrays[content][()]
            case "tuple":
                return tuple(self._part(content))
            case "dict":
                return {self._part(key): self._part(part) for key, part in content}
            case "masked":
                return np.ma.MaskedArray(*map(self._part, content))
            case "objects":
                made = np.empty(len(content), dtype=object)
                made[:] = self._part(content)
                return made.reshape(node["shape"])
            case "random":
                random = np.random.RandomState()
                random.set_state(self._part(content))
                return random
        raise ModelFileError(f"it holds a {kind}, which this version of oneclass does not know")

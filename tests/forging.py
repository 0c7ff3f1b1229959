"""Model files that somebody has forged: any content, with a checksum that is right."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from hashlib import sha256

import numpy as np

from oneclass.io import container

#: Nodes that stand where others should: numbers at the ends of their ranges, words, references and arrays.
ODD = (0, 1, -1, 2, 40, 255, 10**6, 2**63, 10**400, 0.5, -1.5, 1e300, 1e-300, True, None, "", "x", "mean", "train")
ODD += ("precomputed", "\x1b[31mred\n", "é" * 300, [], [[]], {}, {"float": "nan"}, {"float": "-inf"}, {"value": 0})
ODD += ({"value": 3}, {"array": 0}, {"array": -1}, {"scalar": 0}, {"tuple": []}, {"tuple": [1, 2]}, {"text": "abc"})
ODD += ({"dict": [["a", 1]]}, {"objects": ["a"], "shape": [1]}, {"masked": [{"array": 0}, {"array": 1}]})
ODD_NUMBERS = (math.nan, math.inf, -1, 0, 1, 40, 10**6, 2**62, 1e308, 1e-308)


def forged(header, blocks=b"", **fields):
    """A file with this header, which may be bytes, and these blocks."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    padded = text.ljust(_whole(len(text))) + blocks
    known = {"version": container.VERSION, "size": 64 + len(padded), "length": len(text)} | fields
    start = container._FIELDS.pack(container._MAGIC, known["version"], 0, known["size"], known["length"])
    return start + sha256(start + padded).digest() + padded


def opened(content):
    """The header of a file and its arrays."""
    length = container._FIELDS.unpack(content[: container._FIELDS.size])[4]
    header, place, arrays = json.loads(content[64 : 64 + length]), 64 + _whole(length), []
    for name, order, shape in header["arrays"]:
        size = math.prod(shape) * np.dtype(name).itemsize
        arrays.append(np.frombuffer(content[place : place + size], dtype=name).reshape(shape, order=order))
        place += _whole(size)
    return header, arrays


def closed(header, arrays):
    """The file of a header and arrays, whatever the header said of arrays."""
    header = header | {"arrays": [[array.dtype.name, "C", list(array.shape)] for array in arrays]}
    blocks = [array.tobytes() for array in arrays]
    return forged(header, b"".join(block.ljust(_whole(len(block)), b"\0") for block in blocks))


def mutated(content, rng):
    """A file in which something is not what it was."""
    if rng.random() < 0.1:
        return _with_odd_bytes(content, rng)
    header, arrays = opened(content)
    if arrays and rng.random() < 0.5:
        i = rng.integers(len(arrays))
        arrays[i] = (_reshaped if rng.random() < 0.5 else _with_odd_numbers)(arrays[i], rng)
    else:
        _change_a_node(header["values"], rng)
    return closed(header, arrays)


def _whole(size):
    return -(-size // 64) * 64


def _with_odd_bytes(content, rng):
    header, arrays = opened(content)
    text = bytearray(json.dumps(header).encode())
    for at in rng.integers(len(text), size=rng.integers(1, 4)):
        text[at] = rng.integers(256)
    return forged(bytes(text), b"".join(array.tobytes().ljust(_whole(array.nbytes), b"\0") for array in arrays))


def _reshaped(array, rng):
    match rng.integers(5):
        case 0:
            return array.reshape(-1, 1)
        case 1:
            return array.reshape(-1)
        case 2:
            return array.T
        case 3:
            return array[: rng.integers(len(array) + 1)] if array.ndim else array.reshape(1)
    return array.astype(rng.choice(["bool", "int8", "int64", "uint8", "float32", "float64"]))


def _with_odd_numbers(array, rng):
    array, odd = array.copy(), rng.choice(ODD_NUMBERS)
    if array.size and (array.dtype.kind == "f" or (odd == odd and abs(odd) < np.iinfo(np.int8).max)):
        array.flat[rng.integers(array.size) :: rng.choice([1, array.size])] = odd
    return array


def _change_a_node(values, rng):
    places = list(_places(values))
    holder, key = places[rng.integers(len(places))]
    match rng.integers(5):
        case 0 | 1:
            holder[key] = deepcopy(ODD[rng.integers(len(ODD))])
        case 2:
            other, name = places[rng.integers(len(places))]
            holder[key] = deepcopy(other[name])
        case 3:
            del holder[key]
        case 4 if isinstance(holder[key], dict):
            holder[key]["fit"] = 1


def _places(node):
    """Every list or dict in a node, with the place of each of its entries."""
    for key in range(len(node)) if isinstance(node, list) else list(node) if isinstance(node, dict) else ():
        yield node, key
        yield from _places(node[key])

"""Whether two values, such as fitted classifiers, are the same all the way down.

>>> list(differences({"a": [1, np.zeros(2)]}, {"a": [1, np.zeros(3)]}))
["['a'][1]"]
"""

from dataclasses import fields, is_dataclass
from types import FunctionType

import numpy as np

from oneclass.core.arrays import to_numpy

SIMPLE = (type(None), bool, int, float, complex, str, bytes, type, FunctionType, np.dtype)


def differences(one, other, at=""):
    """Where two values differ, by type, name or number; what frozen values work out from their fields is no part."""
    if type(one) is not type(other):
        yield at
    elif isinstance(one, SIMPLE):
        if one is not other and one != other and not (one != one and other != other):
            yield at
    elif isinstance(one, dict):
        yield from (f"{at}[{key!r}]" for key in one.keys() ^ other.keys())
        for key in one.keys() & other.keys():
            yield from differences(one[key], other[key], f"{at}[{key!r}]")
    elif isinstance(one, list | tuple):
        if len(one) != len(other):
            yield at
        for i, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from differences(a, b, f"{at}[{i}]")
    elif hasattr(one, "shape") and hasattr(one, "dtype"):
        a, b = to_numpy(one), to_numpy(other)
        if a.dtype == object:
            yield from differences(a.tolist(), b.tolist(), at)
        elif a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            yield at
    elif is_dataclass(one):
        for field in fields(one):
            yield from differences(getattr(one, field.name), getattr(other, field.name), f"{at}.{field.name}")
    else:  # the source of a copy
        yield from differences(one.__reduce_ex__(4)[1:], other.__reduce_ex__(4)[1:], at)

r"""The file format of models: a JSON header and arrays, with version and checksum, suitable for memory mapping.

==========  =======================================================================================
bytes       content (numbers are little-endian)
==========  =======================================================================================
8           ``\x89ONECLS\n``
4, 4        version of the format; 0
8, 8        size of the file in bytes; size of the header in bytes
32          SHA-256 of all other bytes
...         header, UTF-8 JSON; its ``arrays`` lists the data type, order and shape of each array
...         the arrays; the header and each array are padded to a multiple of 64 bytes
==========  =======================================================================================
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..core.wording import parameter
from .messages import one_line, printable
from .replacing import replacing

__all__ = ["VERSION", "Json", "ModelFileError", "check_target", "is_model_file", "read", "refusal", "write"]

#: Version of the format. It must be raised when an older reader would misread a file.
VERSION = 1

Host = np.ndarray[Any, Any]
#: Values that JSON can hold.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_MAGIC = b"\x89ONECLS\n"
_FIELDS = struct.Struct("<8sIIQQ")
_DIGEST = 32  # bytes of a SHA-256 digest
_START = _FIELDS.size + _DIGEST
#: Blocks start at multiples of this number of bytes, the size of a cache line and of the widest vector registers.
_ALIGNMENT = 64
#: Upper bounds on the bytes of a header, and on its lists and dicts: each of these takes some hundred bytes of memory.
_MAX_HEADER, _MAX_NODES = 16 << 20, 1 << 19

_KINDS = {
    name: np.dtype(name).newbyteorder("<")
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
}


class ModelFileError(ValueError):
    """A file is not a model file, or it is damaged, altered or of a newer version."""


def refusal(path: str | Path, reason: str) -> ModelFileError:
    """The error for a refused file: one line of limited length, whatever the file holds."""
    return ModelFileError(f"{printable(str(path))} {one_line(reason)}")


def is_model_file(path: str | Path) -> bool:
    """Whether a regular file begins as model files do."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def check_target(path: str | Path, *, force: bool) -> None:
    """Raise FileExistsError if a model would overwrite a file with other content, unless `force`."""
    if not force and os.path.isfile(path) and os.path.getsize(path) and not is_model_file(path):
        raise FileExistsError(
            errno.EEXIST,
            f"the file is no model: write to another file, or overwrite it with {parameter('force', True)}",
            str(path),
        )


def write(path: str | Path, header: Mapping[str, Json], arrays: list[Host], *, force: bool = False) -> None:
    """Write the header and the arrays. If writing fails, an existing file is unchanged.

    A file that is not a model is only overwritten with `force`.
    """
    check_target(path, force=force)
    listed = [[array.dtype.name, "F" if _by_columns(array) else "C", array.shape] for array in arrays]
    text = json.dumps({**header, "arrays": listed}, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > _MAX_HEADER:
        raise ValueError(
            f"the header of a model file has at most {_MAX_HEADER:,} bytes, but this model needs {len(text):,}"
        )
    if (lists := _lists_in(text)) > _MAX_NODES:
        raise ValueError(f"a model file has room for {_MAX_NODES:,} lists and dicts, but {lists:,} are needed")
    size = _START + _padded(len(text)) + sum(_padded(array.nbytes) for array in arrays)
    fields = _FIELDS.pack(_MAGIC, VERSION, 0, size, len(text))
    digest = sha256(fields)
    for part in _parts(text, arrays):
        digest.update(part)
    with replacing(path) as file:
        file.write(fields + digest.digest())
        for part in _parts(text, arrays):
            file.write(part)


def read(path: str | Path, *, mapped: bool = False) -> tuple[dict[str, Any], list[Host]]:
    """Read the header and the arrays, which are read-only; with `mapped`, the arrays are memory-mapped."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise refusal(path, f"is a {'directory' if stat.S_ISDIR(mode) else 'device or pipe'}, not a model file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(_START)
        length = _header_length(path, start, size)
        file.seek(0)
        try:
            content: Host = np.memmap(file, mode="r") if mapped else np.fromfile(file, np.uint8)
        except MemoryError:
            raise refusal(path, f"is too large for the memory: it has {size:,} bytes") from None
    digest = sha256(start[: _FIELDS.size])
    digest.update(content[_START:].data)
    if len(content) != size or digest.digest() != start[_FIELDS.size :]:
        raise refusal(path, "was altered: its bytes do not have the checksum that was written with them")
    content.flags.writeable = False
    return _unpacked(path, content, length)


def _header_length(path: str | Path, start: bytes, size: int) -> int:
    """The length of the header; an error unless the file is complete and of a known version."""
    if start[: len(_MAGIC)] != _MAGIC[: len(start)] or not start:
        pickled = ": it looks like a pickle; load a pickle only if you trust its author" * (start[:1] == b"\x80")
        raise refusal(path, f"is not a model file of oneclass{pickled}")
    if len(start) < _START:
        raise refusal(path, f"is truncated: it ends after {len(start)} bytes")
    _, version, _, claimed, length = _FIELDS.unpack(start[: _FIELDS.size])
    if version > VERSION:
        raise refusal(
            path, f"is of version {version} of the format, and this oneclass reads up to version {VERSION}: upgrade it"
        )
    if size < claimed:
        raise refusal(path, f"is truncated: {size:,} of its {claimed:,} bytes are there")
    if size > claimed or length > min(size - _START, _MAX_HEADER):
        raise refusal(path, f"was altered: it is {size:,} bytes long and claims {claimed:,}, {length:,} of header")
    return int(length)


def _unpacked(path: str | Path, content: Host, length: int) -> tuple[dict[str, Any], list[Host]]:
    text = content[_START : _START + length].tobytes()
    if (lists := _lists_in(text)) > _MAX_NODES:
        raise refusal(path, f"has an invalid header: it holds {lists:,} lists and dicts, more than {_MAX_NODES:,}")
    try:
        header = json.loads(text.decode(), parse_constant=_no_constant)
        arrays, place = [], _START + _padded(length)
        for name, order, shape in header["arrays"]:
            kind = _KINDS[name]
            if not all(type(n) is int and 0 <= n <= len(content) for n in shape):
                raise ValueError("shapes are whole numbers, none larger than the file")
            end = place + math.prod(shape) * kind.itemsize
            if end > len(content):
                raise ValueError("claims arrays of more bytes than it holds")
            arrays.append(content[place:end].view(kind).reshape(shape, order=order))
            place = _padded(end)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise refusal(path, f"has an invalid header: {type(error).__name__}: {error}") from None
    return header, arrays


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _lists_in(text: bytes) -> int:
    """Lists and dicts in JSON, or a few more: words may have brackets in them."""
    return text.count(b"[") + text.count(b"{")


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _parts(text: bytes, arrays: list[Host]) -> Iterator[bytes | memoryview]:
    yield text.ljust(_padded(len(text)))
    for array in arrays:
        yield _flat(array).data
        yield bytes(_padded(array.nbytes) - array.nbytes)


def _flat(array: Host) -> Host:
    """The bytes of an array in its memory order; in row order if the array is not contiguous."""
    flat = (array.T if _by_columns(array) else array).astype(_KINDS[array.dtype.name], order="C", copy=False)
    return flat.reshape(-1).view(np.uint8)


def _by_columns(array: Host) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)

"""Decoder of ``.Z`` files (Unix compress): UCI publishes Waveform in this form.

The packages that decode it (unlzw3, ncompress) do not bound the size of what they return.
"""

__all__ = ["unlzw"]

MAGIC = b"\x1f\x9d"
CLEAR = 256
WIDTHS = range(9, 17)


def unlzw(data: bytes, *, most: int) -> bytes:
    """Bytes that ``compress`` packed into ``data``; a ValueError if these are more than ``most``.

    Codes grow from 9 bits to the width that the header names. The writer fills its buffer of eight codes before it
    changes the width, so the reader skips to the end of that buffer.
    """
    if data[:2] != MAGIC or len(data) < 3 or data[2] & 31 not in WIDTHS:
        raise ValueError("not a .Z file")
    limit, reserved = data[2] & 31, 257 if data[2] & 128 else 256
    table, width, last = _fresh(reserved), 9, b""
    at = start = 24
    out = bytearray()
    while True:
        if len(table) >= 1 << width and width < limit:
            at = start = _boundary(at, start, width)
            width += 1
        if at + width > 8 * len(data):
            return bytes(out)
        code = (int.from_bytes(data[at >> 3 : (at >> 3) + 4], "little") >> (at & 7)) & ((1 << width) - 1)
        at += width
        if code == CLEAR and reserved == 257:
            at = start = _boundary(at, start, width)
            table, width, last = _fresh(reserved), 9, b""
            continue
        entry = _entry(table, code, last)
        if last and len(table) < 1 << limit:
            table.append(last + entry[:1])
        out += entry
        if len(out) > most:
            raise ValueError(f"it unpacks to more than {most:,} bytes")
        last = entry


def _fresh(reserved: int) -> list[bytes]:
    return [bytes([i]) for i in range(256)] + [b""] * (reserved - 256)


def _boundary(at: int, start: int, width: int) -> int:
    buffer = 8 * width
    return start + -(-(at - start) // buffer) * buffer


def _entry(table: list[bytes], code: int, last: bytes) -> bytes:
    if code < len(table):
        return table[code]
    if code == len(table) and last:
        return last + last[:1]
    raise ValueError("damaged .Z file")

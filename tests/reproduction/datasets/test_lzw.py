"""The decoder reverses Unix compress; gzip checks the packer that these tests use."""

import random
import shutil
import subprocess

import pytest

from reproduction.datasets.fetch import unpacked
from reproduction.datasets.lzw import unlzw


def compress(data, limit=16, clear_at=None):
    """Pack as compress does; ``clear_at`` empties the table after that number of codes."""
    out, group, width = bytearray([0x1F, 0x9D, 0x80 | limit]), [], 9
    table, emitted, prefix = {bytes([i]): i for i in range(256)}, 0, b""
    following = 257

    def flush(pad):
        bits = sum(code << (width * i) for i, code in enumerate(group))
        size = width if pad else -(-len(group) * width // 8)
        out.extend(bits.to_bytes(size, "little") if group else b"")
        group.clear()

    def emit(code):
        group.append(code)
        if len(group) == 8:
            flush(pad=True)

    for i in range(len(data)):
        byte = data[i : i + 1]
        if prefix + byte in table:
            prefix += byte
            continue
        emit(table[prefix])
        emitted += 1
        # The reader's table is one entry behind.
        if following > (1 << width) - 1 and width < limit:
            flush(pad=True)
            width += 1
        if following < 1 << limit:
            table[prefix + byte] = following
            following += 1
        if emitted == clear_at:
            emit(256)
            flush(pad=True)
            table, following, width = {bytes([i]): i for i in range(256)}, 257, 9
        prefix = byte
    if prefix:
        emit(table[prefix])
    flush(pad=False)
    return bytes(out)


def sample(size):
    rng = random.Random(0)
    return "\n".join(f"{rng.gauss(0, 2):.2f},{rng.gauss(0, 2):.2f}" for _ in range(size)).encode()


CASES = [
    (b"", {}),
    (b"a", {}),
    (b"aaaaaaaaaaaaaaaaaaaaaaaa", {}),
    (sample(300), {}),
    (sample(20_000), {}),
    (sample(20_000), {"limit": 12}),
    (sample(5_000), {"clear_at": 1_001}),
]


@pytest.mark.parametrize(("data", "options"), CASES)
def test_unpacking_reverses_packing(data, options):
    assert unlzw(compress(data, **options), most=len(data)) == data


@pytest.mark.skipif(shutil.which("gzip") is None, reason="gzip is not installed")
@pytest.mark.parametrize(("data", "options"), CASES[1:])
def test_gzip_unpacks_what_the_test_packs(data, options):
    result = subprocess.run(["gzip", "-dc"], input=compress(data, **options), capture_output=True, check=True)
    assert result.stdout == data


def test_a_packed_file_is_found_by_the_name_of_its_content():
    data = sample(300)
    assert unpacked(compress(data), "waveform.data.Z", "waveform.data") == data


@pytest.mark.parametrize(
    ("data", "words"), [(b"PK\x03\x04", "not a .Z file"), (b"\x1f\x9d\x90\xff\xff\xff", "damaged")]
)
def test_a_file_that_compress_did_not_write_is_refused(data, words):
    with pytest.raises(ValueError, match=words):
        unlzw(data, most=100)

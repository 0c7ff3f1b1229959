"""A download is unpacked within bounds of depth and size."""

import io
import zipfile

import pytest

from reproduction.datasets import DatasetError, fetch, store
from reproduction.datasets.lzw import unlzw


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def nested(content, depth):
    for _ in range(depth):
        content = zipped({"inner.zip": content})
    return content


def refused(server, toy, body):
    """Why a download is refused, in words."""
    card = toy(server.serve("all.zip", body))
    with pytest.raises(DatasetError) as caught:
        store.rows_of(card, None, progress=False)
    return str(caught.value)


def test_an_archive_in_an_archive_is_opened(toy):
    assert fetch.unpacked(nested(zipped({"toy.data": toy.content}), 1), "all.zip", "toy.data") == toy.content


@pytest.mark.parametrize("depth", [2, 1_000])
def test_archives_nested_too_deeply_are_refused(depth, cache, server, toy):
    why = refused(server, toy, nested(zipped({"toy.data": toy.content}), depth))
    assert "more than 2 archives inside each other" in why
    assert len(why) < 500


@pytest.mark.parametrize("layers", [1, 2])
def test_an_archive_that_unpacks_to_too_many_bytes_is_refused(layers, cache, server, toy, monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST", 100_000)
    bomb = zipped({"toy.data": bytes(1_000_000)})
    many = zipped({f"{i}.zip": bomb for i in range(3)}) if layers == 2 else bomb
    assert len(many) < 10_000
    assert "more than 100,000 bytes" in refused(server, toy, many)


def test_all_members_together_may_not_exceed_the_bound(cache, server, toy, monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST", 100_000)
    filler = zipped({"other.zip": zipped({"notes.txt": b""})}) + bytes(60_000)
    assert "more than 100,000 bytes" in refused(server, toy, zipped({"a.zip": filler, "b.zip": filler}))


def test_a_member_larger_than_it_claims_is_not_read_beyond_the_bound(cache, server, toy, monkeypatch):
    import tracemalloc

    monkeypatch.setattr(fetch, "LARGEST", 100_000)
    size = 200_000_000
    body = zipped({"toy.data": bytes(size)}).replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little"))
    tracemalloc.start()
    refused(server, toy, body)
    assert tracemalloc.get_traced_memory()[1] < size / 10
    tracemalloc.stop()


def test_a_large_download_is_refused_before_it_is_read(cache, server, toy, monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST", 1_000)
    assert "more than 1,000 bytes" in refused(server, toy, bytes(1_001))


def test_members_that_are_not_asked_for_are_not_unpacked(toy, monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST", 100_000)
    body = zipped({"notes.txt": bytes(1_000_000), "toy.data": toy.content})
    assert fetch.unpacked(body, "all.zip", "toy.data") == toy.content


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_a_compression_whose_output_cannot_be_bounded_is_refused(compression, cache, server, toy):
    assert "compressed in another way" in refused(server, toy, zipped({"toy.data": toy.content}, compression))


@pytest.mark.parametrize("damage", [b"\x00" * 4, b"\xff" * 4])
def test_a_damaged_archive_is_refused_and_the_next_address_tried(damage, cache, server, toy):
    body = bytearray(zipped({"toy.data": toy.content * 1_000}))
    start = body.find(b"toy.data") + 8
    body[start : start + 4] = damage
    card = toy(server.serve("all.zip", bytes(body)), server.serve("toy.data", toy.content))
    assert len(store.rows_of(card, None, progress=False).y) == 3


def test_an_encrypted_archive_is_refused_in_one_sentence(cache, server, toy):
    body = bytearray(zipped({"toy.data": toy.content}))
    for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        body[body.find(header) + offset] |= 1
    assert "cannot be unpacked" in refused(server, toy, bytes(body))


def test_a_packed_file_that_unpacks_to_too_many_bytes_is_refused():
    # One code for each longer run of zeros: n codes stand for n (n + 1) / 2 bytes.
    codes, bits, at = [0, *range(257, 257 + 250)], 0, 0
    for code in codes:
        bits |= code << at
        at += 9
    packed = bytes([0x1F, 0x9D, 0x90]) + bits.to_bytes(-(-at // 8), "little")
    assert unlzw(packed, most=40_000) == bytes(251 * 252 // 2)
    with pytest.raises(ValueError, match="more than 30,000 bytes"):
        unlzw(packed, most=30_000)


@pytest.mark.parametrize("data", [b"\x1f\x9d", b"\x1f\x9d\x9f" + bytes(9), b"\x1f\x9d\x88" + bytes(9)])
def test_a_header_without_a_code_width_of_9_to_16_bits_is_refused(data):
    with pytest.raises(ValueError, match=r"not a \.Z file"):
        unlzw(data, most=1_000)

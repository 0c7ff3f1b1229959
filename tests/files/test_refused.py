"""Files that are no models, are incomplete or were altered: each is refused in one sentence, at little cost."""

import os
import pickle
import tracemalloc

import numpy as np
import pytest

import oneclass
from forging import forged
from oneclass import OCRF, VAAKELM, ModelFileError, Nystrom
from oneclass.io import container
from saved import FRESH, ROWS


@pytest.fixture(scope="module")
def model():
    return VAAKELM(approximation=Nystrom(10)).fit(ROWS)


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """The bytes of a good file."""
    path = tmp_path_factory.mktemp("whole") / "model.oneclass"
    model.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("refused") / "model.oneclass"


def refuse(place, content, message, **options):
    place.write_bytes(content)
    with pytest.raises(ModelFileError, match=message) as caught:
        oneclass.load(place, **options)
    said = str(caught.value)
    assert said.startswith(str(place))
    assert "\n" not in said
    assert len(said) <= len(str(place)) + 304  # a space, 300 characters at most, "..."


@pytest.mark.parametrize("mmap", [False, True])
def test_a_truncated_file_is_refused(whole, place, mmap):
    for end in [*range(70), *np.random.default_rng(0).integers(len(whole), size=150), len(whole) - 1]:
        refuse(place, whole[:end], "is truncated" if end else "is not a model file", mmap=mmap)


@pytest.mark.parametrize("mmap", [False, True])
def test_a_file_with_one_bit_flipped_is_refused(whole, place, mmap):
    rng = np.random.default_rng(0)
    for at in [64, *rng.integers(64, len(whole), size=150), len(whole) - 1]:
        changed = bytearray(whole)
        changed[at] ^= 1 << rng.integers(8)
        refuse(place, bytes(changed), "was altered", mmap=mmap)


@pytest.mark.parametrize("byte", range(64))
def test_no_bit_of_the_start_can_be_flipped(whole, place, byte):
    for bit in range(8):
        changed = bytearray(whole)
        changed[byte] ^= 1 << bit
        refuse(place, bytes(changed), "was altered|is truncated|is not a model file|is of version")


def test_padding_is_under_the_checksum_too(whole, place):
    zeros = whole.rindex(b"\0" * 8)
    refuse(place, whole[:zeros] + b"x" + whole[zeros + 1 :], "was altered")
    refuse(place, whole + b"\0" * 64, "was altered: it is .* bytes long and claims")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a model file of oneclass$"),
        (b"a,b\n1,2\n", "is not a model file of oneclass$"),
        (b"PK\x03\x04" + bytes(100), "is not a model file of oneclass$"),
        (pickle.dumps({"model": [1.0] * 20}), "is not a model file of oneclass: it looks like a pickle"),
    ],
)
def test_a_foreign_file_is_refused(place, content, message):
    refuse(place, content, message)


def test_a_pickle_is_not_run(place):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(place) + ".evil",)

    refuse(place, pickle.dumps(Evil()), "looks like a pickle")
    assert not os.path.exists(str(place) + ".evil")


def test_a_newer_file_is_refused(place):
    newer = forged({"arrays": [], "values": []}, version=container.VERSION + 1)
    refuse(place, newer, f"is of version {container.VERSION + 1} of the format, and this oneclass reads up to version")


def test_a_directory_and_a_pipe_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="is a directory, not a model file"):
        oneclass.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is a device or pipe, not a model file"):
        oneclass.load(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="nothing"):
        oneclass.load(tmp_path / "nothing")


# Files that someone has made with care: their checksums are right.

CLAIMS = {
    "more than there is": [["float64", "C", [10**6, 10**6]]],
    "more than anybody has": [["float64", "C", [2**62, 2**62, 8]]],
    "one number too many": [["float64", "C", [9]]],
    "the second one": [["float64", "C", [8]], ["int8", "C", [1]]],
    "less than nothing": [["float64", "C", [-1, -8]]],
    "endless rows of nothing": [["float64", "C", [2**70, 0]]],
    "an object": [["object", "C", [1]]],
    "text": [["U8", "C", [1]]],
    "no order": [["float64", "X", [8]]],
    "no shape": [["float64", "C", "88"]],
    "a hundred axes": [["float64", "C", [1] * 100]],
    "no list": {"float64": 1},
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_arrays_that_the_file_does_not_hold_are_refused(place, claim):
    content = forged({"arrays": CLAIMS[claim], "values": []}, np.zeros(8).tobytes())
    refuse(place, content, "claims arrays of more bytes than it holds|has an invalid header")


@pytest.mark.parametrize("mmap", [False, True])
def test_no_file_takes_more_memory_than_it_is_long(place, mmap):
    sizes = {"huge claims": forged({"arrays": CLAIMS["more than there is"], "values": []}, bytes(1 << 20))}
    sizes["long header"] = forged({"arrays": []}, length=1 << 60)
    sizes["cut short"] = sizes["huge claims"][: 1 << 19]
    for content in sizes.values():
        place.write_bytes(content)
        tracemalloc.start()
        try:
            with pytest.raises(ModelFileError):
                oneclass.load(place, mmap=mmap)
            assert tracemalloc.get_traced_memory()[1] < len(content) * (not mmap) + (1 << 18)
        finally:
            tracemalloc.stop()


def value(name, **fields):
    return {"class": name, "fields": fields}


SCALER = value("core.scaling.Scaler", centre=0, scale=1)
CONTENTS = {
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "no object": [],
    "no values": {"arrays": []},
    "nothing": {"arrays": [], "values": []},
    "too deep": b'{"arrays":[],"values":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "no estimator": {"arrays": [], "values": [SCALER]},
    "a module": {"arrays": [], "values": [value("os.system", command="ls")]},
    "a function of the library": {"arrays": [], "values": [value("disk.replacing.replacing", path="/tmp/x")]},
    "a class of Python's": {"arrays": [], "values": [value("builtins.open", file="/etc/passwd")]},
    "another kernel": {"arrays": [], "values": [value("core.kernels.UserKernel", function="print")]},
    "no name": {"arrays": [], "values": [value(["core"])]},
    "other fields": {"arrays": [], "values": [value("core.scaling.Scaler", centre=0, scale=1, extra=2)]},
    "fewer fields": {"arrays": [], "values": [value("core.scaling.Scaler", centre=0)]},
    "a value to come": {"arrays": [], "values": [value("core.scaling.Scaler", centre={"value": 1}, scale=0), SCALER]},
    "no such array": {"arrays": [], "values": [value("core.scaling.Scaler", centre={"array": 0}, scale=0)]},
    "a kind to come": {"arrays": [], "values": [value("core.scaling.Scaler", centre={"code": "print()"}, scale=0)]},
    "another library": {
        "arrays": [["float64", "C", [0]]],
        "values": [value("core.scaling.Scaler", centre={"array": 0, "library": "os", "device": "cpu"}, scale=0)],
    },
    "no parameter": {
        "arrays": [],
        "values": [{"class": "machines.ockelm.OCKELM", "parameters": {"nothing": 1}, "found": {}}],
    },
    "no approximation": {"arrays": [], "values": [value("core.approximation.Nystrom", m=-1, landmarks="leverage")]},
}


@pytest.mark.parametrize("content", CONTENTS)
def test_contents_that_make_no_sense_are_refused(place, content):
    refuse(place, forged(CONTENTS[content]), "cannot be read: |has an invalid header: ")


def test_a_header_without_end_is_not_written(tmp_path):
    model = VAAKELM(approximation=Nystrom(5)).fit(ROWS)
    model.set_params(kernel=["rbf" * 10**6] * 6)
    with pytest.raises(ValueError, match="the header of a model file has at most 16,777,216 bytes, but"):
        model.save(tmp_path / "model.oneclass")
    assert list(tmp_path.iterdir()) == []


# Writing that fails.


@pytest.fixture
def small_disk():
    """No file may grow beyond 64 kB: writing stops in the middle, as on a full disk."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("before", [None, b"an older file"])
def test_a_disk_that_fills_up_leaves_what_was_there(small_disk, tmp_path, before):
    path = tmp_path / "model.oneclass"
    if before is not None:
        path.write_bytes(before)
    model = OCRF(n_estimators=30).fit(ROWS)
    with pytest.raises(OSError, match=r"File too large: '.*model.oneclass'"):
        model.save(path, force=True)
    assert [file.name for file in tmp_path.iterdir()] == ([] if before is None else ["model.oneclass"])
    assert before is None or path.read_bytes() == before


def test_an_interruption_leaves_what_was_there(model, tmp_path, monkeypatch):
    path = tmp_path / "model.oneclass"
    model.save(path)
    before = path.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            OCRF(n_estimators=3).fit(ROWS).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_devices_are_written_to_and_never_replaced(model):
    model.save("/dev/null")
    assert not os.path.isfile("/dev/null")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        model.save("/dev/full")


def test_links_stay_links(model, tmp_path):
    model.save(tmp_path / "first")
    (tmp_path / "link").symlink_to(tmp_path / "first")
    (tmp_path / "first").write_bytes(b"")
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    np.testing.assert_array_equal(oneclass.load(tmp_path / "first").predict(FRESH), model.predict(FRESH))


def test_folders_are_named(model, tmp_path):
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*nowhere/model'"):
        model.save(tmp_path / "nowhere" / "model")


def test_files_may_be_read_by_whom_the_system_says(model, tmp_path):
    before = os.umask(0o027)
    try:
        model.save(tmp_path / "model")
    finally:
        os.umask(before)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(("kept", "umask"), [(0o600, 0o022), (0o640, 0o022), (0o664, 0o077), (0o400, 0o022)])
def test_a_file_that_is_replaced_keeps_its_permissions(model, tmp_path, kept, umask):
    path = tmp_path / "model"
    path.touch()
    path.chmod(kept)
    before = os.umask(umask)
    try:
        model.save(path)
        model.save(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == kept
    np.testing.assert_array_equal(oneclass.load(path).predict(FRESH), model.predict(FRESH))


@pytest.mark.parametrize("kept", [0o600, 0o660, None])
def test_the_partial_file_has_the_permissions_of_the_final_file(model, tmp_path, kept, monkeypatch):
    path, seen = tmp_path / "model", []
    if kept is not None:
        path.touch()
        path.chmod(kept)

    def look(_):
        seen.extend(part.stat().st_mode & 0o777 for part in tmp_path.glob(".model.*"))

    monkeypatch.setattr(os, "fsync", look)
    before = os.umask(0o027)
    try:
        model.save(path)
    finally:
        os.umask(before)
    assert seen == [0o640 if kept is None else 0o600]

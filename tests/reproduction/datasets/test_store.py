"""A file is found, downloaded, checked and kept, or the error says in one sentence what to do."""

import io
import os
import sys
import zipfile

import numpy as np
import pytest

from reproduction.datasets import DatasetError, load, store


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def rows_of(card):
    return store.rows_of(card, None, progress=False)


def test_a_download_is_kept_and_not_repeated(cache, server, toy):
    card = toy(server.serve("toy.data", toy.content))
    first, second = rows_of(card), rows_of(card)
    np.testing.assert_array_equal(first.X, [[30, 64, 1], [31, 65, 0], [32, 66, 9]])
    np.testing.assert_array_equal(second.y, [1, 1, -1])
    assert server.requests == ["/toy.data"]
    assert files(cache) == ["toy/toy.data"]


def test_a_member_is_taken_from_an_archive_inside_an_archive(cache, server, toy):
    inner = zipped(readme__txt="hello", toy__data=toy.content)
    card = toy(server.serve("all.zip", zipped(notes__txt="none", inner__zip=inner)))
    assert len(rows_of(card).y) == 3
    assert files(cache) == ["toy/toy.data"]


@pytest.mark.parametrize("trouble", [503, ...], ids=["server error", "cut off"])
def test_a_failed_download_is_tried_again(trouble, cache, server, toy):
    card = toy(server.serve("toy.data", trouble, trouble, toy.content))
    assert len(rows_of(card).y) == 3
    assert len(server.requests) == 3


def test_the_next_address_is_tried_when_one_is_gone_or_wrong(cache, server, toy):
    gone, moved = server.serve("gone.zip", 404), server.serve("moved.zip", b"<html>moved</html>")
    card = toy(gone, moved, server.serve("toy.data", toy.content))
    assert len(rows_of(card).y) == 3
    assert files(cache) == ["toy/toy.data"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"30,64,1,1\n31,65,0,1\n32,66,8,2\n", "rows are not the registered ones"),
        (b"<html>moved</html>", "cannot be parsed"),
        (..., "no usable answer"),
    ],
    ids=["edited", "another file", "cut off"],
)
def test_a_wrong_download_is_refused_and_leaves_nothing_behind(body, why, cache, server, toy):
    card = toy(server.serve("toy.data", body))
    with pytest.raises(DatasetError, match=rf"^toy: not downloaded .*{why}.*check the network, or save toy/toy.data"):
        rows_of(card)
    assert files(cache) == []
    assert [path.name for path in cache.rglob("*")] == ["toy"]


def test_an_archive_without_the_file_is_refused(cache, server, toy):
    card = toy(server.serve("all.zip", zipped(readme__txt="hello")))
    with pytest.raises(DatasetError, match=r"the archive holds no toy\.data"):
        rows_of(card)


def test_without_a_network_the_error_says_where_to_save_the_file(cache, server, toy):
    address = server.serve("toy.data", toy.content).replace("127.0.0.1", "nowhere.invalid")
    with pytest.raises(DatasetError) as caught:
        rows_of(toy(address))
    message = str(caught.value)
    assert message.startswith(f"toy: not downloaded ({address}: no usable answer (ConnectionError))")
    assert message.endswith("save toy/toy.data in a folder and name that folder in ONECLASS_DATA or data_home.")
    assert "\n" not in message
    assert files(cache) == []


def test_a_damaged_file_in_the_cache_is_named(cache, server, toy):
    card = toy(server.serve("toy.data", toy.content))
    rows_of(card)
    (cache / "toy/toy.data").write_bytes(toy.content.replace(b"9", b"8"))
    with pytest.raises(DatasetError, match=rf"^toy: the rows .*delete {cache / 'toy/toy.data'} and load again"):
        rows_of(card)


@pytest.mark.parametrize("place", ["toy/toy.data", "raw/toy/toy.data", "toy.data"])
def test_a_data_folder_is_read_before_the_network(place, cache, server, toy, tmp_path):
    file = tmp_path / "home" / place
    file.parent.mkdir(parents=True)
    file.write_bytes(toy.content)
    card = toy(server.serve("toy.data", toy.content))
    assert len(store.rows_of(card, tmp_path / "home").y) == 3
    assert server.requests == []
    assert not cache.exists()


def test_the_environment_names_the_data_folder_and_an_argument_replaces_it(monkeypatch, tmp_path):
    monkeypatch.setenv("ONECLASS_DATA", str(tmp_path / "there"))
    assert store.data_folder(None) == tmp_path / "there"
    assert store.data_folder(tmp_path) == tmp_path


def test_without_a_download_the_error_asks_for_the_file(cache):
    with pytest.raises(
        DatasetError, match=r"^ecoli: ecoli.data was not found: no data folder.*; allow the download, or save"
    ):
        load("ecoli", download=False)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("concordia_1", "Concordia_1.mat was not found: .* published in its authors' repository only"),
        ("concordia_2", "concordia_digits.csv was not found: .* some digits inferred"),
        ("usps_3", "usps_all.mat was not found: .* published in its authors' repository only"),
    ],
)
def test_the_error_says_that_a_dataset_has_no_public_address(name, words, cache):
    with pytest.raises(DatasetError, match=rf"^{name}: {words}.* so save .* ONECLASS_DATA or data_home\.$"):
        load(name)


@pytest.mark.parametrize("package", ["pandas", "sklearn.datasets"])
def test_the_error_names_a_missing_package_and_the_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package.split('.')[0]} to .*pip install '\.\[reproduction\]'"):
        load("digits_0")


def test_rows_of_another_scikit_learn_are_refused(monkeypatch):
    from sklearn import datasets

    bunch = datasets.load_digits()
    bunch.data[0, 0] += 1
    monkeypatch.setattr(datasets, "load_digits", lambda: bunch)
    with pytest.raises(DatasetError, match=r"^digits_0: the rows .* install a release of scikit-learn"):
        load("digits_0")


@pytest.mark.skipif(os.name != "posix", reason="the cache is elsewhere on other systems")
def test_the_cache_is_the_users_own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in store.cache_folder().parents


def test_a_dataset_unpacks_as_features_and_labels():
    data = load("digits_3")
    X, y = data
    assert X is data.X
    assert y is data.y
    assert data.groups is None
    assert data.card.name == "digits_3"

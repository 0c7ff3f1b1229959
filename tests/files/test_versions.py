"""Files of every version of the format that there has been are read for ever."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import oneclass
from oneclass.files.loading import CLASSES, _upgraded
from oneclass.io.codec import decode
from oneclass.io.container import VERSION

FOLDER = Path(__file__).parent / "versions"
RELEASES = {path.stem: zipfile.ZipFile(path) for path in sorted(FOLDER.glob("*.zip"))}
KNOWN = {release: json.loads(archive.read("answers.json")) for release, archive in RELEASES.items()}
FILES = sorted(FOLDER.glob("*.oneclass"))


def test_there_are_files_of_every_version():
    for version in range(1, VERSION + 1):
        kinds = {path.stem.split("-")[1] for path in FILES if path.name.startswith(f"{version}-")}
        assert {"exact", "vaakelm", "ocrf", "ocsvm", "pca", "table"} <= kinds


def test_there_are_files_of_every_release_up_to_this_one():
    major, minor, _ = oneclass.__version__.split(".")
    assert {f"{major}.{i}" for i in range(1, int(minor) + 1)} <= RELEASES.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_answers_as_it_did(path):
    version, name = path.stem.split("-")
    answers = FOLDER / f"{path.stem}.json"
    known = json.loads((answers if answers.exists() else FOLDER / f"{version}.json").read_text())
    model = oneclass.load(path)
    rows = pd.DataFrame(known["rows"], columns=known["columns"])
    for verb, expected in known["answers"][name].items():
        np.testing.assert_allclose(getattr(model, verb)(rows), expected, rtol=1e-9)


def test_a_stream_of_an_earlier_build_continues_and_ends_its_trial():
    stream, rng = oneclass.load(FOLDER / "1-stream.oneclass"), np.random.default_rng(0)
    assert stream.state_.trial is not None
    X = rng.normal(size=(200, 2)) * [1, 30] + [9, 200]
    found = [stream.watch(pd.DataFrame(X[a : a + 10], columns=["mass", "height"])).labels for a in range(0, 200, 10)]
    assert stream.state_.trial is None
    assert np.mean(np.concatenate(found[5:]) < 0) < 0.15
    assert stream.settings_.patience.steepness == 3.0


def test_a_field_that_was_not_there_yet_takes_its_default():
    older = {"values": [{"class": "core.embedding.Scatter", "fields": {"per_row": True}}]}
    assert decode(older, [], CLASSES) == oneclass.core.embedding.Scatter(own_mean=True, per_row=True, weight=1.0)


def test_a_parameter_that_was_not_there_yet_takes_its_default():
    older = {"values": [{"class": "machines.ockelm.OCKELM", "parameters": {"C": 3.0}, "found": {}}]}
    assert decode(older, [], CLASSES).get_params() == oneclass.OCKELM(C=3.0).get_params()


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
@pytest.mark.parametrize(("release", "name"), [(release, name) for release in KNOWN for name in KNOWN[release]])
def test_every_kind_of_file_of_a_release_answers_as_it_did(release, name, tmp_path):
    model, known = oneclass.load(RELEASES[release].extract(f"{name}.oneclass", tmp_path)), KNOWN[release][name]
    rows = np.array(known["rows"], dtype=known["dtype"]) if known["columns"] is None else None
    rows = pd.DataFrame(known["rows"], columns=known["columns"]) if rows is None else rows
    single = known["dtype"] == "float32"
    for verb, expected in known["answers"].items():
        found = getattr(model, verb)
        np.testing.assert_allclose(found(rows) if callable(found) else found, expected, rtol=1e-4 if single else 1e-8)
    clone(model)


def test_weights_of_version_0_1_become_their_ratios():
    parameters = {"C": 6.0, "lam": 2.0, "variance_weight": 4.0}
    older = {"values": [{"class": "machines.vaakelm.VAAKELM", "parameters": parameters, "found": {}}]}
    model = decode(older, [], CLASSES, upgrade=_upgraded)
    assert (model.C, model.lam) == (1.5, 0.5)


def test_a_search_of_version_0_1_can_be_fitted_again():
    search = "selection.search.OneClassSearchCV"
    machine = {"class": "machines.aakelm.AAKELM", "parameters": {"C": 3.0, "lam": 1.0}, "found": {}}
    parameters = {"estimator": {"value": 0}, "param_grid": {"dict": [["C", [1.0, 3.0]]]}, "criterion": "auto"}
    parameters |= {"scoring": "f1", "complexity": None, "n_outliers": None, "random_state": 0}
    older = {"values": [machine, {"class": search, "parameters": parameters, "found": {"criterion_": "labels"}}]}
    model = decode(older, [], CLASSES, upgrade=_upgraded)
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.where(np.arange(50) % 5, 1, -1)
    expected = oneclass.OneClassSearchCV(oneclass.AAKELM(C=3.0), {"C": [1.0, 3.0]}).fit(X, y)
    assert model.fit(X, y).best_score_ == expected.best_score_
    assert vars(model).keys() == vars(expected).keys()

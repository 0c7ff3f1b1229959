"""Files of every version of the format that there has been are read for ever."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass.disk.codec import decode
from oneclass.disk.container import VERSION
from oneclass.files.loading import CLASSES

FOLDER = Path(__file__).parent / "versions"
FILES = sorted(FOLDER.glob("*.oneclass"))


def test_there_are_files_of_every_version():
    for version in range(1, VERSION + 1):
        kinds = {path.stem.split("-")[1] for path in FILES if path.name.startswith(f"{version}-")}
        assert {"exact", "vaakelm", "ocrf", "ocsvm", "pca", "table"} <= kinds


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_answers_as_it_did(path):
    version, name = path.stem.split("-")
    answers = FOLDER / f"{path.stem}.json"
    known = json.loads((answers if answers.exists() else FOLDER / f"{version}.json").read_text())
    model = oneclass.load(path)
    rows = pd.DataFrame(known["rows"], columns=known["columns"])
    for verb, expected in known["answers"][name].items():
        np.testing.assert_allclose(getattr(model, verb)(rows), expected, rtol=1e-9)


def test_a_field_that_was_not_there_yet_takes_its_default():
    older = {"values": [{"class": "core.embedding.Scatter", "fields": {"per_row": True}}]}
    assert decode(older, [], CLASSES) == oneclass.core.embedding.Scatter(own_mean=True, per_row=True, weight=1.0)


def test_a_parameter_that_was_not_there_yet_takes_its_default():
    older = {"values": [{"class": "machines.ockelm.OCKELM", "parameters": {"C": 3.0}, "found": {}}]}
    assert decode(older, [], CLASSES).get_params() == oneclass.OCKELM(C=3.0).get_params()

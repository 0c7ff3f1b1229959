import io
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from oneclass import (
    VAAKELM,
    Calibrated,
    KNNDetector,
    OneClassSearchCV,
    PCADetector,
    TableDetector,
    TrainingRowsWarning,
    load,
    make_one_class_pipeline,
    report,
)

rng = np.random.default_rng(0)
ROWS, NEW = rng.normal(size=(200, 3)), rng.normal(size=(60, 3))
TABLE = pd.DataFrame(ROWS, columns=list("abc")).assign(kind=np.where(ROWS[:, 0] > 0, "x", "y"))


def said_by(verb, *args, **options):
    """The messages about training rows."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        verb(*args, **options)
    return [str(warning.message) for warning in said if warning.category is TrainingRowsWarning]


@pytest.mark.parametrize(
    "model",
    [
        VAAKELM(),
        PCADetector(),
        Calibrated(PCADetector()),
        make_one_class_pipeline(StandardScaler(), KNNDetector()),
        OneClassSearchCV(VAAKELM(), {"C": [1.0, 4.0]}, criterion="likelihood"),
        TableDetector(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_labels_of_training_rows_are_warned_of(model, tmp_path):
    X = TABLE if isinstance(model, TableDetector) else ROWS
    new = X.assign(a=X["a"] + 0.01) if isinstance(model, TableDetector) else NEW
    model.fit(X)
    for verb in (model.predict, model.score_table):
        (said,) = said_by(verb, X)
        assert "most of these rows are training rows" in said
        assert "use screen or held_out_scores_" in said
        assert said_by(verb, X[:9]) == said_by(verb, new) == []
    assert said_by(model.score_samples, X) == said_by(model.p_value, X) == []
    model.save(tmp_path / "model.oneclass")
    assert said_by(load(tmp_path / "model.oneclass").predict, X)


def test_fit_predict_warns_and_so_do_chunks():
    assert said_by(KNNDetector().fit_predict, ROWS)
    model = KNNDetector().fit(ROWS)
    assert said_by(model.score_chunks, [NEW, ROWS[:50]], io.BytesIO())
    assert said_by(model.score_chunks, [NEW], io.BytesIO()) == []


def test_rows_without_weight_are_no_training_rows():
    w = np.repeat([1.0, 0.0], 100)
    model = VAAKELM().fit(ROWS, sample_weight=w)
    assert said_by(model.predict, ROWS[:100])
    assert not said_by(model.predict, ROWS[100:])


@pytest.mark.parametrize(("model", "X"), [(KNNDetector(), ROWS), (TableDetector(), TABLE)])
def test_a_report_on_training_rows_says_what_to_use_instead(model, X):
    found = report(model.fit(X), X).summary
    assert found["data"]["training_rows"]
    assert "most of them are training rows: screen the table" in found["verdict"]["sentence"]
    assert found["verdict"]["odd"] is None
    assert "use screen" in found["advice"][0]
    assert any("Most of these rows are training rows" in sentence for sentence in found["findings"])
    assert not report(model, X[:9]).summary["data"]["training_rows"]

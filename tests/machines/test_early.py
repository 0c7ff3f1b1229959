"""Labels that are given before the uncertainty is known to the last training row are those of the scores."""

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM
from oneclass.core.solve import DualModel

RNG = np.random.default_rng(0)
CENTRES = 3 * RNG.normal(size=(4, 3))
TRAIN, NORMAL = (CENTRES[RNG.integers(0, 4, size=n)] + RNG.normal(size=(n, 3)) for n in (600, 400))
FRESH = np.concatenate([NORMAL, RNG.uniform(-9, 9, size=(300, 3)), TRAIN[:100], [[1e6, 0, 0], [0, -1e300, 0]]])
MACHINES = {
    "predictive": VAAKELM(loss="predictive"),
    "uncertainty": VAAKELM(loss="uncertainty"),
    "global": VAAKELM(centring="global", C=64.0),
    "plain": AAKELM(loss="predictive"),
    "rbf": AAKELM(kernel="rbf", C=64.0),
    "polynomial": AAKELM(kernel="polynomial"),
    "linear": AAKELM(kernel="linear"),
    "train": AAKELM(threshold="train", delta=0.0),
    "authors": VAAKELM(threshold="authors", delta=0.1),
    "constant target": OCKELM(),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", MACHINES)
def test_labels_are_those_of_the_scores(name, dtype):
    far = np.inf if dtype == np.float64 else 1e30
    rows, train = np.clip(FRESH, -far, far).astype(dtype), TRAIN.astype(dtype)
    model = MACHINES[name].fit(train)
    for batch in (rows, train):
        scores = model.score_samples(batch)
        np.testing.assert_array_equal(model.predict(batch), np.where(scores >= model.offset_, 1, -1))
        for alpha in (0.01, 0.2, 0.9):
            expected = np.where(-scores <= model.calibration_.threshold(alpha), 1, -1)
            np.testing.assert_array_equal(model.predict(batch, alpha=alpha), expected)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_few_labels_need_all_training_rows(kernel, monkeypatch):
    model, plain, asked = VAAKELM(kernel=kernel, sigma="mean").fit(TRAIN), DualModel.uncertainty, []

    def counted(self, Z, features):
        asked.extend([features.shape[1]] * len(Z))
        return plain(self, Z, features)

    monkeypatch.setattr(DualModel, "uncertainty", counted)
    labels = model.predict(NORMAL)
    assert np.mean(labels == 1) > 0.9
    assert asked.count(len(TRAIN)) < 0.25 * len(NORMAL)


def test_rows_that_are_rebuilt_too_badly_are_rejected_unasked(monkeypatch):
    model = VAAKELM(kernel="laplacian").fit(TRAIN)
    monkeypatch.setattr(DualModel, "uncertainty", None)
    np.testing.assert_array_equal(model.predict(TRAIN[:5] + 1e6), -1)

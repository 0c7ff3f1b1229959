"""All verbs use the same losses: labels, decisions and p-values follow from the scores, in batches of any size."""

import pickle

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, Nystrom, load

RNG = np.random.default_rng(0)
CENTRES = 3 * RNG.normal(size=(4, 3))
TRAIN, NORMAL = (CENTRES[RNG.integers(0, 4, size=n)] + RNG.normal(size=(n, 3)) for n in (900, 400))
FRESH = np.concatenate([NORMAL, RNG.uniform(-9, 9, size=(300, 3)), TRAIN[:100], [[1e6, 0, 0], [0, -1e300, 0]]])
MACHINES = {
    "predictive": VAAKELM(loss="predictive"),
    "uncertainty": VAAKELM(loss="uncertainty"),
    "either": VAAKELM(loss="either"),
    "either with landmarks": AAKELM(loss="either", approximation=Nystrom(800)),
    "global": VAAKELM(centering="global", C=64.0),
    "plain": AAKELM(loss="predictive"),
    "rbf": AAKELM(kernel="rbf", C=64.0),
    "polynomial": AAKELM(kernel="polynomial"),
    "linear": AAKELM(kernel="linear"),
    "train": AAKELM(threshold="train", delta=0.0),
    "authors": VAAKELM(threshold="authors", delta=0.1),
    "constant target": OCKELM(),
    "landmarks": VAAKELM(approximation=Nystrom(800)),
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
        np.testing.assert_array_equal(model.decision_function(batch), scores - model.offset_)
        np.testing.assert_array_equal(model.p_value(batch), model.calibration_.p_value(-scores))
        for alpha in (0.01, 0.2, 0.9):
            expected = np.where(-scores <= model.calibration_.threshold(alpha), 1, -1)
            np.testing.assert_array_equal(model.predict(batch, delta=alpha), expected)


@pytest.mark.parametrize("name", MACHINES)
def test_the_score_of_a_row_does_not_depend_on_its_batch(name):
    model, rows = MACHINES[name].fit(TRAIN), FRESH[:-2]
    whole = model.score_samples(rows)
    for size in (1, 100, 333):
        parts = [model.score_samples(rows[a : a + size]) for a in range(0, len(rows), size)]
        np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-8)
        p = [model.p_value(rows[a : a + size]) for a in range(0, len(rows), size)]
        np.testing.assert_array_equal(np.concatenate(p), model.p_value(rows))


def test_a_saved_model_is_small_and_scores_as_before(tmp_path):
    model = VAAKELM().fit(TRAIN)
    scores = model.score_samples(FRESH)
    assert len(pickle.dumps(model)) < 8 * TRAIN.nbytes  # the n x n factor would be 300 times
    model.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model")):
        np.testing.assert_array_equal(again.score_samples(FRESH), scores)

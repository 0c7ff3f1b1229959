import numpy as np
import pytest

#: Where rows lie: how far from the origin, and how far half of them from the others.
PLACES = {"at the origin": (0, 0), "far from the origin": (1e6, 0), "in two places": (0, 1e8)}

#: Losses that are squares of residuals, which are right to the rounding of the rows.
SQUARES = ("AutoencoderDetector", "KCentersDetector", "KMeansDetector", "KNNDetector", "PCADetector")


def draw(n, d, place, seed):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, d)) + place[0]
    rows[random.permutation(n)[::2]] += place[1]
    return rows


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("scale", ["zscore", "robust", False])
@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_a_rows_score_does_not_depend_on_its_batch_mates(baseline, d, place, scale):
    X = draw(60, d, place, 0)
    model = baseline(scale=scale).fit(X)
    rows = draw(30, d, place, 1)
    far = rows[:1] + 1e9 * np.eye(d)[:1]
    alone = np.concatenate([model.score_samples(row[None]) for row in rows])
    rounding = 1e-14 * np.sqrt(d) * np.abs(model.scaler_(X)).max()
    if type(model).__name__ in SQUARES:
        rounding *= rounding + np.sqrt(np.abs(alone))
    for together in (model.score_samples(rows), model.score_samples(np.concatenate([far, rows]))[1:]):
        assert (np.abs(together - alone) <= rounding).all()


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("size", [1e39, 1e160, 1e300])
def test_a_row_farther_away_than_squares_can_tell_is_rejected(baseline, size, d):
    X = draw(60, d, PLACES["at the origin"], 0)
    model = baseline(scale=False).fit(X)
    far = np.array([size, *X[0, 1:]])[None]
    assert not np.isnan(model.score_samples(far)).any()
    if type(model).__name__ != "OCRF":  # whose trees may not look at the feature
        assert model.predict(far) == [-1]

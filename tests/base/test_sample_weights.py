import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, Fourier, Nystrom, Stream

RNG = np.random.default_rng(0)
X = RNG.permutation(np.concatenate([RNG.normal(size=(40, 3)), RNG.normal(4, 1, size=(20, 3))]))
EVERY_OTHER = np.arange(60) % 2 == 0
ONE = (np.arange(60) == 3).astype(float)

WEIGHTS = {
    **{f"all {value:g}": np.full(60, value) for value in (5e-324, 1e-300, 1e-30, 1e-12, 1e-3, 1e3, 1e12, 1e30, 1e300)},
    **{f"1 and {value:g}": np.where(EVERY_OTHER, value, 1.0) for value in (5e-324, 1e-300, 1e-12, 1e12, 1e300)},
    "1e-300 and 1e300": np.where(EVERY_OTHER, 1e-300, 1e300),
    "inf": np.where(EVERY_OTHER, np.inf, 1.0),
    "nan": np.where(EVERY_OTHER, np.nan, 1.0),
    "negative": np.where(EVERY_OTHER, -1e-300, 1.0),
    "zeros": np.zeros(60),
    "one": ONE,
    "one tiny": 1e-300 * ONE,
    "two": (np.arange(60) % 40 == 3).astype(float),
    "any size": np.exp(RNG.normal(size=60) * 200),
    "shares": np.full(60, 1 / 60),
    "a number": 1e-300,
    "text": ["heavy"] * 60,
}
MODELS = {
    "machine": (VAAKELM, {}),
    "likelihood": (VOCKELM, {"C": "likelihood", "sigma": "likelihood"}),
    "uncertainty": (AAKELM, {"loss": "uncertainty"}),
    "nystrom": (VAAKELM, {"approximation": Nystrom(20)}),
    "fourier": (OCKELM, {"approximation": Fourier(30)}),
    "stream": (Stream, {}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [*MODELS, "single precision"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_of_any_size_give_finite_scores_or_are_named(model, kind):
    made, params = MODELS.get(model, (VAAKELM, {}))
    rows = X.astype(np.float32) if model == "single precision" else X
    try:
        fitted = made(**params).fit(rows, sample_weight=WEIGHTS[kind])
    except ValueError as error:
        if not str(error).startswith(f"{made.__name__}: sample_weight must"):
            raise
        return
    assert np.isfinite(fitted.score_samples(rows)).all()
    assert np.isfinite(fitted.p_value(rows)).all()
    assert np.isfinite(fitted.offset_)


@pytest.mark.parametrize("model", MODELS)
def test_rows_whose_weight_is_lost_to_rounding_are_not_training_rows(model):
    made, params = MODELS[model]
    fitted = made(**params).fit(X, sample_weight=np.where(EVERY_OTHER, 1e-17, 1.0))
    alone = made(**params).fit(X[~EVERY_OTHER])
    np.testing.assert_allclose(fitted.score_samples(X), alone.score_samples(X), rtol=1e-12)
    assert fitted.offset_ == pytest.approx(alone.offset_, rel=1e-12)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # weights are copies
@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e6, 1e12])
def test_weights_multiplied_by_a_factor_equal_C_multiplied_by_it(factor):
    # Both are the same system: K + lam inv(W) / C.
    params = {"sigma": 2.0, "threshold": "train", "delta": 0.0}
    scaled = OCKELM(C=100.0 / factor, **params).fit(X, sample_weight=np.full(60, factor))
    expected = OCKELM(C=100.0, **params).fit(X)
    np.testing.assert_allclose(scaled.score_samples(X), expected.score_samples(X), rtol=1e-9)


def test_the_message_about_weights_names_the_rule_and_the_value():
    with pytest.raises(ValueError, match=r"largest value from 1e-12 to 1e\+12, because .* got 1e-300"):
        VAAKELM().fit(X, sample_weight=np.full(60, 1e-300))
    with pytest.raises(ValueError, match="positive for at least two rows of the target class, got 1"):
        VAAKELM().fit(X, sample_weight=ONE)


@pytest.mark.parametrize("pause", [40, 1000, 1074, 1e6, 1e300])
@pytest.mark.parametrize("half_life", [1.0, 1e-3, 1e-100])
def test_a_stream_with_half_life_stays_finite_after_a_pause_of_any_length(half_life, pause):
    stream = Stream(half_life=half_life, window=None, clock=True).fit(X, time=np.arange(60.0))
    for i in range(1, 4):
        stream.watch(RNG.normal(size=(1, 3)), time=[60 + i * pause])
        assert np.isfinite(stream.renew().score_samples(X)).all()
    stream.watch(RNG.normal(size=(60, 3)), time=60 + 4 * pause + np.arange(60.0))
    assert np.isfinite(stream.score_samples(X)).all()
    assert np.isfinite(stream.offset_)

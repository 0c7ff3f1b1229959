"""Numbers among the parameters may be of any size: an answer is finite, or one sentence says what is refused."""

import inspect
import math
import re
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import oneclass
from awkward import EXTREMES
from classifiers import BASELINES, MACHINES, QUICK
from oneclass import OCSVM, RBF, SVDD, VAAKELM, Fourier, Laplacian, Nystrom, Polynomial, Stream
from oneclass.stream import Martingale, Patience

RNG = np.random.default_rng(0)
ROWS, FRESH = RNG.normal(size=(40, 2)), RNG.normal(size=(8, 2))
FAR = np.array([[1e6, 1e6], [-1e30, 3.0]])
OWNERS = np.arange(40) % 20
#: Positive numbers of every size.
SIZES = st.one_of(st.floats(-323, 308).map(lambda power: float(10.0**power)), st.sampled_from(EXTREMES))
#: Parameters that are numbers of any size, also where their default is a word or None.
NUMBERS = {
    "C",
    "lam",
    "n_components",
    "r",
    "sigma",
    "tol",
    "nu",
    "nu_outliers",
    "alpha",
    "enlargement",
    "outlier_ratio",
    "delta",
    "confidence",
}
FEW = QUICK | {"OCRF": {"n_estimators": 2}, "AutoencoderDetector": {"hidden_layer_sizes": 2, "max_iter": 5}}
APPROXIMATIONS = st.sampled_from([None, Nystrom(10), Nystrom(60), Fourier(20)])


def numbers_of(kind):
    return sorted(NUMBERS & inspect.signature(kind).parameters.keys())


def assert_answers_or_refuses(name, fit, X, *, known=()):
    """Fit, then ask for everything: all is finite; or there is one sentence of ours, which names the classifier."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", message=rf"^{name}: .*(is below|needs n=|did not reach tol=|did not converge)"
        )
        warnings.filterwarnings("ignore", message=rf"^{name}: .*(takes about|columns are few|most of these rows)")
        refusal, model = None, None
        try:
            model = fit()
        except ValueError as error:
            refusal = str(error)
        if refusal is not None:
            assert re.fullmatch(rf"({'|'.join((name, *known))}): [^\n]{{20,400}}", refusal), refusal
            return
        Z = np.concatenate([FRESH, FAR, X]).astype(X.dtype)
        scores, decisions = model.score_samples(Z), model.decision_function(Z)
        assert np.isfinite(model.offset_)
        assert np.isfinite(scores).all()
        assert np.isfinite(decisions).all() or np.abs(model.offset_) > 1e30  # a difference of large numbers
        assert set(model.predict(Z)) <= {-1, 1}
        if model.calibration_ is not None:
            assert np.isfinite(model.calibration_.losses).all()
            p = model.p_value(Z)
            assert np.all((p > 0) & (p <= 1))


@pytest.mark.parametrize("name", [*MACHINES, *BASELINES])
@settings(max_examples=60)
@given(data=st.data())
def test_a_number_of_any_size_is_computed_with_or_refused(name, data):
    kind = getattr(oneclass, name)
    options = dict(FEW.get(name, {}))
    for parameter in data.draw(st.lists(st.sampled_from(numbers_of(kind)), min_size=1, max_size=2, unique=True)):
        options[parameter] = data.draw(SIZES, parameter)
    parameters = inspect.signature(kind).parameters
    if "kernel" in parameters:
        options["kernel"] = data.draw(st.sampled_from(["rbf", "laplacian"]))
    if "loss" in parameters:
        options["loss"] = data.draw(st.sampled_from(["reconstruction", "uncertainty", "predictive", "either"]))
    if "approximation" in parameters:
        options["approximation"] = data.draw(APPROXIMATIONS)
    options["threshold"] = data.draw(st.sampled_from([*kind._thresholds]), "threshold")
    X = ROWS.astype(data.draw(st.sampled_from([np.float64, np.float32])))
    groups = data.draw(st.sampled_from([None, OWNERS]))
    assert_answers_or_refuses(name, lambda: kind(**options).fit(X, groups=groups), X)


def test_every_parameter_that_is_a_fraction_is_drawn():
    for name in (*MACHINES, *BASELINES):
        for parameter, value in inspect.signature(getattr(oneclass, name)).parameters.items():
            assert parameter in NUMBERS or not isinstance(value.default, float), (name, parameter)


@pytest.mark.parametrize("kernel", [RBF, Laplacian], ids=lambda k: k.__name__)
@pytest.mark.parametrize("name", ["AAKELM", "OCSVM", "SVDD"])
@pytest.mark.parametrize("sigma", [5e-324, 1e-200, 1e-154, 1e160, 1.7e308])
def test_a_kernel_given_with_an_extreme_bandwidth_is_refused_as_one_given_by_name(name, kernel, sigma):
    rule = rf"^{name}: sigma must be from 1e-100 to 1e\+100 in size, got {re.escape(repr(sigma))}$"
    for options in ({"kernel": kernel(sigma=sigma)}, {"kernel": kernel.__name__.lower(), "sigma": sigma}):
        with pytest.raises(ValueError, match=rule):
            getattr(oneclass, name)(**options).fit(ROWS)


@pytest.mark.parametrize("sigma", [1e-100, 1e-12, 1e-6])
@pytest.mark.parametrize("classifier", [OCSVM, SVDD], ids=lambda c: c.__name__)
def test_a_kernel_so_narrow_that_no_rows_are_alike_gives_every_row_the_same_loss(classifier, sigma):
    model = classifier(sigma=sigma, nu=0.2, delta=0.1, threshold="train").fit(ROWS)
    assert np.ptp(model.score_samples(FRESH)) == 0
    assert np.all(model.predict(ROWS) == 1)
    assert np.all(model.predict(FRESH) == -1)


@pytest.mark.parametrize("approximation", [None, Nystrom(10)])
@pytest.mark.parametrize("kernel", [Polynomial(300, 1e308), Polynomial(3, 1e200)], ids=repr)
@pytest.mark.parametrize("name", ["OCKELM", "VAAKELM", "OCSVM", "SVDD"])
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_a_kernel_whose_values_overflow_is_refused(name, kernel, approximation):
    options = {"approximation": approximation} if name in MACHINES else {}
    with pytest.raises(ValueError, match=rf"^{name}: .*kernel"):
        getattr(oneclass, name)(kernel=kernel, delta=0.1, **options).fit(ROWS)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("classifier", [OCSVM, SVDD], ids=lambda c: c.__name__)
def test_a_tolerance_that_is_never_reached_ends_with_a_warning(classifier, kernel):
    if classifier is SVDD and kernel == "linear":
        pytest.skip("Clarabel solves for kernels without a constant diagonal, to a tolerance of its own")
    options = {"kernel": kernel, "delta": 0.1}
    rule = f"^{classifier.__name__}: the solver did not reach tol=1e-17 within 100 iterations a row; raise tol$"
    with pytest.warns(ConvergenceWarning, match=rule):
        model = classifier(tol=1e-17, **options).fit(ROWS)
    exact = classifier(tol=1e-6, **options).fit(ROWS)
    np.testing.assert_allclose(model.score_samples(FRESH), exact.score_samples(FRESH), atol=1e-4)


@pytest.mark.parametrize("machine", ["OCKELM", "VOCKELM", "AAKELM", "VAAKELM"])
@pytest.mark.parametrize("kind", [np.float64, np.float32], ids=lambda kind: kind.__name__)
def test_a_penalty_lost_to_rounding_is_refused_where_features_need_it(machine, kind):
    X, C = ROWS.astype(kind), 1e13 if kind is np.float64 else 1e6
    for fit in (lambda m: m.fit(X), lambda m: m.fit_chunks([X[:20], X[20:]]), lambda m: m.fit(X, groups=OWNERS)):
        model = getattr(oneclass, machine)(C=C, delta=0.1, approximation=Nystrom(60))
        refused = r"(lam / C must be at least .* got 1e-(13|06): |C must be at most 8.4e\+04)"
        with pytest.raises(ValueError, match=f"^{machine}: {refused}"):
            fit(model)
        model.set_params(C=C / 100)
        assert np.all(fit(model).predict(FAR.astype(kind)) == -1)


STREAMS = {
    "half_life": lambda v: {"half_life": v, "window": None},
    "window": lambda v: {"window": v},
    "delta": lambda v: {"delta": v},
    "patience": lambda v: {"patience": v},
    "rows": lambda v: {"patience": Patience(rows=v)},
    "trial": lambda v: {"patience": Patience(trial=v)},
    "steepness": lambda v: {"patience": Patience(steepness=v)},
    "level": lambda v: {"change": Martingale(level=v)},
    "C": lambda v: {"estimator": VAAKELM(C=v)},
    "lam": lambda v: {"estimator": VAAKELM(lam=v)},
    "sigma": lambda v: {"estimator": VAAKELM(sigma=v, kernel="rbf")},
}


@pytest.mark.parametrize("parameter", STREAMS)
@given(value=SIZES)
@example(value=5e-324)
@example(value=math.nextafter(math.inf, 0))
def test_a_stream_learns_or_refuses_a_number_of_any_size(parameter, value):
    def fit():
        rng = np.random.default_rng(0)
        stream = Stream(**STREAMS[parameter](value)).fit(ROWS)
        for k in range(4):
            stream.watch(rng.normal(size=(50, 2)) + 8 * (k > 1))
        for event in stream.events_[-3:]:
            if event.kind in ("change", "mode", "wider"):
                stream.forget(event)
        return stream

    assert_answers_or_refuses("Stream", fit, ROWS, known=("Patience", "Martingale", "VAAKELM"))

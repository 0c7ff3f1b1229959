import logging
from itertools import product

import numpy as np
import pytest

from oneclass import AAKELM, OCKELM, VAAKELM, VOCKELM, DependentRowsWarning, Fourier, Nystrom
from oneclass.core import features
from oneclass.core.arrays import is_foreign, namespace
from oneclass.machines import approximate
from oneclass.machines import auto_approximation as auto
from oracle.comparison import assert_agree
from oracle.problems import EMBEDDINGS

LOSSES = ["reconstruction", "uncertainty", "predictive", "either"]
VARIANCES = [EMBEDDINGS[name] | {"lam": 0.2, "n_clusters": 4} for name in ("none", "class", "own", "global")]
CHOICES = [
    (OCKELM, {}),
    *((VOCKELM, variance) for variance in VARIANCES),
    *((AAKELM, {"loss": loss}) for loss in LOSSES),
    *((VAAKELM, variance | {"loss": loss}) for variance in VARIANCES for loss in LOSSES),
]
WEIGHTS = {
    "unweighted": None,
    "copies": np.tile([1.0, 3.0, 2.0], 24),
    "fractions": np.tile([0.3, 1.0, 2.5], 24),
    "zeros": np.tile([0.0, 1.0, 2.0], 24),
}
APPROXIMATIONS = [Nystrom(30), Nystrom(30, "kmeans"), Nystrom(30, "uniform"), Fourier(30)]


@pytest.fixture(scope="module", params=CHOICES, ids=lambda c: f"{c[0].__name__}-{'-'.join(map(str, c[1].values()))}")
def choice(request):
    """A function of more parameters that makes a machine."""
    machine, params = request.param
    return lambda **more: machine(**{"C": 8.0, "sigma": "mean", "delta": 0.1} | params | more)


@pytest.fixture(scope="module")
def copied(rows):
    """72 rows, 60 of them distinct."""
    return np.vstack([rows, rows[:12]])


def answers(model, fresh):
    """All results of a machine."""
    said = {"score_samples": model.score_samples(fresh), "offset_": np.array([model.offset_])}
    if model.calibration_ is not None:
        said["p_value"] = model.p_value(fresh)
    if hasattr(model, "reconstruct"):
        said["reconstruct"] = model.reconstruct(fresh)
        if model.get_params()["loss"] != "uncertainty":
            said["explain"] = model.explain(fresh).parts
    return said


def assert_same(model, other, fresh, tolerance):
    expected = answers(other, fresh)
    assert answers(model, fresh).keys() == expected.keys()
    for name, said in answers(model, fresh).items():
        assert_agree(said, expected[name], tolerance)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.parametrize("weights", WEIGHTS)
def test_all_distinct_rows_as_landmarks_are_the_exact_machine(choice, copied, fresh, weights):
    w = WEIGHTS[weights]
    exact = choice().fit(copied, sample_weight=w)
    model = choice(approximation=Nystrom(60)).fit(copied, sample_weight=w)
    assert exact.approximation_ is None
    assert model.approximation_ == Nystrom(60)
    assert_same(model, exact, fresh, 1e-8)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.parametrize(
    ("machine", "params"),
    [
        (OCKELM, {"threshold": "authors"}),
        (VOCKELM, {"threshold": "mean"}),
        (VOCKELM, {"threshold": "train"}),
        (AAKELM, {"threshold": "train", "loss": "predictive"}),
        (AAKELM, {"threshold": "authors"}),
        (AAKELM, {"kernel": "laplacian"}),
        (AAKELM, {"kernel": "polynomial", "loss": "reconstruction"}),
        (AAKELM, {"kernel": "linear"}),
        (VAAKELM, {"sigma": "median"}),
        (VAAKELM, {"sigma": "likelihood", "C": "likelihood"}),
        (VAAKELM, {"scale": False, "sigma": 80.0}),
    ],
    ids=str,
)
def test_all_distinct_rows_as_landmarks_are_exact_for_other_choices(machine, params, copied, fresh):
    params = {"C": 8.0, "sigma": "mean", "delta": 0.1} | params
    model = machine(approximation=Nystrom(60), **params).fit(copied)
    assert_same(model, machine(**params).fit(copied), fresh, 1e-8)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.parametrize("approximation", APPROXIMATIONS, ids=str)
def test_weights_are_copies_for_approximations_too(machine, rows, fresh, approximation):
    w = np.tile([1.0, 2.0, 3.0], 20)
    params = {"C": 8.0, "sigma": "mean", "delta": 0.1, "approximation": approximation}
    weighted = machine(**params).fit(rows, sample_weight=w)
    assert_same(weighted, machine(**params).fit(np.repeat(rows, w.astype(int), axis=0)), fresh, 1e-8)


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # copies are what this is about
@pytest.mark.parametrize("values", [2, 3])
def test_weights_are_copies_for_centres_of_small_integers_too(machine, values):
    X = np.array(list(product(range(values), repeat=6 // values + 2)), dtype=float)
    w = np.random.default_rng(0).integers(1, 4, len(X))
    params = {"sigma": "mean", "approximation": Nystrom(20, "kmeans")}
    weighted = machine(**params).fit(X, sample_weight=w)
    repeated = machine(**params).fit(np.repeat(X, w, axis=0))
    assert_agree(weighted.score_samples(X), repeated.score_samples(X), 1e-8)


def test_features_without_whitening_give_the_same_machine(choice, rows, fresh, monkeypatch):
    params = {"sigma": 0.8, "approximation": Nystrom(20)}
    monkeypatch.setattr(features, "_FEATURE_ROUNDING", 0.0)
    whitened = choice(**params).fit(rows)
    monkeypatch.setattr(approximate, "_EXTRA_PASS_COST", 0)
    plain = choice(**params).fit(rows)
    assert (whitened.model_.map.whitening is None, plain.model_.map.whitening is None) == (False, True)
    assert_same(plain, whitened, fresh, 1e-8)


def test_more_landmarks_come_closer_to_the_exact_machine():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(600, 2)), rng.normal(size=(100, 2))
    params = {"C": 8.0, "kernel": "rbf", "sigma": 1.0, "scale": "zscore", "loss": "predictive"}
    exact = VAAKELM(**params).fit(X).score_samples(Z)
    for sizes, kind in (((10, 30, 90), Nystrom), ((8, 60, 600), Fourier)):
        errors = [
            np.median(np.abs(VAAKELM(approximation=kind(m), **params).fit(X).score_samples(Z) - exact)) for m in sizes
        ]
        assert errors[0] > 2 * errors[1] > 4 * errors[2]


@pytest.mark.parametrize("approximation", APPROXIMATIONS, ids=str)
def test_every_library_fits_the_same_approximation(machine, xp, rows, fresh, approximation):
    params = {"C": 8.0, "sigma": "mean", "delta": 0.1, "approximation": approximation}
    model, reference = machine(**params).fit(xp.asarray(rows)), machine(**params).fit(rows)
    expected = answers(reference, fresh)
    for name, said in answers(model, xp.asarray(fresh)).items():
        assert name in ("offset_", "explain") or namespace(said) is xp
        assert_agree(said, expected[name], 1e-9)


@pytest.mark.parametrize("approximation", [None, *APPROXIMATIONS], ids=str)
def test_a_device_computes_what_numpy_does_and_gives_numpy_back(machine, rows, fresh, approximation):
    pytest.importorskip("torch")
    params = {"C": 8.0, "sigma": "mean", "delta": 0.1, "approximation": approximation}
    model = machine(device="cpu", **params).fit(rows)
    assert is_foreign(model.model_.weights)
    assert all(isinstance(said, np.ndarray) for said in answers(model, fresh).values())
    assert isinstance(model.predict(fresh), np.ndarray)
    assert_same(model, machine(**params).fit(rows), fresh, 1e-10)


# Pivots differ enough for any number of them; other landmarks may be equal in single precision.
@pytest.mark.parametrize("approximation", [Nystrom(200), Nystrom(20, "kmeans"), Nystrom(20, "uniform")], ids=str)
@pytest.mark.parametrize("affordable", [True, False])
def test_single_precision_is_close_to_double(machine, approximation, affordable, monkeypatch):
    rng = np.random.default_rng(0)
    X, Z = (rng.normal(size=(n, 2)).astype(np.float32) for n in (1000, 50))
    if not affordable:
        monkeypatch.setattr(approximate, "_EXTRA_PASS_COST", 0)
    params = {"C": 8.0, "kernel": "rbf", "sigma": 1.0, "scale": "zscore", "approximation": approximation}
    single, double = (machine(**params).fit(X.astype(kind)) for kind in (np.float32, float))
    scores = single.score_samples(Z)
    assert scores.dtype == np.float32
    assert_agree(scores, double.score_samples(Z.astype(float)), 2e-3)
    assert np.mean(np.abs(single.p_value(Z) - double.p_value(Z.astype(float)))) < 0.02


@pytest.mark.parametrize("approximation", APPROXIMATIONS, ids=str)
def test_the_random_state_draws_the_features(rows, fresh, approximation):
    def scores(random_state):
        model = AAKELM(C=8.0, sigma="mean", approximation=approximation, random_state=random_state)
        return model.fit(rows).score_samples(fresh)

    np.testing.assert_array_equal(scores(None), scores(None))
    np.testing.assert_array_equal(scores(3), scores(3))
    np.testing.assert_array_equal(scores(3), scores(np.random.RandomState(3)))
    assert np.max(np.abs(scores(3) - scores(4))) > 1e-6


# The choice by itself.


@pytest.mark.parametrize(
    ("limits", "chosen", "words"),
    [
        ({}, None, "an exact fit for 60 rows"),
        ({"_EXACT_ROWS": 59}, Nystrom(1000), "Nystrom(m=1000, landmarks='leverage') for 60 rows"),
        ({"_EXACT_ROWS": 60}, None, "an exact fit for 60 rows"),
        (
            {"has_room": lambda need, like: need < 3 * 8 * 60 * 60},
            Nystrom(1000),
            "Nystrom(m=1000, landmarks='leverage') for 60 rows",
        ),
    ],
    ids=["few", "many", "just few enough", "no memory"],
)
def test_auto_fits_exactly_while_it_can_and_says_what_it_chose(
    machine, rows, fresh, monkeypatch, caplog, limits, chosen, words
):
    for name, value in limits.items():
        monkeypatch.setattr(auto, name, value)
    with caplog.at_level(logging.INFO, logger="oneclass"):
        model = machine(approximation="auto", C=8.0, sigma="mean").fit(rows)
    assert model.approximation_ == chosen
    assert caplog.messages == [f"{machine.__name__}: approximation='auto' chose {words}"]
    same = machine(approximation=chosen, C=8.0, sigma="mean").fit(rows)
    np.testing.assert_array_equal(model.score_samples(fresh), same.score_samples(fresh))


@pytest.mark.filterwarnings("ignore::oneclass.DependentRowsWarning")  # of copies
@pytest.mark.parametrize("approximation", [None, "auto"])
def test_chunks_mean_by_auto_what_rows_in_memory_do(machine, copied, fresh, approximation, monkeypatch):
    params = {"approximation": approximation, "C": 8.0, "sigma": "mean", "delta": 0.1}
    chunks = np.array_split(copied, [5, 40])
    model = machine(**params).fit_chunks(chunks)
    assert model.approximation_ is None
    assert_same(model, machine(**params).fit(copied), fresh, 1e-9)
    monkeypatch.setattr(auto, "_EXACT_ROWS", 71)
    assert machine(**params).fit_chunks(chunks).approximation_ == Nystrom(1000)


@pytest.mark.parametrize("kind", [VOCKELM, VAAKELM])
def test_auto_is_exact_where_nothing_else_is_possible(kind, rows, monkeypatch):
    monkeypatch.setattr(auto, "_EXACT_ROWS", 59)
    assert kind(variance=np.eye(60)).fit(rows).approximation_ is None
    assert kind().fit(rows).approximation_ == Nystrom(1000)


@pytest.mark.parametrize("value", ["nystrom", 100, Nystrom, True, 0.5], ids=repr)
@pytest.mark.parametrize("verb", ["fit", "fit_chunks"])
def test_what_is_no_approximation_is_refused(machine, rows, verb, value):
    with pytest.raises(ValueError, match=rf"^{machine.__name__}: approximation must be None, 'auto'.* got ") as error:
        getattr(machine(approximation=value), verb)(rows)
    assert str(error.value).endswith(repr(value))


@pytest.mark.parametrize("kind", [Nystrom, Fourier])
@pytest.mark.parametrize("m", [0, -1, 2.5, "many", True, None])
def test_the_size_of_an_approximation_is_a_whole_number(kind, m):
    with pytest.raises(ValueError, match=f"^{kind.__name__}: m must be a whole number of at least 1, got {m!r}"):
        kind(m)


def test_landmarks_follow_a_known_rule():
    with pytest.raises(
        ValueError, match=r"^Nystrom: landmarks must be one of 'leverage', 'kmeans', 'uniform'; got 'all'"
    ):
        Nystrom(10, "all")


@pytest.mark.parametrize("approximation", [Nystrom(10), Fourier(10)], ids=str)
def test_a_precomputed_kernel_needs_an_exact_fit(machine, rows, approximation):
    with pytest.raises(ValueError, match=rf"^{machine.__name__}: kernel='precomputed' needs an exact fit"):
        machine(kernel="precomputed", approximation=approximation).fit(rows @ rows.T)


def test_a_variance_matrix_needs_an_exact_fit(rows):
    for machine in (VOCKELM, VAAKELM):
        with pytest.raises(ValueError, match=rf"^{machine.__name__}: a matrix as variance needs an exact fit"):
            machine(variance=np.eye(60), approximation=Nystrom(10)).fit(rows)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", lambda X, Y: X @ Y.T], ids=["linear", "polynomial", "call"])
def test_fourier_features_need_a_radial_kernel(rows, kernel):
    with pytest.raises(ValueError, match=r"Fourier: the kernel must be radial \(rbf or laplacian\)"):
        AAKELM(kernel=kernel, approximation=Fourier(10)).fit(rows)


@pytest.mark.parametrize(
    ("name", "value"),
    [("C", -1.0), ("sigma", "wide"), ("scale", "yes"), ("delta", 1.0), ("threshold", "none")],
)
def test_bad_parameters_are_named_as_in_an_exact_fit(machine, rows, name, value):
    messages = []
    for approximation in (None, Nystrom(10)):
        with pytest.raises(ValueError, match=rf"^{machine.__name__}: {name} must") as error:
            machine(**{name: value}, approximation=approximation).fit(rows)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("machine", [OCKELM, VOCKELM, AAKELM, VAAKELM])
def test_landmarks_that_span_nothing_are_exact_too(machine, capfd):
    X, Z = np.ones((50, 3)), np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    exact, found = (machine(kernel="linear", approximation=a).fit(X) for a in (None, Nystrom(10)))
    assert_agree(found.score_samples(Z), exact.score_samples(Z), 1e-12)
    assert list(found.predict(Z)) == list(exact.predict(Z))
    assert capfd.readouterr() == ("", "")  # LAPACK complains there


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["uncertainty", "predictive"])
def test_landmarks_that_are_known_well_are_on_no_other_side_of_their_own_threshold(loss, seed):
    # Heavy near-copies leave almost no variance: a shortcut would compute rounding errors only.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 4))
    X[70:] = X[:30] + 2e-5 * rng.normal(size=(30, 4))
    machine = AAKELM(C=1, loss=loss, approximation=Nystrom(100), scale=False, threshold="train", delta=0.01)
    with pytest.warns(DependentRowsWarning):
        machine.fit(X, sample_weight=np.repeat([1, 2000], [70, 30]))
    np.testing.assert_array_equal(machine.predict(X[70:]), np.ones(30))  # the first of them is where the threshold is

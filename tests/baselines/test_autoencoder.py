import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPRegressor

from oneclass import AutoencoderDetector


@pytest.fixture(scope="module")
def curve():
    """Rows on a curve through five features, with a little noise."""
    random = np.random.default_rng(0)
    t = random.uniform(-1, 1, size=(150, 1))
    return np.hstack([t, t**2, np.sin(3 * t), -t, t**3]) + 0.02 * random.normal(size=(150, 5))


def untrained(model, Z):
    """Losses of the same network with weights as drawn, before any step."""
    blank = MLPRegressor(
        hidden_layer_sizes=model.hidden_layer_sizes,
        activation=model.activation,
        random_state=model.random_state,
        learning_rate_init=1e-12,
        max_iter=1,
        batch_size=len(Z),
        solver="sgd",
    )
    with pytest.warns(ConvergenceWarning):
        blank.fit(Z, Z)
    return ((Z - blank.predict(Z)) ** 2).sum(axis=1)


def test_training_makes_losses_many_times_smaller_than_an_untrained_networks(curve):
    model = AutoencoderDetector(hidden_layer_sizes=3, max_iter=3000, random_state=0).fit(curve)
    Z = model.scaler_(curve)
    assert untrained(model, Z).mean() > 20 * -model.score_samples(curve).mean()


def test_rows_off_the_curve_are_rebuilt_worse_than_rows_on_it(curve):
    random = np.random.default_rng(1)
    model = AutoencoderDetector(hidden_layer_sizes=2, max_iter=3000, random_state=0).fit(curve)
    shuffled = np.column_stack([random.permutation(column) for column in curve.T])  # same margins, no curve
    X, normal = np.concatenate([curve, shuffled]), np.repeat([1, 0], 150)
    assert roc_auc_score(normal, model.score_samples(X)) > 0.9
    assert roc_auc_score(normal, -untrained(model, model.scaler_(X))) < 0.8


def test_the_network_has_the_papers_shape_by_default(curve):
    model = AutoencoderDetector(max_iter=3000, random_state=0, threshold="train").fit(curve)
    assert [w.shape for w in model.coefs_] == [(5, 5), (5, 5)]
    hidden = np.tanh(model.scaler_(curve) @ model.coefs_[0] + model.intercepts_[0])
    outputs = hidden @ model.coefs_[1] + model.intercepts_[1]
    np.testing.assert_allclose(model.reconstruct(curve), model.scaler_.inverse(outputs))
    np.testing.assert_allclose(model.explain(curve).parts, ((model.scaler_(curve) - outputs) ** 2))


@pytest.mark.parametrize("activation", ["tanh", "relu", "logistic", "identity"])
@pytest.mark.parametrize("features", [1, 5])
def test_rows_are_rebuilt_as_scikit_learns_network_rebuilds_them(curve, activation, features, monkeypatch):
    fitted = []
    monkeypatch.setattr(
        MLPRegressor, "fit", lambda self, *given, fit=MLPRegressor.fit: fitted.append(fit(self, *given))
    )
    model = AutoencoderDetector(hidden_layer_sizes=(3, 2), activation=activation, threshold="train", scale=False)
    X = curve[:, :features]
    model.fit(X)
    np.testing.assert_array_equal(model.reconstruct(2 * X), fitted[0].predict(2 * X).reshape(X.shape))


def test_hidden_layers_can_be_chosen(curve):
    model = AutoencoderDetector(hidden_layer_sizes=(4, 2, 4), max_iter=5000, random_state=0, threshold="train")
    assert [w.shape for w in model.fit(curve).coefs_] == [(5, 4), (4, 2), (2, 4), (4, 5)]


def test_one_warning_says_that_the_network_did_not_converge(curve):
    message = "AutoencoderDetector: the network did not converge in max_iter=3 iterations"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        AutoencoderDetector(max_iter=3, random_state=0).fit(curve)
    assert len(caught) == 1

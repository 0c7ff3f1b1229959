"""AutoencoderDetector: reject rows that a small neural network cannot rebuild."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from ..base.checks import check_choice, check_integer, check_number
from ..base.seeds import seeded
from ..base.warnings import warn
from ..core.arrays import Array
from ..core.stored import Count, Floats, OneOf, must
from ..core.typing import Rows, Seed
from ._base import Explained, ExplainedModel, Training

__all__ = ["AutoencoderDetector"]


@final
class AutoencoderDetector(Explained["_Network"]):
    """Reject rows that a small neural network cannot rebuild.

    The network maps a row through its hidden units to linear outputs that should equal the row; the loss is the squared
    error of the reconstruction.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=5
        Units of the hidden layer, or of each of several.
    activation : {"tanh", "relu", "logistic", "identity"}, default="tanh"
        Output of a hidden unit.
    alpha : float in [0, inf), default=1e-4
        Weight of the squared norm of the network's weights.
    max_iter : int, default=2000
        Iterations of L-BFGS; a warning says when they were too few.
    scale : {"zscore", "robust"} or False, default="zscore"
        Whether features are z-scored first, or tamed as the machines do (``asinh`` around the median), or left as they
        are; constant ones are centred only.
    delta : float in [0, 1), default=0.05
        False-alarm rate asked for: the share of normal rows that may be rejected.
    threshold : {"held_out", "train", "authors"}, default="held_out"
        Where the decision sits: the (1 - delta) quantile of held-out losses (five folds), which delivers the rate
        asked for; dd_tools' rule on training losses; the rule of the VAAKELM authors' released code. Only the
        first has the held-out losses that p-values and other budgets need.
    confidence : float in (0, 1), optional
        Chance with which this very model keeps `delta`. By default it is kept on average over training sets; a model
        that is to be sure of it rejects less.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights; None draws the same every time.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    calibration_ : Calibration or None
        Held-out losses of the training rows, behind thresholds and p-values; None if the threshold needed none.
    coefs_, intercepts_ : lists of arrays
        Weights and biases of the layers, for rows in z-scores.
    n_iter_ : int
        Iterations that its fit took.
    scaler_, n_features_in_, feature_names_in_
        Fitted scaling; as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass.baselines import AutoencoderDetector
    >>> t = np.random.default_rng(0).normal(size=(200, 1))
    >>> X = np.hstack([t, t]) + 0.1 * np.random.default_rng(1).normal(size=(200, 2))
    >>> AutoencoderDetector(hidden_layer_sizes=1, random_state=0).fit(X).predict([[1.0, 1.0], [1.0, -1.0]])
    array([ 1, -1])
    """

    _published: ClassVar = ("coefs", "intercepts", "n_iter")
    model_: _Network

    def __init__(
        self,
        *,
        hidden_layer_sizes: int | Sequence[int] = 5,
        activation: str = "tanh",
        alpha: float = 1e-4,
        max_iter: int = 2000,
        scale: str | bool = "zscore",
        delta: float = 0.05,
        threshold: str = "held_out",
        confidence: float | None = None,
        random_state: Seed = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.max_iter = max_iter
        self.scale = scale
        self.delta = delta
        self.threshold = threshold
        self.confidence = confidence
        self.random_state = random_state

    def reconstruct(self, X: Rows) -> Array:
        """The rows as the network rebuilds them, in the user's own units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to rebuild.

        Returns
        -------
        array of shape (n_samples, n_features)
            Expected values of every feature.
        """
        return self._of_rows(X, lambda one, rows: one._expected(rows))

    def _learn(self, training: Training) -> _Network:
        Z, max_iter = training.Z, check_integer(self, "max_iter", 1)
        network = MLPRegressor(
            hidden_layer_sizes=self._layers(),
            activation=check_choice(self, "activation", tuple(_ACTIVATIONS)),
            solver="lbfgs",
            alpha=check_number(self, "alpha", 0, np.inf, closed_low=True),
            max_iter=max_iter,
            max_fun=20 * max_iter,  # line searches take a few each; the iterations are the limit
            random_state=seeded(self.random_state),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(Z, Z if Z.shape[1] > 1 else Z[:, 0])
        return _Network(network.coefs_, network.intercepts_, network.activation, network.n_iter_)

    def _layers(self) -> tuple[int, ...]:
        sizes = np.atleast_1d(np.asarray(self.hidden_layer_sizes))
        if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) == 0 or sizes.min() < 1:
            raise ValueError(
                f"{self._name}: hidden_layer_sizes must be a whole number of at least 1, or a sequence of them; got "
                f"{self.hidden_layer_sizes!r}"
            )
        return tuple(int(size) for size in sizes)

    def _after(self, model: _Network) -> None:
        if model.n_iter >= self.max_iter:
            warn(
                f"{self._name}: the network did not converge in max_iter={self.max_iter} iterations; allow more, or "
                "raise alpha",
                ConvergenceWarning,
            )


#: Outputs of hidden units by name.
_ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "logistic": expit,
    "identity": lambda x: x,
}


@dataclass(frozen=True)
class _Network(ExplainedModel):
    coefs: list[Annotated[Array, Floats("* *")]]
    intercepts: list[Annotated[Array, Floats("*")]]
    activation: Annotated[str, OneOf(*_ACTIVATIONS)]
    n_iter: Count

    def __check__(self) -> dict[str, int]:
        must(len(self.coefs) == len(self.intercepts) > 0, "coefs must be as many as intercepts")
        into, out = ([A.shape[side] for A in self.coefs] for side in (0, 1))
        must(into == [out[-1], *out[:-1]], "coefs must lead from the columns through the layers to the columns")
        must(out == [len(b) for b in self.intercepts], "intercepts must be as many as the units of their layer")
        return {"d": into[0]}

    def expected(self, Z: Array) -> Array:
        activate = _ACTIVATIONS[self.activation]
        for coefs, intercepts in zip(self.coefs[:-1], self.intercepts[:-1], strict=True):
            Z = activate(Z @ coefs + intercepts)
        return Z @ self.coefs[-1] + self.intercepts[-1]

    def contributions(self, Z: Array) -> Array:
        return (Z - self.expected(Z)) ** 2

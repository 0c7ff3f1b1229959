"""AutoencoderDetector: reject rows that a small neural network reconstructs badly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from ..base.checks import LARGEST_FACTOR, check_choice, check_integer, check_number
from ..base.seeds import seeded
from ..base.warnings import ignoring, warn
from ..core.arrays import Array
from ..core.stored import Count, Floats, OneOf, must
from ..core.typing import Rows, Seed
from ._base import Explained
from ._training import ExplainedModel, Training

__all__ = ["AutoencoderDetector"]


@final
class AutoencoderDetector(Explained["_Network"]):
    """Reject rows that a small neural network reconstructs badly.

    The network is trained to output its input, through hidden layers and a linear output layer. The loss is the squared
    error of the reconstruction.

    Parameters
    ----------
    {delta_of_folds}
    {confidence}
    {rate_by}
    hidden_layer_sizes : int or sequence of int, default=5
        Number of units of the hidden layer, or of each hidden layer. A narrow layer between wider ones, as in
        ``(8, 3, 8)``, makes a diabolo network.
    activation : {"tanh", "relu", "logistic", "identity"}, default="tanh"
        Activation function of the hidden units.
    alpha : float in [0, 1e100), default=1e-4
        Weight of the squared norm of the network's weights.
    max_iter : int, default=2000
        Largest number of iterations of L-BFGS. A warning says if they were too few.
    {scale}
    {threshold_of_folds}
    {hold_out}
    random_state : int, RandomState instance or None, default=None
        Seed of the initial weights. None gives the same result at every fit.

    Attributes
    ----------
    {offset_}
    {calibration_or_none_}
    coefs_, intercepts_ : lists of arrays
        Weights and biases of the layers, for scaled rows.
    n_iter_ : int
        Number of iterations.
    {scaler_and_features_}

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
        delta: float = 0.05,
        confidence: float | None = None,
        rate_by: str = "group",
        hidden_layer_sizes: int | Sequence[int] = 5,
        activation: str = "tanh",
        alpha: float = 1e-4,
        max_iter: int = 2000,
        scale: str | bool = "zscore",
        threshold: str = "held_out",
        hold_out: str | float = "auto",
        random_state: Seed = None,
    ) -> None:
        self.delta = delta
        self.confidence = confidence
        self.rate_by = rate_by
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.max_iter = max_iter
        self.scale = scale
        self.threshold = threshold
        self.hold_out = hold_out
        self.random_state = random_state

    def reconstruct(self, X: Rows) -> Array:
        """Reconstruct rows, in the units of the data.

        Parameters
        ----------
        {rows_to_reconstruct}

        Returns
        -------
        array of shape (n_samples, n_features)
            Expected value of each feature.
        """
        return self._of_rows(X, lambda one, rows: one._expected(rows))

    def _learn(self, training: Training) -> _Network:
        Z, max_iter = training.Z, check_integer(self, "max_iter", 1)
        network = MLPRegressor(
            hidden_layer_sizes=self._layers(),
            activation=check_choice(self, "activation", tuple(_ACTIVATIONS)),
            solver="lbfgs",
            alpha=check_number(self, "alpha", 0, LARGEST_FACTOR, closed_low=True),
            max_iter=max_iter,
            max_fun=20 * max_iter,  # a line search takes a few evaluations; only max_iter limits the fit
            random_state=seeded(self.random_state),
        )
        with ignoring(ConvergenceWarning):
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


#: Activation functions by name.
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

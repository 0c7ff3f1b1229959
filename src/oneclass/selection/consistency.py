"""The consistency rule: the most complex model that still rejects no more held-out targets than it promised."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..base.protocol import Estimator

__all__ = ["consistency_scores", "promised"]

Float = NDArray[np.float64]


def consistency_scores(rejected: Float, delta: Float, complexity: Float, n: int) -> Float:
    r"""One number a model, largest for the most complex consistent one (Tax and Müller, 2004).

    A model is consistent when the share of held-out targets that it rejects is at most :math:`\delta + 2\sigma`,
    :math:`\sigma = \sqrt{\delta(1-\delta)/n}`. Consistent models score their place in the order of complexity (from 1);
    the others score minus the excess of their rejected share, so that without a consistent model the least
    inconsistent one is first.

    Parameters
    ----------
    rejected, delta, complexity : arrays of shape (n_models,)
        Share of held-out targets rejected, share promised, and any measure that orders models by complexity.
    n : int
        Number of held-out targets.

    Returns
    -------
    array of shape (n_models,)

    Examples
    --------
    >>> import numpy as np
    >>> rejected = np.array([0.04, 0.09, 0.11])
    >>> scores = consistency_scores(rejected, np.full(3, 0.05), np.array([1.0, 2.0, 3.0]), n=100)
    >>> int(scores.argmax())  # 0.05 + 2 sigma = 0.0936: the second model is the last within it
    1
    """
    bound = delta + 2 * np.sqrt(delta * (1 - delta) / n)
    order = np.unique(complexity, return_inverse=True)[1] + 1.0
    # A rejected count that stands for the bound itself must not fail by rounding.
    return np.where(rejected <= bound + 1e-12, order, bound - rejected)


def promised(estimator: Estimator) -> float:
    """The share of targets that an estimator is asked to reject: its `delta`, `nu` or `contamination`.

    Parameters
    ----------
    estimator : estimator
        Any one-class classifier.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.svm import OneClassSVM
    >>> promised(OneClassSVM(nu=0.1))
    0.1
    """
    params = estimator.get_params()
    for name in ("delta", "nu", "contamination"):
        value = params.get(name)
        if isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    raise ValueError(
        f"{type(estimator).__name__}: criterion='consistency' must know the false-alarm rate asked for, but none of "
        "its parameters delta, nu and contamination is a number"
    )

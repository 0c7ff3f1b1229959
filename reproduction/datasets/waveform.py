"""Generator of Waveform rows: noisy mixtures of two of three triangular waves."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["waveform_generator"]

# Peaks at features 7, 15 and 11 (from 1); class c mixes the pair PAIRS[c].
PEAKS = np.array([7, 15, 11])
PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def waveform_generator(
    n: int, random_state: int | np.random.Generator | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    r"""Draw rows of the waveform recognition problem ([1]_, pp. 49-55).

    A row of class c is :math:`u h_a + (1 - u) h_b + \epsilon`: ``u`` uniform on [0, 1], ``h_a`` and ``h_b`` the two
    base waves of the class (triangles of height 6 on 21 features), and standard normal noise on every feature.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, Generator or None
        Seed or generator.

    Returns
    -------
    X : ndarray of shape (n, 21)
    wave : ndarray of shape (n,)
        Class 0, 1 or 2, equally likely, numbered as in UCI's file. The paper's target is class 1.

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone. Classification and Regression Trees. 1984.

    Examples
    --------
    >>> from reproduction.datasets import waveform_generator
    >>> X, wave = waveform_generator(900, random_state=0)
    >>> y = (wave == 1) * 2 - 1
    >>> X.shape, y.shape
    ((900, 21), (900,))
    """
    rng = np.random.default_rng(random_state)
    base = np.maximum(6 - np.abs(np.arange(1, 22) - PEAKS[:, None]), 0)
    wave = rng.integers(3, size=n)
    u = rng.random((n, 1))
    pair = base[PAIRS[wave]]
    return u * pair[:, 0] + (1 - u) * pair[:, 1] + rng.standard_normal((n, 21)), wave

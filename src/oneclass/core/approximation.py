"""Choices of explicit features: kernel approximations (Nystrom, Fourier) and a random hidden layer, with their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .arrays import Array
from .features import ACTIVATIONS, FourierMap, LayerMap, NystromMap
from .kernels import Kernel, Radial
from .landmarks import LANDMARKS, choose_landmarks
from .stored import OneOf, Within

__all__ = ["Approximation", "Fourier", "HiddenLayer", "Nystrom"]


def _check_size(name: str, m: object) -> None:
    if not isinstance(m, int | np.integer) or isinstance(m, bool) or m < 1:
        raise ValueError(f"{name}: m must be a whole number of at least 1, got {m!r}")


@dataclass(frozen=True)
class Nystrom:
    """Nystrom approximation of a kernel with `m` landmarks chosen among the training rows.

    Parameters
    ----------
    m : int, default=1000
        Number of landmarks. If it is at least the number of distinct rows, the machine is exact.
    landmarks : {"leverage", "kmeans", "uniform"}, default="leverage"
        How the landmarks are chosen. "leverage" is randomly pivoted Cholesky, which prefers rows that the earlier
        landmarks do not explain. "kmeans" takes k-means centres, and "uniform" takes a uniform sample.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM, Nystrom
    >>> X = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> VAAKELM(approximation=Nystrom(100)).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    m: int = 1000
    landmarks: str = "leverage"

    def __post_init__(self) -> None:
        _check_size("Nystrom", self.m)
        if self.landmarks not in LANDMARKS:
            listed = ", ".join(repr(rule) for rule in LANDMARKS)
            raise ValueError(f"Nystrom: landmarks must be one of {listed}; got {self.landmarks!r}")

    def map(self, kernel: Kernel, Z: Array, w: Array, rng: np.random.Generator, *, whiten: bool) -> NystromMap:
        """Return the feature map for a sample `Z` of rows with weights `w`; with `whiten`, whitened if necessary."""
        landmarks = choose_landmarks(self.landmarks, kernel, Z, w, self.m, rng)
        return NystromMap.suited(kernel, landmarks) if whiten else NystromMap.of(kernel, landmarks, whiten=False)


@dataclass(frozen=True)
class Fourier:
    """`m` random Fourier features of a radial kernel: cosines and sines that do not depend on the training rows.

    Far from all training rows the features are practically random. With few features, OCKELM and VOCKELM therefore
    accept some rows with huge values: a fifth of them with 40 features, and between 0 and 3 % with 1,000 features.

    Parameters
    ----------
    m : int, default=2000
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import VAAKELM, Fourier
    >>> X = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> VAAKELM(approximation=Fourier(200)).fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    m: int = 2000

    def __post_init__(self) -> None:
        _check_size("Fourier", self.m)

    def map(self, kernel: Kernel, Z: Array, w: Array, rng: np.random.Generator, *, whiten: bool) -> FourierMap:
        """Return the feature map for rows with the columns and dtype of `Z`."""
        if not isinstance(kernel, Radial):
            raise ValueError(f"Fourier: the kernel must be radial (rbf or laplacian), got {kernel!r}")
        return FourierMap.of(kernel, self.m, rng, Z)


@dataclass(frozen=True)
class HiddenLayer:
    """`m` hidden units with random weights instead of a kernel; they do not depend on the training rows.

    This is the original extreme learning machine, before kernels replaced the hidden layer.
    """

    m: Annotated[int, Within(1, 2**31)]
    activation: Annotated[str, OneOf(*ACTIVATIONS)]

    def map(self, kernel: Kernel, Z: Array, w: Array, rng: np.random.Generator, *, whiten: bool) -> LayerMap:
        """Return the feature map for rows with the columns and dtype of `Z`."""
        return LayerMap.of(self.m, self.activation, rng, Z)


#: All choices of explicit features.
Approximation = Nystrom | Fourier | HiddenLayer

"""Explicit features by name and size: how many stand for the kernel, or in its place, and how they are chosen."""

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
    """Functions spanned by the kernel at `m` landmarks, chosen among the training rows.

    Parameters
    ----------
    m : int, default=1000
        Number of landmarks. As many as there are distinct rows gives the exact machine.
    landmarks : {"leverage", "kmeans", "uniform"}, default="leverage"
        How to choose them: by randomly pivoted Cholesky, which draws rows that the earlier landmarks do not explain; as
        centres of k-means; or uniformly.

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
        """The feature map for a sample `Z` of rows of weights `w`; it may `whiten` features that need it."""
        landmarks = choose_landmarks(self.landmarks, kernel, Z, w, self.m, rng)
        return NystromMap.suited(kernel, landmarks) if whiten else NystromMap.of(kernel, landmarks, whiten=False)


@dataclass(frozen=True)
class Fourier:
    """`m` random cosines and sines that stand for a radial kernel; they look at no row.

    Far from all rows they are random numbers: with few of them OCKELM and VOCKELM accept rows with huge values, a fifth
    of them with 40 features, and none to 3 % with 1,000.

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
        """The feature map for rows like those of `Z`."""
        if not isinstance(kernel, Radial):
            raise ValueError(f"Fourier: the kernel must be radial (rbf or laplacian), got {kernel!r}")
        return FourierMap.of(kernel, self.m, rng, Z)


@dataclass(frozen=True)
class HiddenLayer:
    """`m` hidden units with random weights, in the place of a kernel; they look at no row.

    What extreme learning machines were before kernels replaced their hidden layer.
    """

    m: Annotated[int, Within(1, 2**31)]
    activation: Annotated[str, OneOf(*ACTIVATIONS)]

    def map(self, kernel: Kernel, Z: Array, w: Array, rng: np.random.Generator, *, whiten: bool) -> LayerMap:
        """The feature map for rows like those of `Z`."""
        return LayerMap.of(self.m, self.activation, rng, Z)


#: Every way of fitting by explicit features.
Approximation = Nystrom | Fourier | HiddenLayer

"""Explicit feature maps: kernel machines whose size does not grow with the number of rows.

A map turns rows in z-scores into m features, and names the penalty of a weight vector b, ``b' penalty b``, which stands
for the norm of the function that b describes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, TypeAlias

import numpy as np

from .arrays import Array, device, namespace
from .cholesky import SingularSystemError, diagonal_of_inverse, explained, factor, solve_lower, times_upper
from .kernels import RBF, Kernel, Settled, values_among, values_in_blocks
from .stored import Floats, OneOf, must

__all__ = ["ACTIVATIONS", "FeatureMap", "FourierMap", "LayerMap", "NystromMap"]


#: Rounding, over what the others leave of a landmark, above which normal equations without whitening lose digits.
_STEADY = 1e-10


@dataclass(frozen=True)
class NystromMap:
    """Kernel values with m landmarks: the functions that the landmarks span.

    With `whitening` R (``R' k(landmarks) R = I``) the features are orthonormal coordinates, accurate however
    ill-conditioned the landmarks are; without it a row costs no product with R and the penalty is their kernel matrix.
    """

    kernel: Annotated[Kernel, Settled()]
    landmarks: Annotated[Array, Floats("_l d")]
    whitening: Annotated[Array, Floats("_l _w")] | None = None
    L: Annotated[Array, Floats("_l _l")] | None = None  # the factor of the penalty, in files of old
    triangular: bool = False  # whether the whitening is

    def __check__(self) -> dict[str, int]:
        R = self.whitening
        must(not self.triangular or (R is not None and R.shape[0] == R.shape[1]), "whitening must be square")
        return {"m": self.width if R is None else R.shape[1]}

    @classmethod
    def of(cls, kernel: Kernel, landmarks: Array, *, whiten: bool) -> NystromMap:
        """The map of these landmarks; directions lost to rounding are left out of a whitened one."""
        if not whiten:
            plain = cls(kernel, landmarks)
            _ = plain.factored  # landmarks that have none are refused here
            return plain
        xp = namespace(landmarks)
        # In double precision: small eigenvalues are where whitening loses what it loses.
        precise = xp.astype(landmarks, xp.float64)
        values, vectors = xp.linalg.eigh(kernel(precise, precise))
        first = int(xp.sum(xp.astype(values <= 4 * xp.finfo(landmarks.dtype).eps * values[-1], xp.int64)))
        return cls(kernel, landmarks, xp.astype(vectors[:, first:] / xp.sqrt(values[first:]), landmarks.dtype))

    @classmethod
    def suited(cls, kernel: Kernel, landmarks: Array) -> NystromMap:
        """The map of these landmarks, whitened only where some are so much alike that it makes a difference."""
        if namespace(landmarks).finfo(landmarks.dtype).eps <= _STEADY:
            try:
                plain = cls.of(kernel, landmarks, whiten=False)
            except SingularSystemError:  # of a kernel that is not definite some directions are
                return cls.of(kernel, landmarks, whiten=True)
            if plain.rounding <= _STEADY:
                return plain
        return cls.of(kernel, landmarks, whiten=True)

    def __getstate__(self) -> dict[str, object]:
        # Without the factor, which is worked out again: the map is as large as its landmarks.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def factored(self) -> Array | None:
        """Cholesky factor of the penalty; None if whitened."""
        if self.whitening is not None or self.L is not None:
            return self.L
        return factor(lambda: values_among(self.kernel, self.landmarks))

    def whitened(self) -> NystromMap:
        """The same functions in orthonormal coordinates, by the factor of the penalty where there is one."""
        L = self.factored
        if L is None:
            return self
        unit = namespace(L).eye(L.shape[0], dtype=L.dtype, device=device(L))
        return NystromMap(self.kernel, self.landmarks, solve_lower(L, unit).T, triangular=True)

    @property
    def rounding(self) -> float:
        """Rounding that inverting the penalty makes of ``k(z, z)``: more where others say almost all of a landmark."""
        xp = namespace(self.landmarks)
        eps = float(xp.finfo(self.landmarks.dtype).eps)
        L = self.factored
        return eps if L is None else eps * float(xp.max(self.kernel.diagonal(self.landmarks) * diagonal_of_inverse(L)))

    def __call__(self, Z: Array) -> Array:
        """Features of each row."""
        F = values_in_blocks(self.kernel, Z, self.landmarks)
        if self.whitening is None:
            return F
        return times_upper(F, self.whitening) if self.triangular else F @ self.whitening

    def outside(self, Z: Array, F: Array) -> Array:
        """``k(z, z)`` less its projection on the landmarks."""
        xp, L = namespace(F), self.factored
        reached = xp.vecdot(F, F) if L is None else explained(L, F)
        return xp.clip(self.kernel.diagonal(Z) - reached, min=0)

    @property
    def coefficients(self) -> Array:
        """From weights of the features to the coefficients of the landmarks: landmarks x m."""
        if self.whitening is not None:
            return self.whitening
        xp = namespace(self.landmarks)
        return xp.eye(self.landmarks.shape[0], dtype=self.landmarks.dtype, device=device(self.landmarks))

    @property
    def width(self) -> int:
        """Number of landmarks."""
        return int(self.landmarks.shape[0])

    @property
    def penalty(self) -> Array:
        """Kernel matrix of the landmarks, or the identity if whitened."""
        if self.whitening is None:
            return values_among(self.kernel, self.landmarks)
        k = self.whitening.shape[1]
        return namespace(self.landmarks).eye(k, dtype=self.landmarks.dtype, device=device(self.landmarks))


@dataclass(frozen=True)
class FourierMap:
    """Random Fourier features: cosines and sines at frequencies drawn from the kernel's spectrum."""

    frequencies: Annotated[Array, Floats("d _half")]

    def __check__(self) -> dict[str, int]:
        return {"m": self.width}

    @classmethod
    def of(cls, kernel: Kernel, m: int, rng: np.random.Generator, like: Array) -> FourierMap:
        """At most `m` features (an even number) for a radial kernel and rows like those of `like`."""
        shape = (like.shape[1], max(1, m // 2))
        sigma = float(kernel.sigma)  # type: ignore[attr-defined]
        # The spectrum of a Gaussian is Gaussian; that of a product of Laplacians is a product of Cauchys.
        draws = rng.normal(size=shape) if isinstance(kernel, RBF) else rng.standard_cauchy(size=shape)
        return cls(namespace(like).asarray(draws / sigma, dtype=like.dtype, device=device(like)))

    def __call__(self, Z: Array) -> Array:
        """Features of each row."""
        xp = namespace(Z)
        angles = Z @ self.frequencies
        return xp.concat([xp.cos(angles), xp.sin(angles)], axis=1) / math.sqrt(self.frequencies.shape[1])

    def outside(self, Z: Array, F: Array) -> Array:
        """Nothing: the features are all that there is."""
        return namespace(F).zeros_like(F[:, 0])

    @property
    def width(self) -> int:
        """Number of features."""
        return 2 * int(self.frequencies.shape[1])

    @property
    def penalty(self) -> Array:
        """The identity."""
        return namespace(self.frequencies).eye(
            self.width, dtype=self.frequencies.dtype, device=device(self.frequencies)
        )


def _tanh(A: Array) -> Array:
    return namespace(A).tanh(A)


def _sigmoid(A: Array) -> Array:
    """``1 / (1 + exp(-a))``, by a function that does not overflow."""
    return 0.5 + 0.5 * namespace(A).tanh(A / 2)


#: What a hidden unit makes of its input, by name.
ACTIVATIONS = {"sigmoid": _sigmoid, "tanh": _tanh}


@dataclass(frozen=True)
class LayerMap:
    """A hidden layer that is drawn and not trained: ``g(z'W + b)``."""

    weights: Annotated[Array, Floats("d m")]
    biases: Annotated[Array, Floats("m")]
    activation: Annotated[str, OneOf(*ACTIVATIONS)]

    @classmethod
    def of(cls, m: int, activation: str, rng: np.random.Generator, like: Array) -> LayerMap:
        """`m` units for rows like those of `like`, weights uniform in [-1, 1] and biases in [0, 1]."""
        xp = namespace(like)
        draws = rng.uniform(-1, 1, size=(like.shape[1], m)), rng.uniform(0, 1, size=m)
        weights, biases = (xp.asarray(draw, dtype=like.dtype, device=device(like)) for draw in draws)
        return cls(weights, biases, activation)

    def __call__(self, Z: Array) -> Array:
        """Outputs of the units for each row."""
        return ACTIVATIONS[self.activation](Z @ self.weights + self.biases)

    def outside(self, Z: Array, F: Array) -> Array:
        """Nothing: the units are all that there is."""
        return namespace(F).zeros_like(F[:, 0])

    @property
    def width(self) -> int:
        """Number of units."""
        return int(self.biases.shape[0])

    @property
    def penalty(self) -> Array:
        """The identity."""
        return namespace(self.biases).eye(self.width, dtype=self.biases.dtype, device=device(self.biases))


#: Every feature map: features of rows, what these leave of ``k(z, z)``, and the matrix of the norm.
FeatureMap: TypeAlias = NystromMap | FourierMap | LayerMap

"""Explicit feature maps, for kernel machines whose size does not depend on the number of rows.

A map computes m features of scaled rows. It also has the penalty matrix: ``b' penalty b`` is the squared norm of the
function with the feature weights b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, TypeAlias

import numpy as np

from .arrays import Array, clipped, device, namespace
from .cholesky import SingularSystemError, diagonal_of_inverse, explained, factor, solve_lower, times_upper
from .kernels import RBF, Kernel, Settled, values_among, values_in_blocks
from .stored import Floats, OneOf, must

__all__ = ["ACTIVATIONS", "FeatureMap", "FourierMap", "LayerMap", "NystromMap"]


#: Largest `NystromMap.rounding` of features without whitening: above it the normal equations lose digits.
_FEATURE_ROUNDING = 1e-10


@dataclass(frozen=True)
class NystromMap:
    """Kernel values with m landmarks: features for the span of the kernel functions at the landmarks.

    With `whitening` R (``R' k(landmarks) R = I``) the features are orthonormal coordinates, which are accurate even if
    the kernel matrix of the landmarks is ill-conditioned. Without it no product with R is needed, and the penalty is
    the kernel matrix of the landmarks.
    """

    kernel: Annotated[Kernel, Settled()]
    landmarks: Annotated[Array, Floats("_l d")]
    whitening: Annotated[Array, Floats("_l _w")] | None = None
    L: Annotated[Array, Floats("_l _l")] | None = None  # the factor of the penalty, set only in old model files
    triangular: bool = False  # whether `whitening` is triangular

    def __check__(self) -> dict[str, int]:
        R = self.whitening
        must(not self.triangular or (R is not None and R.shape[0] == R.shape[1]), "whitening must be square")
        return {"m": self.width if R is None else R.shape[1]}

    @classmethod
    def of(cls, kernel: Kernel, landmarks: Array, *, whiten: bool) -> NystromMap:
        """Return the map of these landmarks; whitening drops directions with eigenvalues that are rounding."""
        if not whiten:
            plain = cls(kernel, landmarks)
            _ = plain.factored  # raises here if the penalty has no factor
            return plain
        xp = namespace(landmarks)
        # In double precision: whitening loses its accuracy in the small eigenvalues.
        precise = xp.astype(landmarks, xp.float64)
        values, vectors = xp.linalg.eigh(kernel(precise, precise))
        first = int(xp.sum(xp.astype(values <= 4 * xp.finfo(landmarks.dtype).eps * values[-1], xp.int64)))
        return cls(kernel, landmarks, xp.astype(vectors[:, first:] / xp.sqrt(values[first:]), landmarks.dtype))

    @classmethod
    def suited(cls, kernel: Kernel, landmarks: Array) -> NystromMap:
        """Return the map of these landmarks, whitened only if some landmarks are too similar for accuracy without."""
        if namespace(landmarks).finfo(landmarks.dtype).eps <= _FEATURE_ROUNDING:
            try:
                plain = cls.of(kernel, landmarks, whiten=False)
            except SingularSystemError:  # whitening drops the directions that make the kernel matrix indefinite
                return cls.of(kernel, landmarks, whiten=True)
            if plain.rounding <= _FEATURE_ROUNDING:
                return plain
        return cls.of(kernel, landmarks, whiten=True)

    def __getstate__(self) -> dict[str, object]:
        # Without the factor, which is computed again after loading: a saved map is as large as its landmarks.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def factored(self) -> Array | None:
        """Cholesky factor of the penalty; None for a whitened map."""
        if self.whitening is not None or self.L is not None:
            return self.L
        return factor(lambda: values_among(self.kernel, self.landmarks))

    def whitened(self) -> NystromMap:
        """Return the map of the same functions with orthonormal coordinates, from the factor of the penalty."""
        L = self.factored
        if L is None:
            return self
        unit = namespace(L).eye(L.shape[0], dtype=L.dtype, device=device(L))
        return NystromMap(self.kernel, self.landmarks, solve_lower(L, unit).T, triangular=True)

    @property
    def rounding(self) -> float:
        """Relative rounding error of `outside`: large if other landmarks explain almost all of one landmark."""
        xp = namespace(self.landmarks)
        eps = float(xp.finfo(self.landmarks.dtype).eps)
        L = self.factored
        return eps if L is None else eps * float(xp.max(self.kernel.diagonal(self.landmarks) * diagonal_of_inverse(L)))

    def __call__(self, Z: Array) -> Array:
        """Return the features of each row."""
        F = values_in_blocks(self.kernel, Z, self.landmarks)
        if self.whitening is None:
            return F
        return times_upper(F, self.whitening) if self.triangular else F @ self.whitening

    def outside(self, Z: Array, F: Array) -> Array:
        """Return ``k(z, z)`` minus the part that the landmarks explain."""
        xp, L = namespace(F), self.factored
        reached = xp.vecdot(F, F) if L is None else explained(L, F)
        return clipped(self.kernel.diagonal(Z) - reached, 0.0, math.inf)

    @property
    def coefficients(self) -> Array:
        """The matrix (landmarks x m) that maps feature weights to coefficients of the landmarks."""
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
        """Kernel matrix of the landmarks, or the identity for a whitened map."""
        if self.whitening is None:
            return values_among(self.kernel, self.landmarks)
        k = self.whitening.shape[1]
        return namespace(self.landmarks).eye(k, dtype=self.landmarks.dtype, device=device(self.landmarks))


@dataclass(frozen=True)
class FourierMap:
    """Random Fourier features: cosines and sines with frequencies drawn from the spectrum of the kernel."""

    frequencies: Annotated[Array, Floats("d _half")]

    def __check__(self) -> dict[str, int]:
        return {"m": self.width}

    @classmethod
    def of(cls, kernel: Kernel, m: int, rng: np.random.Generator, like: Array) -> FourierMap:
        """Return a map with at most `m` features (an even number), for a radial kernel and rows like `like`."""
        shape = (like.shape[1], max(1, m // 2))
        sigma = float(kernel.sigma)  # type: ignore[attr-defined]
        # The spectrum of a Gaussian kernel is Gaussian; that of a Laplacian kernel is a product of Cauchy densities.
        draws = rng.normal(size=shape) if isinstance(kernel, RBF) else rng.standard_cauchy(size=shape)
        return cls(namespace(like).asarray(draws / sigma, dtype=like.dtype, device=device(like)))

    def __call__(self, Z: Array) -> Array:
        """Return the features of each row."""
        xp = namespace(Z)
        angles = Z @ self.frequencies
        return xp.concat([xp.cos(angles), xp.sin(angles)], axis=1) / math.sqrt(self.frequencies.shape[1])

    def outside(self, Z: Array, F: Array) -> Array:
        """Return zeros: the features define the model's kernel exactly."""
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
    """Return ``1 / (1 + exp(-a))``, computed with tanh, which does not overflow."""
    return 0.5 + 0.5 * namespace(A).tanh(A / 2)


#: Activation functions of hidden units by name.
ACTIVATIONS = {"sigmoid": _sigmoid, "tanh": _tanh}


@dataclass(frozen=True)
class LayerMap:
    """A hidden layer with random, untrained weights: ``g(z'W + b)``."""

    weights: Annotated[Array, Floats("d m")]
    biases: Annotated[Array, Floats("m")]
    activation: Annotated[str, OneOf(*ACTIVATIONS)]

    @classmethod
    def of(cls, m: int, activation: str, rng: np.random.Generator, like: Array) -> LayerMap:
        """Return a layer of `m` units for rows like `like`: weights uniform in [-1, 1], biases in [0, 1]."""
        xp = namespace(like)
        draws = rng.uniform(-1, 1, size=(like.shape[1], m)), rng.uniform(0, 1, size=m)
        weights, biases = (xp.asarray(draw, dtype=like.dtype, device=device(like)) for draw in draws)
        return cls(weights, biases, activation)

    def __call__(self, Z: Array) -> Array:
        """Return the outputs of the units for each row."""
        return ACTIVATIONS[self.activation](Z @ self.weights + self.biases)

    def outside(self, Z: Array, F: Array) -> Array:
        """Return zeros: the units define the model's kernel exactly."""
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

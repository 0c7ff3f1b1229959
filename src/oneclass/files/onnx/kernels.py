"""Scalings, kernels and feature maps as ONNX graphs.

Scalar factors are multiplied into the matrices. If a graph multiplies a matrix product by a scalar, onnxruntime fuses
the two, and rounds the scalar to single precision.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...core.arrays import Array, to_numpy
from ...core.features import FeatureMap, FourierMap, LayerMap, NystromMap
from ...core.kernels import RBF, Kernel, Laplacian, Linear, Polynomial
from ...core.scaling import Scaler, largest
from .tensor import Tensor, concatenate, maximum, minimum, where

__all__ = ["diagonal", "features", "outside", "product_squares", "scaled", "similarity", "solved_squares"]

Host = np.ndarray[Any, Any]


def host(x: Array) -> Host:
    """An array on the host, in double precision."""
    return np.asarray(to_numpy(x), dtype=np.float64)


def solved_squares(F: Tensor, L: Array) -> Tensor:
    """``‖L^-1 f‖²`` of each row; the graph holds the inverse, because ONNX cannot solve triangular systems."""
    return _squares(solve_triangular(np.tril(host(L)), np.eye(L.shape[0]), lower=True), F)


def product_squares(F: Tensor, L: Array) -> Tensor:
    """``‖L'f‖²`` of each row."""
    return _squares(np.tril(host(L)).T, F)


def _squares(A: Host, F: Tensor) -> Tensor:
    # The constant is the left factor, because onnxruntime copies a constant right factor. Gemm transposes by itself:
    # onnxruntime 1.19 to 1.25 cannot run a MatMul of a Transpose in double precision.
    return F.graph.apply("Gemm", A, F, transB=1).sum_squares(0)


def scaled(scaler: Scaler, X: Tensor, kind: np.dtype[np.generic]) -> Tensor:
    """Scaled rows; `kind` is the type in which the rows are given."""
    centre, scale = host(scaler.centre), host(scaler.scale)
    Z, half = (X - centre) / scale, X * 0.5 - centre / 2
    if scaler.asinh:
        size = maximum(abs(half), np.finfo(float).tiny).do("Log") + (2 * math.log(2) - np.log(scale))
        return where(abs(Z) > np.finfo(float).max, half.do("Sign") * size, _asinh(Z))  # NaN stays NaN
    precision: Any = np.result_type(kind, to_numpy(scaler.centre).dtype)
    bound = largest(precision, np)
    unit = half / _longest(half) / scale
    return where(_longest(Z) > bound, unit / _longest(unit) * bound, Z)


def _longest(rows: Tensor) -> Tensor:
    """The largest magnitude in each row, at least the smallest positive float, as a column."""
    return maximum(abs(rows).reduced("ReduceMax", 1, keep=True), np.finfo(float).tiny)


def _asinh(x: Tensor) -> Tensor:
    """The inverse of sinh in double precision, which onnxruntime lacks, without overflow for large values."""
    size, many = abs(x), 1e8
    small = minimum(size, many)
    near = (small + (small * small + 1.0).do("Sqrt")).do("Log")
    return x.do("Sign") * where(size > many, size.do("Log") + math.log(2), near)


@singledispatch
def similarity(kernel: Kernel, Z: Tensor, rows: Array) -> Tensor:
    """Kernel values between the rows `Z` and the constant `rows`."""
    raise NotImplementedError(f"the kernel {type(kernel).__name__}")


@similarity.register
def _(kernel: RBF, Z: Tensor, rows: Array) -> Tensor:
    # As in the core: rows are centred, and norms are reduced by a few rounding units, so that k(x, x) is exactly 1.
    origin, squared = host(rows).mean(axis=0), float(kernel.sigma) ** 2
    X, Y = Z - origin, host(rows) - origin
    hair = (1 - 8 * np.finfo(np.float64).eps) / 2 / squared
    norms = X.sum_squares(keep=True) * hair + hair * np.vecdot(Y, Y)
    return minimum(X @ (Y.T / squared) - norms, 0.0).do("Exp")


@similarity.register
def _(kernel: Laplacian, Z: Tensor, rows: Array) -> Tensor:
    distances = (Z.expanded(1) - host(rows)[None]).reduced("ReduceL1", 2)
    return (distances * (-1 / float(kernel.sigma))).do("Exp")


@similarity.register
def _(kernel: Polynomial, Z: Tensor, rows: Array) -> Tensor:
    return (Z @ (host(rows).T / rows.shape[1]) + kernel.coef0) ** kernel.degree


@similarity.register
def _(kernel: Linear, Z: Tensor, rows: Array) -> Tensor:
    return Z @ host(rows).T


def diagonal(kernel: Kernel, Z: Tensor, n_features: int) -> Tensor | float:
    """``k(z, z)`` of each row."""
    if isinstance(kernel, RBF | Laplacian):
        return 1.0
    squares = Z.sum_squares()
    if isinstance(kernel, Linear):
        return squares
    if not isinstance(kernel, Polynomial):
        raise NotImplementedError(f"the kernel {type(kernel).__name__}")
    return (squares / float(n_features) + kernel.coef0) ** kernel.degree


@singledispatch
def features(map: FeatureMap, Z: Tensor) -> Tensor:
    """Explicit features of rows."""
    raise NotImplementedError(f"the features {type(map).__name__}")


@features.register
def _(map: NystromMap, Z: Tensor) -> Tensor:
    F = similarity(map.kernel, Z, map.landmarks)
    return F if map.whitening is None else F @ map.whitening


@features.register
def _(map: FourierMap, Z: Tensor) -> Tensor:
    angles, m = Z @ map.frequencies, map.frequencies.shape[1]
    return concatenate(angles.do("Cos"), angles.do("Sin")) / np.full(2 * m, math.sqrt(m))


@features.register
def _(map: LayerMap, Z: Tensor) -> Tensor:
    return (Z @ map.weights + map.biases).do({"sigmoid": "Sigmoid", "tanh": "Tanh"}[map.activation])


def outside(map: FeatureMap, Z: Tensor, F: Tensor) -> Tensor | float:
    """The part of ``k(z, z)`` that the features do not represent."""
    if not isinstance(map, NystromMap):
        return 0.0
    reached = F.sum_squares() if map.factored is None else solved_squares(F, map.factored)
    return maximum(diagonal(map.kernel, Z, map.landmarks.shape[1]) - reached, 0.0)

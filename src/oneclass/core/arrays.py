"""Differences between array libraries: namespaces, devices, and functions that the array API standard lacks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import array_api_compat
import numpy as np
from array_api_compat import device
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from . import blas, compiled, cuda
from .typing import Device

__all__ = [
    "Array",
    "Namespace",
    "add_gram",
    "add_to_diagonal",
    "beside",
    "bits",
    "blocks",
    "city_block",
    "clip_above_inplace",
    "clipped",
    "copy",
    "device",
    "exp_city_block",
    "exp_inplace",
    "free_bytes",
    "from_bits",
    "from_numpy",
    "gram",
    "is_foreign",
    "is_host_double",
    "library_of",
    "mirror",
    "namespace",
    "on_host",
    "ones",
    "solve_triangular",
    "subtract_product",
    "sum_by_bin",
    "to_device",
    "to_numpy",
    "triangle",
]

Array: TypeAlias = Any
Namespace: TypeAlias = Any

#: Largest size in bytes of a block of kernel values: on the host, to fit a core's cache; on a device, to use all of it.
HOST_BLOCK, DEVICE_BLOCK = 2 << 20, 512 << 20
#: The same for blocks of matrix products, which have their own blocking.
_HOST_PRODUCT, _DEVICE_PRODUCT = 64 << 20, 2 << 30

#: Rows and columns of the blocks in which `mirror` transposes a host matrix.
_MIRROR_BLOCK = 128
#: Smallest host matrix, in rows, for which computing a triangle in parts saves more time than the further calls take.
_LEAST_IN_PARTS = 256


def namespace(first: Array, *others: Array) -> Namespace:
    """Return the array-API namespace that the arrays share."""
    # NumPy itself follows the standard, and is faster than the wrapper of array_api_compat.
    if type(first) is np.ndarray and (not others or all(type(x) is np.ndarray for x in others)):
        return np
    return array_api_compat.array_namespace(first, *others)


def is_foreign(x: object) -> bool:
    """Whether `x` is an array of a library other than NumPy (torch, CuPy, array-api-strict...)."""
    return array_api_compat.is_array_api_obj(x) and not isinstance(x, np.ndarray | np.generic)


def to_numpy(x: Array) -> np.ndarray[Any, Any]:
    """Return a NumPy array on the host. Use it for final results only, not inside a computation on a device."""
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu())
    if array_api_compat.is_cupy_array(x):
        return np.asarray(x.get())
    return np.asarray(x) if isinstance(x, np.ndarray) else np.from_dlpack(x)


def to_device(x: Array, where: Device) -> Array:
    """Return a NumPy array as a PyTorch array on that device; arrays of other libraries are returned unchanged."""
    if not isinstance(x, np.ndarray):
        return x
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"device={where!r} needs PyTorch") from error
    return torch.asarray(x, device=where)


def beside(x: Array, known: Array) -> Array:
    """Return `x` as an array of the library, the device and the dtype of `known`.

    If `known` is a NumPy array, `x` keeps its dtype.
    """
    if isinstance(known, np.ndarray):
        return x if isinstance(x, np.ndarray) else to_numpy(x)
    xp = namespace(known)
    here = isinstance(x, np.ndarray) or namespace(x) is xp
    return xp.asarray(x if here else to_numpy(x), dtype=known.dtype, device=device(known))


def copy(x: Array) -> Array:
    """Return a copy that shares no memory."""
    return namespace(x).asarray(x, copy=True)


def ones(like: Array) -> Array:
    """Return a vector of ones, one for each row of `like`, with its library, dtype and device."""
    xp = namespace(like)
    return xp.ones(like.shape[0], dtype=like.dtype, device=device(like))


def on_host(x: Array) -> bool:
    """Whether the array is in host memory."""
    return not (array_api_compat.is_cupy_array(x) or getattr(device(x), "type", "cpu") == "cuda")


def free_bytes(like: Array) -> int | None:
    """Return the free memory of the array's device in bytes; None for arrays in host memory."""
    if on_host(like):
        return None
    if array_api_compat.is_cupy_array(like):
        return int(like.device.mem_info[0])
    import torch

    return int(torch.cuda.mem_get_info(like.device)[0])


def blocks(
    n_rows: int, row_items: int, like: Array, *, for_products: bool = False, at_most: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield row ranges whose blocks, with `row_items` values per row, fit the byte limit of the array's device.

    Blocks `for_products` are larger, because matrix products have their own blocking. No block has more than `at_most`
    rows.
    """
    sizes = (_DEVICE_PRODUCT, _HOST_PRODUCT) if for_products else (DEVICE_BLOCK, HOST_BLOCK)
    budget = sizes[on_host(like)]
    item = namespace(like).finfo(like.dtype).bits // 8
    step = max(1, min(budget // max(1, row_items * item), at_most or n_rows))
    for start in range(0, n_rows, step):
        yield start, min(n_rows, start + step)


def triangle(n: int, like: Array) -> Iterator[tuple[int, int]]:
    """Yield row ranges (a, b) of an n x n matrix: rows a to b in columns 0 to b contain its lower triangle.

    On the host there are at least four ranges, which leave out three eighths of the matrix. Devices compute large
    blocks faster, so that their ranges have no such limit.
    """
    parted = n >= _LEAST_IN_PARTS and isinstance(like, np.ndarray)
    return blocks(n, n, like, at_most=-(-n // 4) if parted else None)


def is_host_double(X: Array, Y: Array) -> bool:
    """Whether both are NumPy arrays in double precision."""
    return isinstance(X, np.ndarray) and isinstance(Y, np.ndarray) and X.dtype == Y.dtype == np.float64


def exp_city_block(X: Array, Y: Array, scale: float) -> Array:
    """Return ``exp(scale ‖x - y‖₁)`` for all pairs of rows; for host rows in float64, in blocks that fit the cache."""
    n, m = X.shape[0], Y.shape[0]
    if not is_host_double(X, Y):
        if not on_host(X) and (K := cuda.city_block(X, Y, scale)) is not None:
            return K
        K = city_block(X, Y)
        K *= scale
        return exp_inplace(K)
    if (K := compiled.exp_city_block(X, Y, scale)) is not None:
        return K
    K = np.empty((n, m))
    for a, b in [(0, n)] if K.nbytes <= HOST_BLOCK else blocks(n, m, X):
        part = cdist(X[a:b], Y, "cityblock", out=K[a:b])
        part *= scale
        np.exp(part, out=part)
    return K


def city_block(X: Array, Y: Array) -> Array:
    """Return city-block distances of all pairs of rows, with the library's own function if there is one."""
    xp = namespace(X, Y)
    if X.shape[1] != Y.shape[1]:  # a single column would be broadcast
        raise ValueError(f"X and Y must have the same number of columns, got {X.shape[1]} and {Y.shape[1]}")
    if isinstance(X, np.ndarray):
        return xp.astype(cdist(X, Y, "cityblock"), X.dtype, copy=False)
    if not on_host(X) and (D := cuda.city_block(X, Y)) is not None:
        return D
    if array_api_compat.is_torch_array(X):
        return xp.cdist(X, Y, p=1.0)
    D = X @ Y.T  # only for its shape, dtype and device; filled in blocks, since the differences have a third axis
    for a, b in blocks(X.shape[0], Y.shape[0] * Y.shape[1], Y):
        D[a:b, :] = xp.sum(xp.abs(X[a:b, None, :] - Y[None, :, :]), axis=2)
    return D


def clipped(x: Array, low: float, high: float) -> Array:
    """Return `x` with values outside the interval replaced by the nearer end."""
    if isinstance(x, np.ndarray):  # ten times as fast as `clip`, which matters when single rows are scored
        return np.minimum(np.maximum(x, low), high)
    return namespace(x).clip(x, low, high)


def clip_above_inplace(x: Array, bound: float) -> Array:
    """Return ``min(x, bound)``, computed in place if the library can."""
    if isinstance(x, np.ndarray):
        return np.minimum(x, bound, out=x)
    if array_api_compat.is_torch_array(x):
        return x.clamp_(max=bound)
    return namespace(x).clip(x, max=bound)


def exp_inplace(x: Array) -> Array:
    """Return ``exp(x)``, computed in place if the library can."""
    if isinstance(x, np.ndarray):
        return np.exp(x, out=x)
    if array_api_compat.is_torch_array(x):
        return x.exp_()
    return namespace(x).exp(x)


def add_to_diagonal(G: Array, d: Array | float) -> None:
    """Add `d`, a vector or one number, to the diagonal of a square matrix, in place."""
    if isinstance(G, np.ndarray):
        np.einsum("ii->i", G)[...] += d
    elif array_api_compat.is_torch_array(G):
        G.diagonal().add_(d)
    else:
        for a, b in blocks(G.shape[0], 1024, G):
            here = d if isinstance(d, float) or d.ndim == 0 else d[a:b]
            G[a:b, a:b] += here * namespace(G).eye(b - a, dtype=G.dtype, device=device(G))


def bits(X: Array) -> Array:
    """Return the 64 bits of each value as a signed integer; equal for float32 and float64, and for -0 and 0."""
    xp = namespace(X)
    X = xp.astype(X, xp.float64) + 0.0
    if isinstance(X, np.ndarray) or array_api_compat.is_cupy_array(X):
        return X.view(np.int64)
    if array_api_compat.is_torch_array(X):
        return X.view(xp.int64)
    return xp.asarray(np.from_dlpack(X).view(np.int64))


def from_bits(word: int) -> float:
    """Return the floating-point number with these 64 bits."""
    return float(np.int64(word).view(np.float64))


def sum_by_bin(bins: Array, values: Array, n_bins: int) -> Array:
    """Return the sum of the values in each of the bins 0, 1, ...; `bins` are integers."""
    if isinstance(bins, np.ndarray):
        return np.bincount(bins, values, n_bins)
    xp = namespace(bins, values)
    order = xp.argsort(bins)
    nothing = xp.zeros(1, dtype=values.dtype, device=device(values))
    reached = xp.concat([nothing, xp.cumulative_sum(xp.take(values, order))])
    ends = xp.arange(n_bins, dtype=bins.dtype, device=device(bins))
    sums = xp.take(reached, xp.searchsorted(xp.take(bins, order), ends, side="right"))
    return xp.concat([sums[:1], sums[1:] - sums[:-1]])


def gram(F: Array) -> Array:
    """Return ``F'F``. BLAS uses the symmetry; for other libraries, blocks above the diagonal are copied."""
    if isinstance(F, np.ndarray):
        return F.T @ F
    xp = namespace(F)
    m = F.shape[1]
    step = max(512, -(-m // 4))
    G = xp.zeros((m, m), dtype=F.dtype, device=device(F))
    for a in range(0, m, step):
        b = min(m, a + step)
        G[a:b, :b] = F[:, a:b].T @ F[:, :b]
        G[:a, a:b] = G[a:b, :a].T
    return G


def add_gram(G: Array, F: Array, scale: float = 1.0) -> None:
    """Add ``scale F'F`` to `G` in place; for host matrices in float64 only the upper triangle: call `mirror` after."""
    if is_host_double(G, F):
        blas.add_squares(G, np.ascontiguousarray(F), scale)
    else:
        more = namespace(G).astype(gram(F), G.dtype, copy=False)
        G += more if scale == 1 else scale * more


def mirror(G: Array) -> None:
    """Copy the upper triangle of a host matrix to the lower one, in place, in blocks that fit the cache."""
    if not isinstance(G, np.ndarray):
        return
    below = _below_diagonal(min(_MIRROR_BLOCK, len(G)))
    for a in range(0, len(G), _MIRROR_BLOCK):
        b = min(a + _MIRROR_BLOCK, len(G))
        square = G[a:b, a:b]
        np.copyto(square, square.T, where=below[: b - a, : b - a])
        G[b:, a:b] = G[a:b, b:].T


@cache
def _below_diagonal(n: int) -> NDArray[np.bool_]:
    return np.tri(n, k=-1, dtype=bool)


def subtract_product(out: Array, A: Array, B: Array) -> None:
    """Subtract ``A B`` from `out` in place, without memory for the product if the library can."""
    if array_api_compat.is_torch_array(out):
        out.addmm_(A, B, alpha=-1)
    else:
        out -= A @ B


def solve_triangular(A: Array, B: Array, *, upper: bool) -> Array:
    """Return ``A^-1 B`` for a triangular `A`, in libraries other than NumPy."""
    if array_api_compat.is_torch_array(A):
        import torch

        return torch.linalg.solve_triangular(A, B, upper=upper)
    if array_api_compat.is_cupy_array(A):
        from cupyx.scipy.linalg import solve_triangular

        return solve_triangular(A, B, lower=not upper)
    xp = namespace(A, B)
    return xp.linalg.solve(xp.triu(A) if upper else xp.tril(A), B)


#: Names of the supported array libraries.
_LIBRARIES = ("numpy", "torch", "cupy", "array_api_strict")


def library_of(x: object) -> str | None:
    """Return the name of the library that `x` is an array of; None if there is none."""
    name = type(x).__module__.partition(".")[0]
    return name if name in _LIBRARIES and array_api_compat.is_array_api_obj(x) else None


def from_numpy(x: NDArray[np.generic], library: str, where: str) -> Array:
    """Return a copy of `x` as an array of that library on that device; for ``"host"``, `x` itself."""
    if where == "host":
        return x
    if library not in _LIBRARIES:
        raise ValueError(f"the array library must be one of {', '.join(_LIBRARIES)}; got {library!r}")
    try:
        xp: Namespace = import_module(library)
    except ImportError as error:
        raise ImportError(f"the arrays need {library}, which is not installed; device='host' uses NumPy") from error
    if library != "torch":
        return xp.asarray(x, copy=True)
    try:
        return xp.asarray(x, device=where, copy=True)
    except (AssertionError, RuntimeError) as error:
        raise RuntimeError(f"PyTorch has no device {where!r} here; use another device, or 'host' for NumPy") from error

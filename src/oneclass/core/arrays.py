"""Array namespaces and devices, and the few calls that the array standard lacks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import array_api_compat
import array_api_compat.numpy
import numpy as np
from array_api_compat import device
from scipy.linalg import get_lapack_funcs

__all__ = [
    "Array",
    "Namespace",
    "SingularSystemError",
    "add_to_diagonal",
    "available_bytes",
    "bits",
    "blocks",
    "cho_solve",
    "cholesky",
    "clip_above_inplace",
    "copy",
    "device",
    "diagonal_of_inverse",
    "exp_inplace",
    "factor",
    "gram",
    "inverse_of_factored",
    "is_foreign",
    "namespace",
    "ones",
    "solve_lower",
    "to_device",
    "to_numpy",
]

Array: TypeAlias = Any
Namespace: TypeAlias = Any

#: Bytes of one block of kernel values: small enough for a core's cache, large enough for a GPU to be busy.
HOST_BLOCK, DEVICE_BLOCK = 2 << 20, 512 << 20
#: Bytes of one block of rows in a matrix product, which does its own blocking.
_HOST_PRODUCT, _DEVICE_PRODUCT = 64 << 20, 2 << 30
#: Columns of a panel in the blocked factorisations: of large matrices, and of libraries that would copy the matrix.
_PANEL = 1024
#: Rows up to which a host matrix is factored by one call.
_DIRECT = 8192


class SingularSystemError(np.linalg.LinAlgError):
    """The kernel system has no stable solution."""


def namespace(*arrays: Array) -> Namespace:
    """Array-API namespace that the arrays share."""
    if all(type(x) is np.ndarray for x in arrays):  # by far the most calls, and ten times quicker
        return array_api_compat.numpy
    return array_api_compat.array_namespace(*arrays)


def is_foreign(x: object) -> bool:
    """Whether `x` is an array of a library other than NumPy (torch, CuPy, array-api-strict...)."""
    return array_api_compat.is_array_api_obj(x) and not isinstance(x, np.ndarray | np.generic)


def to_numpy(x: Array) -> np.ndarray[Any, Any]:
    """Copy to the host: for results that leave the device on purpose, never inside a computation."""
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu())
    if array_api_compat.is_cupy_array(x):
        return np.asarray(x.get())
    return np.asarray(x) if isinstance(x, np.ndarray) else np.from_dlpack(x)


def to_device(x: Array, where: Any) -> Array:
    """NumPy arrays as PyTorch ones on that device; arrays of other libraries stay where they are."""
    if not isinstance(x, np.ndarray):
        return x
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"device={where!r} needs PyTorch") from error
    return torch.asarray(x, device=where)


def copy(x: Array) -> Array:
    """A copy that shares no memory."""
    return namespace(x).asarray(x, copy=True)


def ones(like: Array) -> Array:
    """A vector of ones, one for each row of `like`, of its kind, dtype and device."""
    xp = namespace(like)
    return xp.ones(like.shape[0], dtype=like.dtype, device=device(like))


def on_host(x: Array) -> bool:
    """Whether the array's memory is the machine's own."""
    return not (array_api_compat.is_cupy_array(x) or getattr(device(x), "type", "cpu") == "cuda")


def blocks(
    n_rows: int, row_items: int, like: Array, *, for_products: bool = False, at_most: int | None = None
) -> Iterator[tuple[int, int]]:
    """Row ranges whose blocks of `row_items` values a row fit the byte budget of the array's device.

    Blocks `for_products` are larger: matrix products do their own blocking. None has more than `at_most` rows.
    """
    sizes = (_DEVICE_PRODUCT, _HOST_PRODUCT) if for_products else (DEVICE_BLOCK, HOST_BLOCK)
    budget = sizes[on_host(like)]
    item = namespace(like).finfo(like.dtype).bits // 8
    step = max(1, min(budget // max(1, row_items * item), at_most or n_rows))
    for start in range(0, n_rows, step):
        yield start, min(n_rows, start + step)


def clip_above_inplace(x: Array, bound: float) -> Array:
    """``min(x, bound)``, written over `x` where the library can."""
    if isinstance(x, np.ndarray):
        return np.minimum(x, bound, out=x)
    if array_api_compat.is_torch_array(x):
        return x.clamp_(max=bound)
    return namespace(x).clip(x, max=bound)


def exp_inplace(x: Array) -> Array:
    """``exp(x)``, written over `x` where the library can."""
    if isinstance(x, np.ndarray):
        return np.exp(x, out=x)
    if array_api_compat.is_torch_array(x):
        return x.exp_()
    return namespace(x).exp(x)


def add_to_diagonal(G: Array, d: Array | float) -> None:
    """``G += diag(d)``, in place, of a square matrix; `d` may be one number."""
    if isinstance(G, np.ndarray):
        np.einsum("ii->i", G)[...] += d
    elif array_api_compat.is_torch_array(G):
        G.diagonal().add_(d)
    else:
        for a, b in blocks(G.shape[0], 1024, G):
            here = d if isinstance(d, float) or d.ndim == 0 else d[a:b]
            G[a:b, a:b] += here * namespace(G).eye(b - a, dtype=G.dtype, device=device(G))


def bits(X: Array) -> Array:
    """The 64 bits of each value as a signed integer; float32 and float64 of a value agree, and so do -0 and 0."""
    xp = namespace(X)
    X = xp.astype(X, xp.float64) + 0.0
    if isinstance(X, np.ndarray) or array_api_compat.is_cupy_array(X):
        return X.view(np.int64)
    if array_api_compat.is_torch_array(X):
        return X.view(xp.int64)
    return xp.asarray(np.from_dlpack(X).view(np.int64))


def gram(F: Array) -> Array:
    """``F'F``: BLAS knows that it is symmetric; other libraries are told by leaving out blocks above the diagonal."""
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


def available_bytes(like: Array) -> int:
    """Memory that an allocation beside `like` may still take, as far as the system tells."""
    if array_api_compat.is_torch_array(like) and like.device.type == "cuda":
        import torch

        return int(torch.cuda.mem_get_info(like.device)[0])
    if array_api_compat.is_cupy_array(like):
        return int(like.device.mem_info[0])
    return _host_bytes()


def _host_bytes() -> int:
    bounds = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        bounds.append(int(fields["MemAvailable"].split()[0]) * 1024)
        import resource  # where /proc is, this module is too

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            bounds.append(soft - pages * os.sysconf("SC_PAGE_SIZE"))
    group = Path("/sys/fs/cgroup")
    limit, used = group / "memory.max", group / "memory.current"
    if limit.exists() and used.exists() and (text := limit.read_text().strip()) != "max":
        bounds.append(int(text) - int(used.read_text()))
    return max(0, min(bounds))


def _is_direct(G: Array) -> bool:
    """Whether LAPACK takes the matrix whole; OpenBLAS's threaded Cholesky crashes on much larger ones."""
    return isinstance(G, np.ndarray) and G.shape[0] <= _DIRECT


def cholesky(G: Array) -> Array:
    """Lower ``L`` with ``L L' = G``; reads the lower triangle of `G`, reuses its memory, and leaves the rest undefined.

    Raises ``numpy.linalg.LinAlgError`` when `G` is not positive definite.
    """
    if _is_direct(G):
        (potrf,) = get_lapack_funcs(("potrf",), (G,))
        # A C-ordered lower triangle is LAPACK's upper one: the transpose costs no copy.
        upper, info = potrf(G.T, lower=False, clean=True, overwrite_a=True)
        if info != 0:
            raise np.linalg.LinAlgError(f"leading minor {info} is not positive")
        return upper.T
    n = G.shape[0]
    if n <= _PANEL:
        return _small_cholesky(G)
    for a in range(0, n, _PANEL):
        b = min(n, a + _PANEL)
        G[a:b, a:b] = _small_cholesky(G[a:b, a:b])
        if b < n:
            G[b:, a:b] = G[b:, a:b] @ _inverse_of_lower(G[a:b, a:b]).T
        for c in range(b, n, 2 * _PANEL):
            d = min(n, c + 2 * _PANEL)
            _subtract_product(G[c:, c:d], G[c:, a:b], G[c:d, a:b].T)
    return G


def _subtract_product(out: Array, A: Array, B: Array) -> None:
    """``out -= A B``, without a matrix for the product where the library can."""
    if array_api_compat.is_torch_array(out):
        out.addmm_(A, B, alpha=-1)
    else:
        out -= A @ B


def _inverse_of_lower(L: Array) -> Array:
    """Inverse of a small triangular panel, so that large products replace large triangular solves."""
    return solve_lower(L, namespace(L).eye(L.shape[0], dtype=L.dtype, device=device(L)))


def _small_cholesky(G: Array) -> Array:
    xp = namespace(G)
    try:
        L = xp.linalg.cholesky(G)
    except (RuntimeError, ValueError) as error:  # torch's own LinAlgError is a RuntimeError
        raise np.linalg.LinAlgError(str(error)) from error
    if not bool(xp.all(xp.isfinite(xp.linalg.diagonal(L)))):  # CuPy reports failure as NaN
        raise np.linalg.LinAlgError("not positive definite")
    return L


def factor(build: Callable[[], Array]) -> Array:
    """Cholesky factor of the matrix that `build` makes, lifted by a hair of jitter if rounding made it indefinite."""
    for lift in (0.0, 10.0, 1e3):
        G = build()
        xp = namespace(G)
        diagonal = xp.linalg.diagonal(G)
        if not bool(xp.all(xp.isfinite(diagonal))):
            break
        if lift:
            jitter = lift * xp.finfo(G.dtype).eps * xp.sum(xp.abs(diagonal))
            add_to_diagonal(G, jitter)
        try:
            return cholesky(G)
        except np.linalg.LinAlgError:
            continue
    raise SingularSystemError(
        "the kernel system K + (lam/C) S is not positive definite. Likely causes: a kernel that is not positive "
        "semi-definite or returns NaN, C / lam so large that nothing is left of the ridge, or values near overflow "
        "(scale=True helps)"
    )


def solve_lower(L: Array, B: Array) -> Array:
    """``L^-1 B`` for a lower triangular `L`."""
    if isinstance(L, np.ndarray):
        (trtrs,) = get_lapack_funcs(("trtrs",), (L, B))
        return trtrs(L.T, B, lower=False, trans=1)[0]
    return _solve_triangular(L, B, upper=False)


def cho_solve(L: Array, B: Array) -> Array:
    """``(L L')^-1 B``."""
    if isinstance(L, np.ndarray):
        (potrs,) = get_lapack_funcs(("potrs",), (L, B))
        return potrs(L.T, B, lower=False)[0]
    return _solve_triangular(L.T, solve_lower(L, B), upper=True)


def inverse_of_factored(L: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``(L L')^-1`` of a host matrix; the strict upper triangle is unspecified. Overwrites `L`."""
    (potri,) = get_lapack_funcs(("potri",), (L,))
    return np.asarray(potri(L.T, lower=False, overwrite_c=True)[0].T)


def _solve_triangular(A: Array, B: Array, *, upper: bool) -> Array:
    if array_api_compat.is_torch_array(A):
        import torch

        return torch.linalg.solve_triangular(A, B, upper=upper)
    if array_api_compat.is_cupy_array(A):
        from cupyx.scipy.linalg import solve_triangular

        return solve_triangular(A, B, lower=not upper)
    xp = namespace(A, B)
    return xp.linalg.solve(xp.triu(A) if upper else xp.tril(A), B)


def diagonal_of_inverse(L: Array, *, keep: bool) -> Array:
    """Diagonal of ``(L L')^-1``, the squared column norms of ``L^-1``; may overwrite `L` unless it is to `keep`."""
    if _is_direct(L):
        (trtri,) = get_lapack_funcs(("trtri",), (L,))
        inverse = trtri(L.T, lower=False, overwrite_c=not keep)[0].T
        return np.einsum("ij,ij->j", inverse, inverse)
    xp = namespace(L)
    n = L.shape[0]
    ranges = [(a, min(n, a + _PANEL)) for a in range(0, n, _PANEL)]
    inverses = [_inverse_of_lower(L[a:b, a:b]) for a, b in ranges]
    parts = []
    for j, (a, b) in enumerate(ranges):
        # Columns a to b of the inverse, which are zero above row a, by forward substitution in products of panels.
        columns = xp.zeros((n - a, b - a), dtype=L.dtype, device=device(L))
        columns[: b - a, :] = inverses[j]
        for (c, d), inverse in zip(ranges[j + 1 :], inverses[j + 1 :], strict=True):
            columns[c - a : d - a, :] = -(inverse @ (L[c:d, a:c] @ columns[: c - a, :]))
        parts.append(xp.sum(columns * columns, axis=0))
    return xp.concat(parts)

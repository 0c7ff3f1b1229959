"""The amount of free memory, and a check that a kernel matrix fits."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.arrays import Array, free_bytes, namespace

__all__ = ["available_bytes", "check_factor_fits", "check_matrix_fits", "has_room"]

#: Allocations of at most so many bytes are not checked: reading the free memory takes as long as a small fit.
_MAX_UNCHECKED_BYTES = 2**22


def available_bytes(like: Array) -> int:
    """Free memory in bytes on the device of `like`, as reported by the system."""
    found = free_bytes(like)
    return _host_bytes() if found is None else found


def _host_bytes() -> int:
    bounds = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        bounds.append(int(meminfo.read_text().partition("MemAvailable:")[2].split()[0]) * 1024)
        import resource  # every system with /proc has this module

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            bounds.append(soft - pages * os.sysconf("SC_PAGE_SIZE"))
    group = Path("/sys/fs/cgroup")
    limit, used = group / "memory.max", group / "memory.current"
    if limit.exists() and used.exists() and (text := limit.read_text().strip()) != "max":
        bounds.append(int(text) - int(used.read_text()))
    return max(0, min(bounds))


def has_room(need: int, like: Array) -> bool:
    """Whether `need` bytes can be allocated on the device of `like`."""
    return need <= _MAX_UNCHECKED_BYTES or need <= available_bytes(like)


def check_factor_fits(n: int, like: Array) -> None:
    """Memory for the factor of `n` rows or landmarks, which files leave out and loading computes again."""
    need = n * n * namespace(like).finfo(like.dtype).bits // 8
    if not has_room(need, like):
        free = available_bytes(like)
        raise MemoryError(
            f"the factor of {n:,} rows or landmarks, which is computed at the first loss, needs about "
            f"{need / 1e9:,.1f} GB, but {free / 1e9:,.1f} GB are free"
        )


def check_matrix_fits(estimator: object, X: Array) -> None:
    """Raise MemoryError if there is not enough free memory for the kernel matrix of the rows `X`."""
    n = X.shape[0]
    need = n * n * namespace(X).finfo(X.dtype).bits // 8
    if not has_room(need, X):
        free = available_bytes(X)
        raise MemoryError(
            f"{type(estimator).__name__}: an exact fit of {n:,} rows needs about {need / 1e9:,.1f} GB for its kernel "
            f"matrix, but {free / 1e9:,.1f} GB are free; use approximation=Nystrom(1000), or fewer rows"
        )

"""Bandwidth rules by name: they compute `sigma` from the training rows if the user gives no number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from .arrays import Array, bits, device, from_bits, namespace, sum_by_bin, triangle
from .kernels import Laplacian, Radial
from .scaling import but_for_one

__all__ = ["BANDWIDTHS", "bandwidth", "city_block_sums", "looks_at_pairs"]

#: Rules that need the mean distance between rows.
_MEANS = ("mean", "third")

#: Passes of the search for the median, and the number of bits that each pass determines: 64 bits in total.
_PASSES, _BITS_PER_PASS = 4, 16

#: Relative tolerance of summed weights, which may be less than exactly one half by rounding.
_WEIGHT_SLACK = 1e-12


def looks_at_pairs(kernel: object) -> bool:
    """Whether a kernel's bandwidth rule computes the distances of all pairs of rows: too slow for many rows."""
    # The mean of city-block distances only needs sorting.
    means = () if isinstance(kernel, Laplacian) else _MEANS
    return isinstance(kernel, Radial) and kernel.sigma in ("median", *means)


def _mean(kernel: Radial, Z: Array, w: Array) -> float:
    """Return the mean distance between two training rows (the paper's rule)."""
    n = float(namespace(Z).sum(w))
    city_block = isinstance(kernel, Laplacian)
    total = float(namespace(Z).sum(city_block_sums(Z, w))) if city_block else _all_distances(kernel, Z, w)
    return total / (n * but_for_one(n))


def _third(kernel: Radial, Z: Array, w: Array) -> float:
    """Return a third of the mean distance, the best rule for machines with a constant target."""
    return _mean(kernel, Z, w) / 3


def _all_distances(kernel: Radial, Z: Array, w: Array) -> float:
    """Return the sum of the distances from every row to every row."""
    total = 0.0
    for a, b in triangle(Z.shape[0], Z):
        D = kernel.distances(Z[a:b, :], Z[:b, :])
        # Count the pairs to the left of the diagonal block twice, for their transposes.
        total += float(w[a:b] @ (D @ w[:b])) + float(w[a:b] @ (D[:, :a] @ w[:a]))
    return total


def city_block_sums(Z: Array, w: Array) -> Array:
    """Return the sum of ``|x_j - y_j|`` over all pairs of rows, for each column j.

    It is computed by sorting: each gap between sorted values is in all pairs across it.
    """
    xp = namespace(Z)
    n = xp.sum(w)
    if bool(xp.all(w == w[0])):
        below = xp.cumulative_sum(w)[:-1]
        z = xp.sort(Z, axis=0, stable=False)
        return 2 * ((below * (n - below)) @ (z[1:, :] - z[:-1, :]))
    sums = []
    for j in range(Z.shape[1]):
        order = xp.argsort(Z[:, j])
        z, below = xp.take(Z[:, j], order), xp.cumulative_sum(xp.take(w, order))[:-1]
        sums.append(2 * xp.sum((z[1:] - z[:-1]) * below * (n - below)))
    return xp.stack(sums)


def _rms(kernel: Radial, Z: Array, w: Array) -> float:
    """Return the bandwidth of the authors' code.

    Its kernel is ``exp(-‖x-y‖²/A²)``, with A² the mean squared distance over all n² pairs, so that sigma² = A²/2.
    """
    xp = namespace(Z)
    n = float(xp.sum(w))
    apart = Z - Z[:1, :]  # exactly zero for rows that coincide
    centred = apart - (w @ apart) / n
    # The mean squared distance over all pairs is twice the total variance.
    return math.sqrt(float(xp.sum(w @ (centred * centred))) / n)


def _median(kernel: Radial, Z: Array, w: Array) -> float:
    """Return the median distance between two training rows; a row of weight w counts as w rows.

    Each of four passes over all pairs determines 16 bits of the median. Sorting all distances would need several times
    the memory of the kernel matrix.
    """
    xp = namespace(Z)
    copies = max(0.0, float(xp.sum(w * (w - 1))) / 2)  # pairs of copies of the same row, at distance zero
    median, below, half = 0, 0.0, 0.0
    for digit in range(_PASSES):
        shift = _BITS_PER_PASS * (_PASSES - 1 - digit)
        sums = xp.zeros(1 << _BITS_PER_PASS, dtype=xp.float64, device=device(Z))
        sums[0] += copies if median == 0 else 0.0
        for D, m in _pairs(kernel, Z, w):
            words = xp.bitwise_right_shift(bits(D), xp.asarray(shift, dtype=xp.int64, device=device(Z)))
            bins = words - (median << _BITS_PER_PASS)
            inside = (bins >= 0) & (bins < 1 << _BITS_PER_PASS)
            sums += sum_by_bin(bins[inside], xp.astype(m[inside], xp.float64), 1 << _BITS_PER_PASS)
        reached = below + xp.cumulative_sum(sums)
        if digit == 0:
            half = float(reached[-1]) / 2
        place = int(xp.count_nonzero(reached < half * (1 - _WEIGHT_SLACK)))
        below = float(reached[place - 1]) if place else below
        median = (median << _BITS_PER_PASS) + place
    low = from_bits(median)
    if float(reached[place]) > half * (1 + _WEIGHT_SLACK):
        return low
    larger = [float(xp.min(D[low < D])) for D, _ in _pairs(kernel, Z, w) if xp.any(low < D)]
    return (low + min(larger, default=low)) / 2


def _pairs(kernel: Radial, Z: Array, w: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the distances of all pairs of rows and the positive products of their weights, in blocks."""
    xp = namespace(Z)
    for a, b in triangle(Z.shape[0], Z):
        W = xp.tril(w[a:b, None] * w[None, :b], k=a - 1)
        yield kernel.distances(Z[a:b, :], Z[:b, :])[W > 0], W[W > 0]


BANDWIDTHS: dict[str, Callable[[Radial, Array, Array], float]] = {
    "mean": _mean,
    "third": _third,
    "rms": _rms,
    "median": _median,
}


def bandwidth(rule: str, kernel: Radial, Z: Array, w: Array) -> float:
    """Return the bandwidth of a radial kernel for rows `Z`, row i counted ``w[i]`` times; 1 if all rows are equal."""
    return BANDWIDTHS[rule](kernel, Z, w) or 1.0

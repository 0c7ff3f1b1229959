"""Critical-difference diagram: mean ranks on a line, with bars over methods that do not differ significantly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..statistics import critical_difference, ranks
from .style import COLOURS, DASHES, pyplot

__all__ = ["cliques", "critical_difference_diagram"]

Float = NDArray[np.float64]

#: Colour of methods that the paper does not compare.
_OTHER = "#595e6e"


def cliques(mean_ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Longest runs of sorted mean ranks that lie within a distance, as first and last index.

    Parameters
    ----------
    mean_ranks : sequence of float
        In ascending order.
    distance : float
        The critical difference.

    Returns
    -------
    list of (int, int)

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.2, 5.0], 1.0)
    [(0, 1), (1, 2)]
    """
    spans: list[tuple[int, int]] = []
    for first, start in enumerate(mean_ranks):
        last = max(i for i, rank in enumerate(mean_ranks) if rank - start <= distance)
        if last > first and (not spans or last > spans[-1][1]):
            spans.append((first, last))
    return spans


def critical_difference_diagram(tables: Mapping[str, Float], methods: Sequence[str]) -> Any:
    """A diagram for each table of scores (datasets by methods).

    Parameters
    ----------
    tables : mapping of str to array
        Title of a diagram -> scores.
    methods : sequence of str
        Columns of the tables.

    Returns
    -------
    matplotlib Figure
    """
    figure, panels = pyplot().subplots(len(tables), 1, figsize=(8, 3.3 * len(tables)), squeeze=False)
    for panel, (name, table) in zip(panels[:, 0], tables.items(), strict=True):
        _diagram(panel, ranks(table).mean(axis=0), methods, critical_difference(len(methods), len(table)))
        panel.set_title(f"{name}: mean rank over {len(table)} datasets (left is better)", fontsize=10)
    figure.tight_layout()
    return figure


def _diagram(panel: Any, mean: Float, methods: Sequence[str], distance: float) -> None:
    order = np.argsort(mean)
    k = len(methods)
    half = -(-k // 2)
    spans = cliques([float(mean[i]) for i in order], distance)
    floor = -0.25 - 0.22 * len(spans)
    panel.set(xlim=(-2.2, k + 3.2), ylim=(floor - 0.45 * half - 0.2, 1.1))
    panel.axis("off")
    panel.plot([1, k], [0, 0], color="black", linewidth=1)
    for rank in range(1, k + 1):
        panel.plot([rank, rank], [0, 0.12], color="black", linewidth=1)
        panel.text(rank, 0.2, str(rank), ha="center", va="bottom", fontsize=8)
    panel.plot([1, 1 + distance], [0.8, 0.8], color="black", linewidth=2)
    panel.text(1 + distance + 0.15, 0.8, f"critical difference {distance:.2f}", va="center", fontsize=8)
    for place, i in enumerate(order):
        left = place < half
        height = floor - 0.45 * (place if left else k - 1 - place)
        edge, side = (0.7, "right") if left else (k + 0.3, "left")
        name = methods[i]
        look = {"color": COLOURS.get(name, _OTHER), "linestyle": DASHES.get(name, "-"), "linewidth": 1.2}
        panel.plot([mean[i], mean[i], edge], [0, height, height], **look)
        text = f"{methods[i]}  {mean[i]:.1f}" if left else f"{mean[i]:.1f}  {methods[i]}"
        panel.text(edge + (-0.1 if left else 0.1), height, text, ha=side, va="center", fontsize=9)
    for level, (first, last) in enumerate(spans):
        ends = [mean[order[first]] - 0.06, mean[order[last]] + 0.06]
        panel.plot(ends, [-0.18 - 0.22 * level] * 2, color="black", linewidth=3, solid_capstyle="round")

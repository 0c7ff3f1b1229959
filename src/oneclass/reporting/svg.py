"""Small pictures as elements: how strange rows are, how a column was and what flagged rows hold in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.column_summary import LEVELS
from .contents import Held
from .markup import Element, joined, tag
from .wording import cell

__all__ = ["bars", "range_pair", "spread"]

Float = NDArray[np.float64]

_WIDTH, _HEIGHT = 320.0, 92.0
#: Where the axis of a spread lies, and its ends.
_BASE, _LEFT, _RIGHT = 62.0, 6.0, 314.0


def _at(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _drawable(values: Sequence[float]) -> Float:
    """Numbers whose differences are numbers, too."""
    return np.asarray(np.clip(np.array(values, dtype=float), -1e300, 1e300))


def bars(counts: Sequence[float], label: str, *, marked: int, level: float | None = None, name: str) -> Element:
    """Counts as bars, from the bar `marked` on in the colour of alarms (before it, if negative); a level to expect."""
    top = max([*counts, level or 0, 1]) * 1.05
    width = 400 / len(counts)
    drawn = [
        tag(
            "rect",
            class_="bar alarm" if (i >= marked if marked >= 0 else i < -marked) else "bar",
            x=_at(i * width + 0.5),
            y=_at(120 - 120 * count / top),
            width=_at(width - 1),
            height=_at(120 * count / top),
        )
        for i, count in enumerate(counts)
    ]
    if level is not None:
        y = _at(120 - 120 * level / top)
        drawn.append(tag("line", class_="level", x1=0, x2=400, y1=y, y2=y))
    options = {"viewBox": "0 0 400 120", "preserveAspectRatio": "none", "role": "img", "aria_label": label}
    return tag("svg", *drawn, class_=f"bars {name}", **options)


def spread(quantiles: Sequence[float], values: Sequence[float], kind: str, label: str) -> Element:
    """How the values of a column were spread at the fit, as a hill, and values of flagged rows as lines below it."""
    q, flagged = _drawable(quantiles), _drawable(values)
    low, high = _ends(q, flagged)
    edges = np.linspace(low, high, 49)
    # Values that many rows share are quantiles at many levels, and so count for as many.
    heights = np.histogram(np.interp(np.linspace(0, 1, 1000), LEVELS, q), bins=edges)[0]
    heights = np.convolve(np.pad(heights, 1), [0.25, 0.5, 0.25], mode="valid")

    def x(value: Float) -> Float:
        return _LEFT + (_RIGHT - _LEFT) * (np.clip(value, low, high) - low) / (high - low)

    middles, tops = x((edges[1:] + edges[:-1]) / 2), _BASE - 2 - 54 * heights / heights.max()
    outline = "".join(f"L{_at(a)} {_at(b)}" for a, b in zip(middles, tops, strict=True))
    hill = f"M{_at(middles[0])} {_BASE}{outline}L{_at(middles[-1])} {_BASE}Z"
    usual = x(np.interp([0.05, 0.95], LEVELS, q))
    places = np.unique(np.round(x(flagged[(flagged >= low) & (flagged <= high)]), 1))
    beyond = [_arrow(_LEFT, -1)] * bool((flagged < low).any()) + [_arrow(_RIGHT, 1)] * bool((flagged > high).any())
    return tag(
        "svg",
        tag("path", class_="hill", d=hill),
        tag("rect", class_="usual", x=_at(usual[0]), y=_BASE, width=_at(max(usual[1] - usual[0], 1)), height=3),
        *(tag("line", class_="odd", x1=_at(a), x2=_at(a), y1=_BASE + 4, y2=_BASE + 16) for a in places),
        *beyond,
        tag("text", cell(float(low), kind, 3), x=_LEFT, y=_HEIGHT - 2),
        tag("text", cell(float(high), kind, 3), x=_RIGHT, y=_HEIGHT - 2, class_="end"),
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        aria_label=label,
        class_="spread",
    )


def _arrow(x: float, way: int) -> Element:
    """What tells that there is more beyond an end of the axis."""
    return tag("path", class_="beyond", d=f"M{_at(x)} {_BASE + 4}l{6 * way} 6l{-6 * way} 6Z")


def _ends(q: Float, flagged: Float) -> tuple[float, float]:
    """Ends of an axis that shows the training rows, and flagged ones as far as these stay visible beside them."""
    wide = (q[-1] - q[0]) or max(abs(q[0]), 1.0)
    low = max(min(q[0], flagged.min(initial=np.inf)), q[0] - 1.5 * wide)
    high = min(max(q[-1], flagged.max(initial=-np.inf)), q[-1] + 1.5 * wide)
    return (low, high) if high > low else (low - 0.5 * wide, high + 0.5 * wide)


def range_pair(old: Held, new: Held, label: str) -> Element:
    """Where nine in ten values lay and lie, one above the other, with the middle of each."""
    ends = _drawable([*old["usual"], *new["usual"]])
    low = float(ends.min())
    wide = float(np.ptp(ends)) or 1.0

    def line(said: Held, y: float, name: str) -> Element:
        a, b, middle = (_drawable([*said["usual"], said["middle"]]) - low) / wide * 112 + 4
        middle = min(max(middle, 4), 116)
        return joined(
            tag("rect", class_=name, x=_at(a), y=y, width=_at(max(b - a, 1.5)), height=6, rx=2),
            tag("line", class_="middle", x1=_at(middle), x2=_at(middle), y1=y - 2, y2=y + 8),
        )

    return tag(
        "svg",
        line(old, 4, "old"),
        line(new, 17, "new"),
        viewBox="0 0 120 28",
        role="img",
        aria_label=label,
        class_="pair",
    )

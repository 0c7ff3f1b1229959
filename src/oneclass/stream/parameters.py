"""Read and check the parameters of a stream, and the times and labels that come with its rows."""

from __future__ import annotations

import datetime
import numbers
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.checks import check_integer, check_number, check_size
from ..core.approximation import Nystrom
from ..core.typing import Labels
from ..machines import AAKELM
from ..machines.auto_approximation import chunk_approximation
from ..machines.kernel_machine import KernelMachine
from ..machines.parameters import recipe_of, seed_of
from .events import Martingale
from .policy import PROMPT, Patience
from .state import Settings
from .window import Forgetting, Vector

if TYPE_CHECKING:
    from .estimator import Stream

__all__ = [
    "ChangeDetector",
    "default_machine",
    "detector_of",
    "read_labels",
    "read_normal",
    "read_times",
    "settings_of",
]


#: Regularization of the default machine. Measured in docs/streams_measured.md: streams without labels lose 0.0028 of
#: AUROC with C = 0.5, 0.0012 with C = 2 and 0.0035 with C = 4 (under earlier rules).
_DEFAULT_C = 1.0
#: The same if all learned rows are labelled as normal. Measured in docs/streams_measured.md.
_DEFAULT_MOST_COST = 8.0
#: Number of landmarks of the default machine. Measured in docs/streams_measured.md: 400 add 0.0006 of AUROC, and
#: 128 lose 0.0044 (under earlier rules).
_DEFAULT_LANDMARKS = 256


class ChangeDetector(Protocol):
    """A change detector with river's interface."""

    @property
    def drift_detected(self) -> bool:
        """Whether the detector found a change at the last value."""
        ...

    def update(self, x: float, /) -> object:
        """Update the detector with a value."""
        ...


def default_machine() -> AAKELM:
    """Return the machine of a stream whose `estimator` is None; its C is small because any row may be an anomaly."""
    return AAKELM(
        C=_DEFAULT_C, kernel="laplacian", sigma="mean", scale="robust", approximation=Nystrom(_DEFAULT_LANDMARKS)
    )


def settings_of(stream: Stream) -> Settings:
    """Return the checked parameters of a stream."""
    name = type(stream).__name__
    machine = default_machine() if stream.estimator is None else stream.estimator
    if not isinstance(machine, KernelMachine):
        raise TypeError(f"{name}: estimator must be a kernel machine such as AAKELM(), got {type(machine).__name__}")
    if stream.half_life is not None and stream.window is not None:
        raise ValueError(
            f"{name}: half_life or window must be None, got half_life={stream.half_life!r} and window={stream.window!r}"
        )
    half_life, window = _span(stream, "half_life"), _span(stream, "window")
    detector_of(stream)
    return Settings(
        recipe=recipe_of(machine, None),
        approximation=chunk_approximation(machine),
        seed=seed_of(machine),
        delta=check_number(stream, "delta", 0, 0.5),
        forgetting=Forgetting(half_life, window, _clock(stream)),
        patience=_patience(stream),
        test=_test(stream),
        every=check_integer(stream, "every", 1),
        most_cost=_DEFAULT_MOST_COST if stream.estimator is None else None,
    )


def _span(stream: Stream, name: str) -> float | None:
    if getattr(stream, name) is None:
        return None
    span = check_number(stream, name, 0, np.inf)
    check_size(stream, name, span)
    return span


def _clock(stream: Stream) -> bool:
    if not isinstance(stream.clock, bool | np.bool_):
        raise ValueError(f"{type(stream).__name__}: clock must be True or False, got {stream.clock!r}")
    return bool(stream.clock)


def _patience(stream: Stream) -> Patience | None:
    patience = stream.patience
    if isinstance(patience, str) and patience == "prompt":
        return PROMPT
    if patience is None or isinstance(patience, Patience):
        return patience
    if isinstance(patience, numbers.Real) and not isinstance(patience, bool | np.bool_) and float(patience) > 0:
        return Patience(rows=float(patience))
    name = type(stream).__name__
    raise ValueError(f"{name}: patience must be 'prompt', a number in (0, inf], a Patience or None, got {patience!r}")


def _test(stream: Stream) -> Martingale | None:
    if isinstance(stream.change, str) and stream.change == "martingale":
        return Martingale()
    return stream.change if isinstance(stream.change, Martingale) else None


def detector_of(stream: Stream) -> ChangeDetector | None:
    """Return the parameter `change` if it is a detector of another library, or None."""
    change: Any = stream.change
    if change is None or _test(stream) is not None:
        return None
    if not hasattr(change, "update") or not hasattr(change, "drift_detected"):
        raise ValueError(
            f"{type(stream).__name__}: change must be 'martingale', a Martingale, a detector with update and "
            f"drift_detected, or None; got {change!r}"
        )
    detector: ChangeDetector = change
    return detector


def read_times(stream: Stream, time: ArrayLike | None, n: int, last: float) -> Vector | None:
    """Return the times of `n` rows, which must not decrease from the time `last` on; None without a clock."""
    name = type(stream).__name__
    if not stream.clock:
        if time is not None:
            raise ValueError(f"{name}: time must be None when clock=False, got a value of type {type(time).__name__}")
        return None
    if time is None:
        raise ValueError(f"{name}: time must be given with every batch when clock=True")
    given = np.atleast_1d(np.asarray(time))
    try:
        when = _seconds(given)
    except (TypeError, ValueError):
        rule = f"{name}: time must be numbers or dates, got {given.ravel().tolist()[0]!r}"
        raise ValueError(f"{rule}; pandas.to_datetime(time) converts text to dates") from None
    if when.shape != (n,):
        raise ValueError(f"{name}: time must have one number or date per row, shape ({n},), got shape {when.shape}")
    if not np.all(np.isfinite(when)):
        i = int(np.argmin(np.isfinite(when)))
        raise ValueError(f"{name}: time must be finite, but the time of row {i} is {given[i]}")
    back = np.diff(when, prepend=last) < 0
    if np.any(back):
        i = int(np.argmax(back))
        before = last if i == 0 else when[i - 1]
        raise ValueError(f"{name}: time must not decrease, but row {i} has time {when[i]:g} after {before:g}")
    return when


def _seconds(time: NDArray[np.generic]) -> Vector:
    """Return times as numbers; dates and time spans are converted to seconds, whatever their unit."""
    first = time.flat[0] if time.dtype == object and time.size else None
    if isinstance(first, datetime.date):
        time = np.array([_without_zone(date) for date in time.flat], dtype="datetime64[us]").reshape(time.shape)
    elif isinstance(first, datetime.timedelta):
        time = time.astype("timedelta64[us]")
    if time.dtype.kind not in "mM":
        return time.astype(float)
    return np.where(np.isnat(time), np.nan, time.astype(f"{time.dtype.kind}8[us]").astype(np.int64) / 1e6)


def _without_zone(date: Any) -> Any:
    """Return a date without a time zone, converted to UTC if it has one; None for a missing date."""
    if date != date:
        return None
    return date if getattr(date, "tzinfo", None) is None else date.astimezone(datetime.UTC).replace(tzinfo=None)


def read_labels(stream: Stream, y: Labels | None, n: int) -> Vector:
    """Return the trust in `n` rows by their labels: 1 for +1, 0 for -1, and NaN for any other label."""
    trust = np.full(n, np.nan)
    if y is None:
        return trust
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"{type(stream).__name__}: y must be one label a row, of shape ({n},), got {labels.shape}")
    trust[labels == 1], trust[labels == -1] = 1.0, 0.0
    return trust


def read_normal(stream: Stream, normal: ArrayLike, n: int) -> NDArray[np.bool_]:
    """Return whether each of `n` rows is normal, from one truth value for all rows or one per row."""
    given, name = np.asarray(normal), type(stream).__name__
    if given.shape not in ((), (n,)):
        raise ValueError(f"{name}: normal must be one truth value, or one per row, shape ({n},), got {given.shape}")
    if not np.isin(given, (False, True)).all():
        raise ValueError(f"{name}: normal must be True or False, got {given[~np.isin(given, (False, True))].flat[0]!r}")
    return np.broadcast_to(given.astype(bool), (n,))

"""What users choose for a stream, and what comes with its rows, read and checked."""

from __future__ import annotations

import datetime
import numbers
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.checks import check_integer, check_number
from ..core.approximation import Nystrom
from ..core.typing import Labels
from ..machines import AAKELM
from ..machines.auto_approximation import chunk_approximation
from ..machines.kernel_machine import KernelMachine
from ..machines.parameters import recipe_of, seed_of
from .forgetting import Forgetting
from .martingale import Martingale
from .memory import Vector
from .policy import PROMPT, Patience
from .state import Settings

if TYPE_CHECKING:
    from .stream import Stream

__all__ = [
    "ChangeDetector",
    "default_machine",
    "detector_of",
    "read_labels",
    "read_normal",
    "read_times",
    "settings_of",
]


class ChangeDetector(Protocol):
    """A detector of changes by river's rules."""

    @property
    def drift_detected(self) -> bool:
        """Whether the last value was one."""
        ...

    def update(self, x: float, /) -> object:
        """Take a value."""
        ...


def default_machine() -> AAKELM:
    """The machine of a stream that names none: one row is trusted little, for it may be an anomaly."""
    return AAKELM(C=1.0, kernel="laplacian", sigma="mean", scale="robust", approximation=Nystrom(256))


def settings_of(stream: Stream) -> Settings:
    """The choices of a stream."""
    name = type(stream).__name__
    machine = default_machine() if stream.estimator is None else stream.estimator
    if not isinstance(machine, KernelMachine):
        raise TypeError(f"{name}: estimator must be a kernel machine such as AAKELM(), got {type(machine).__name__}")
    if stream.half_life is not None and stream.window is not None:
        raise ValueError(
            f"{name}: half_life must be None with a window, and window with a half_life; got "
            f"half_life={stream.half_life!r}, window={stream.window!r}"
        )
    half_life, window = (
        None if getattr(stream, span) is None else check_number(stream, span, 0, np.inf)
        for span in ("half_life", "window")
    )
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
    )


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
    """The detector of another library that is to look for changes, if any."""
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
    """The times of `n` rows, of which none is before the last; None for a stream without a clock."""
    name = type(stream).__name__
    if not stream.clock:
        if time is not None:
            raise ValueError(f"{name}: time must be None unless clock=True")
        return None
    if time is None:
        raise ValueError(f"{name}: time must be given with every batch when clock=True")
    given = np.atleast_1d(np.asarray(time))
    try:
        when = _seconds(given)
    except (TypeError, ValueError):
        rule = f"{name}: time must be numbers or dates, got {given.ravel().tolist()[0]!r}"
        raise ValueError(f"{rule}; pandas.to_datetime(time) reads text") from None
    if when.shape != (n,):
        raise ValueError(f"{name}: time must be one number or date a row, of shape ({n},), got shape {when.shape}")
    if not np.all(np.isfinite(when)):
        i = int(np.argmin(np.isfinite(when)))
        raise ValueError(f"{name}: time must be finite, but that of row {i} is {given[i]}")
    back = np.diff(when, prepend=last) < 0
    if np.any(back):
        i = int(np.argmax(back))
        before = last if i == 0 else when[i - 1]
        raise ValueError(f"{name}: time must not go backwards, but row {i} is at {when[i]:g} after {before:g}")
    return when


def _seconds(time: NDArray[np.generic]) -> Vector:
    """Times as numbers: those of dates and of spans are seconds, so that every unit of these is the same."""
    first = time.flat[0] if time.dtype == object and time.size else None
    if isinstance(first, datetime.date):
        time = np.array([_without_zone(date) for date in time.flat], dtype="datetime64[us]").reshape(time.shape)
    elif isinstance(first, datetime.timedelta):
        time = time.astype("timedelta64[us]")
    if time.dtype.kind not in "mM":
        return time.astype(float)
    return np.where(np.isnat(time), np.nan, time.astype(f"{time.dtype.kind}8[us]").astype(np.int64) / 1e6)


def _without_zone(date: Any) -> Any:
    """A date, that of Greenwich where it has a zone; None for one that is missing."""
    if date != date:
        return None
    return date if getattr(date, "tzinfo", None) is None else date.astimezone(datetime.UTC).replace(tzinfo=None)


def read_labels(stream: Stream, y: Labels | None, n: int) -> Vector:
    """Trust in `n` rows: 1 or 0 where the label is +1 or -1, not a number elsewhere."""
    told = np.full(n, np.nan)
    if y is None:
        return told
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"{type(stream).__name__}: y must be one label a row, of shape ({n},), got {labels.shape}")
    told[labels == 1], told[labels == -1] = 1.0, 0.0
    return told


def read_normal(stream: Stream, normal: ArrayLike, n: int) -> NDArray[np.bool_]:
    """Whether each of `n` rows is normal, by one answer for all of them or one a row."""
    told, name = np.asarray(normal), type(stream).__name__
    if told.shape not in ((), (n,)):
        raise ValueError(f"{name}: normal must be True, False or one of them a row, of shape ({n},), got {told.shape}")
    if not np.isin(told, (False, True)).all():
        raise ValueError(f"{name}: normal must be True or False, got {told[~np.isin(told, (False, True))].flat[0]!r}")
    return np.broadcast_to(told.astype(bool), (n,))

"""``Stream``: a kernel machine that goes on learning in a world that drifts, and keeps its false-alarm rate."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..contract.base import OneClassClassifier
from ..contract.checks import check_magnitudes
from ..contract.labels import read_targets
from ..contract.reading import Header, read_rows, read_training_rows, read_weights
from ..contract.screening import Stayed
from ..core.arrays import Array, to_numpy
from ..core.machine import Machine
from ..core.scaling import ColumnMoments, Scaler
from ..core.threshold import Decision, Rule, conformal
from ..machines.exact import losses_of
from ..machines.explaining import expected_of, parts_of
from .choices import default_machine, detector_of, read_labels, read_times, settings_of
from .events import Event
from .feedback import doubt, forget, tell
from .learning import begin, judged, learn
from .memory import Memory, Vector
from .renewal import renew
from .state import Settings, State

__all__ = ["Stream", "Verdict"]

_log = logging.getLogger("oneclass")

#: Rows that are judged by one machine, at most.
_LONGEST = 1024


@dataclass(frozen=True)
class Verdict:
    """What a stream said of rows before it learned them.

    Parameters
    ----------
    rows : array of shape (n,)
        Numbers of the rows in the stream, by which labels may be told later.
    scores : array of shape (n,)
        How normal each was; larger is more normal.
    labels : array of shape (n,)
        +1 for normal rows, -1 for alarms.
    events : tuple of Event
        What happened to the world meanwhile.
    """

    rows: Vector
    scores: Vector
    labels: Vector
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Opening:
    """Rows that came before there were enough to begin."""

    X: Vector
    time: Vector
    told: Vector


@final
class Stream(OneClassClassifier):
    """Learn from rows that keep coming while what is normal changes.

    Every row is judged before it is learned. The stream sees *all* rows, anomalies among them, and decides itself which
    to believe: rows that look strange wait, and are learned when they have been many for longer than the `patience`.

    Parameters
    ----------
    machine : kernel machine, optional
        Which machine to keep fitted: kernel, C, loss, variance, scaling and approximation are its own; its `delta`,
        `threshold` and `device` have no part here. None is ``AAKELM(C=1, approximation=Nystrom(256))``, with tamed
        columns and the Laplacian kernel. C is the trust in a single row: a stream that may be dirty wants a small
        one.
    half_life : float, optional
        Rows after which a row has half its weight. Not together with `window`.
    window : float, optional, default=1000
        Rows that are known; older ones are taken out exactly. None with a `half_life` of None forgets nothing.
    delta : float in (0, 0.5), default=0.05
        Share of the normal rows that may be alarms, in the long run.
    patience : float, Patience or None, default=140
        Rows that a change must last before it is learned, or the whole policy. None believes every row.
    change : {"martingale"}, Martingale, detector or None, default="martingale"
        Test of change, which raises events and decides nothing: a conformal martingale on losses before learning, or a
        detector of river such as ``river.drift.ADWIN()``, which is given p-values.
    every : int, default=50
        Rows that are learned at a time: fewer wait for more to come. Calls with more are learned at their end.
    clock : bool, default=False
        Whether `half_life` and `window` are in units of the `time` that comes with every batch. Without a clock they
        are counted in rows learned, so that an attack which is not believed makes the stream forget nothing.
    on_event : callable, optional
        Called with every `Event` as it happens.

    Attributes
    ----------
    events_ : tuple of Event
        The latest 256 events.
    n_seen_ : int
        Rows so far: the number of the next.
    offset_ : float
        Threshold on `score_samples`.
    level_ : float
        p-value from which on a row alarms: `delta`, corrected by what it delivered.
    calibration_ : Calibration
        The latest losses, before learning, of rows believed normal.
    machine_ : Machine
        The machine of all that is learned.
    state_ : State
        All that the stream knows as one frozen value.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Scores are those of the machine that rows were last learned into, so between two blocks of `every` rows they do not
    change. Parameters that are set after the first batch wait for the next `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import Stream
    >>> rng = np.random.default_rng(0)
    >>> stream = Stream(window=500).fit(rng.normal(size=(300, 2)))
    >>> for t in range(20):  # the world moves by a fifth of a deviation every 50 rows
    ...     verdict = stream.watch(rng.normal(size=(50, 2)) + 0.2 * t)
    >>> stream.predict([[4.0, 4.0], [-3.0, -3.0]])
    array([ 1, -1])
    """

    #: The threshold of a stream is put by what was delivered so far: there is none to choose.
    thresholds: ClassVar[dict[str, Rule]] = {"stream": conformal}
    held_out_thresholds: ClassVar[tuple[str, ...]] = ()
    threshold = "stream"
    confidence = None

    state_: State | Opening
    settings_: Settings
    detector_: Any

    def __init__(
        self,
        machine: Any = None,
        *,
        half_life: float | None = None,
        window: float | None = 1000,
        delta: float = 0.05,
        patience: Any = 140,
        change: Any = "martingale",
        every: int = 50,
        clock: bool = False,
        on_event: Callable[[Event], object] | None = None,
    ) -> None:
        self.machine = machine
        self.half_life = half_life
        self.window = window
        self.delta = delta
        self.patience = patience
        self.change = change
        self.every = every
        self.clock = clock
        self.on_event = on_event

    # Learning.

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, time: Any = None) -> Self:
        """Begin anew with rows that are believed to be normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of their coming.
        y : array-like of shape (n_samples,), optional
            Labels as in the machines: rows that are not of the target class are not learned.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight w counts as w copies of itself.
        time : array-like of shape (n_samples,), optional
            When the rows came, in no unit in particular; for a stream with a `clock`.

        Returns
        -------
        self
            The stream.
        """
        settings = settings_of(self)
        rows, header = read_training_rows(self, X)
        rows = self._rows(rows, header, settings)
        w = read_weights(self, sample_weight, rows)
        targets = read_targets(self, y, len(rows))
        w = w if targets is None else w * targets
        if np.count_nonzero(w) < 2:
            raise ValueError(f"{self._name}: sample_weight must be positive for two rows of the target class")
        when = read_times(self, time, len(rows), -np.inf)
        return self._keep_state(header, settings, begin(settings, rows, when, w), copy.deepcopy(detector_of(self)))

    def _fit(self, X: Any, *, groups: Any, stayed: Stayed) -> Self:
        if groups is not None:
            raise ValueError(f"{self._name}: groups must be None: a stream holds out the rows that have not come yet")
        return self.fit(X, sample_weight=stayed.rows)

    @property
    def scale(self) -> Any:
        """How the machine scales columns."""
        return (default_machine() if self.machine is None else self.machine).scale

    def partial_fit(self, X: Any, y: Any = None, *, time: Any = None) -> Self:
        """Judge rows, then learn those that are believed; the first call begins as `fit` does, but not so trustingly.

        A batch that is refused, for example for a NaN, is refused whole, and the stream is as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of their coming, normal ones and others.
        y : array-like of shape (n_samples,), optional
            +1 for rows that are known to be normal, -1 for known anomalies; any other value is no label.
        time : array-like of shape (n_samples,), optional
            When the rows came, for a stream with a `clock`.

        Returns
        -------
        self
            The stream.
        """
        self.watch(X, y, time=time)
        return self

    def learn(self, X: Any, normal: Any = True, *, time: Any = None) -> Self:
        """The same for rows of which it is known whether they are normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        normal : bool or array-like of bool of shape (n_samples,), default=True
            Whether they are normal: those are learned and others are not, whatever they look like.
        time : array-like of shape (n_samples,), optional
            When the rows came, for a stream with a `clock`.

        Returns
        -------
        self
            The stream.
        """
        normal = np.asarray(normal, dtype=bool)
        n = len(X) if hasattr(X, "__len__") else np.shape(X)[0]
        return self.partial_fit(X, np.where(np.broadcast_to(normal, (n,)), 1, -1), time=time)

    def watch(self, X: Any, y: Any = None, *, time: Any = None) -> Verdict:
        """Judge rows, learn those that are believed, and return what was said of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of their coming, normal ones and others.
        y : array-like of shape (n_samples,), optional
            +1 for rows that are known to be normal, -1 for known anomalies; any other value is no label.
        time : array-like of shape (n_samples,), optional
            When the rows came, for a stream with a `clock`.

        Returns
        -------
        Verdict
            Scores and labels before learning, and events.
        """
        known = getattr(self, "state_", None)
        if known is None:
            settings, (rows, header) = settings_of(self), read_training_rows(self, X, min_rows=1)
            detector = copy.deepcopy(detector_of(self))
        else:
            settings, header = self.settings_, Header.of(self)
            rows, detector = read_rows(header, X), self.detector_
        rows = self._rows(rows, header, settings)
        told = read_labels(self, y, len(rows))
        when = read_times(self, time, len(rows), _last_time(known))
        if not isinstance(known, State):
            return self._open(header, settings, detector, known, rows, when, told)
        state, losses, labels = known, [], []
        for a in range(0, len(rows), _LONGEST):
            block = slice(a, a + _LONGEST)
            state, features = judged(state, rows[block], None if when is None else when[block], told[block])
            new = state.pending[-len(rows[block]) :]
            losses.append(new.loss)
            labels.append(np.where(new.alarm, -1, 1))
            if detector is not None:
                detector, state = _detected(copy.deepcopy(detector), state, new)
            if len(state.pending) >= settings.every:
                state = learn(settings, state, features)
        self._keep_state(header, settings, state, detector)
        events = tuple(event for event in state.events if event.number >= known.n_events)
        self._tell_of(events)
        return Verdict(np.arange(known.seen, state.seen), -np.concatenate(losses), np.concatenate(labels), events)

    def _open(
        self,
        header: Header,
        settings: Settings,
        detector: Any,
        known: Opening | None,
        rows: Vector,
        when: Vector | None,
        told: Vector,
    ) -> Verdict:
        """Begin with two rows or more, or with single ones as soon as they make a block."""
        alone = known is not None or len(rows) < 2
        given = np.full(len(rows), np.nan) if when is None else when
        opening = Opening(rows, given, told)
        if known is not None:
            parts = zip(vars(known).values(), vars(opening).values(), strict=True)
            opening = Opening(*(np.concatenate(pair) for pair in parts))
        verdict = Verdict(
            np.arange(len(opening.X) - len(rows), len(opening.X)),
            np.zeros(len(rows)),
            np.ones(len(rows), dtype=int),
            (),
        )
        normal = np.where(np.isnan(opening.told), 1.0, opening.told)
        if len(opening.X) < (settings.every if alone else 2) or np.count_nonzero(normal) < 2:
            self.__dict__.update(header.attributes(), state_=opening, settings_=settings, detector_=detector)
            return verdict
        state = begin(settings, opening.X, opening.time if settings.forgetting.clock else None, normal)
        state = doubt(settings, state, np.flatnonzero(opening.told == 1))
        self._keep_state(header, settings, state, detector)
        return verdict

    def tell(self, rows: Any, normal: Any = True) -> Self:
        """Say of rows that came before whether they were normal; it is learned at once.

        Parameters
        ----------
        rows : int or array-like of int
            Numbers of the rows, as in `Verdict.rows`. Rows that the stream no longer holds are past learning, and are
            left alone.
        normal : bool or array-like of bool, default=True
            Whether they were normal.

        Returns
        -------
        self
            The stream.
        """
        state = self._state()
        which = np.atleast_1d(np.asarray(rows))
        if which.dtype.kind not in "iu" or which.ndim != 1:
            raise ValueError(f"{self._name}: rows must be whole numbers of rows that came, got {rows!r}")
        if which.size and not (which.min() >= 0 and which.max() < state.seen):
            raise ValueError(
                f"{self._name}: rows must be in [0, {state.seen}), got {int(which.min())} to {int(which.max())}"
            )
        known = np.broadcast_to(np.asarray(normal, dtype=bool), which.shape)
        state = self._not_empty(tell(self.settings_, state, which, known))
        return self._keep_state(Header.of(self), self.settings_, state, self.detector_)

    def forget(self, event: Event) -> Self:
        """Take the rows of an adoption out again, as if they had never been learned.

        Parameters
        ----------
        event : Event
            One of `events_`, of kind ``"change"``, ``"mode"`` or ``"wider"``.

        Returns
        -------
        self
            The stream.
        """
        state = self._state()
        if not isinstance(event, Event) or event.kind not in ("change", "mode", "wider"):
            raise ValueError(f"{self._name}: event must be an adoption ('change', 'mode' or 'wider'), got {event!r}")
        held = np.isin(np.asarray(event.rows), state.memory.number)
        if self.settings_.forgetting.window is None and not np.all(held):
            raise ValueError(
                f"{self._name}: event must be of rows that the stream still holds, but {int(np.sum(~held))} of "
                f"{len(event.rows)} are gone"
            )
        state = self._not_empty(forget(self.settings_, state, event))
        self._keep_state(Header.of(self), self.settings_, state, self.detector_)
        self._tell_of(state.events[-1:])
        return self

    def renew(self) -> Self:
        """Choose scaling, bandwidth, landmarks and clusters anew, by the rows that are held, now and not when due.

        Rows that wait to be learned are learned first.

        Returns
        -------
        self
            The stream.
        """
        state = self._state()
        state = learn(self.settings_, state) if len(state.pending) else state
        return self._keep_state(Header.of(self), self.settings_, renew(self.settings_, state), self.detector_)

    def save(self, path: str | Path) -> None:
        """Write the stream into a file, from which `oneclass.load` goes on as if it had never stopped.

        The file is written beside its place and then moved into it: a stream that is killed, at whatever point, leaves
        the last file that was whole. Its `n_seen_` says which row comes next, so that no row is learned twice or lost.
        `on_event` is not saved, and a stream with a detector of river cannot be.

        Parameters
        ----------
        path : str or Path
            The file to write or to replace; by custom it ends in ``.oneclass``.

        Examples
        --------
        >>> import numpy as np, oneclass, tempfile
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> stream = oneclass.Stream().fit(X[:200]).partial_fit(X[200:320])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stream.save(f"{folder}/stream.oneclass")
        ...     again = oneclass.load(f"{folder}/stream.oneclass")
        >>> again = again.partial_fit(X[again.n_seen_ :])
        >>> stream = stream.partial_fit(X[320:])
        >>> bool((again.score_samples(X) == stream.score_samples(X)).all())
        True
        """
        bare = copy.copy(self).set_params(on_event=None)
        super(Stream, bare).save(path)

    # What it is made of.

    def _rows(self, rows: Array, header: Header, settings: Settings) -> Vector:
        # A copy: rows are kept, and what was given may be written over.
        X, scaling = np.array(to_numpy(rows), dtype=float), settings.recipe.scaling
        if scaling != "tamed":
            check_magnitudes(self, ColumnMoments.of(X, np.ones(len(X))), header.names, scaling=scaling)
        return X

    def _keep_state(self, header: Header, settings: Settings, state: State, detector: Any) -> Self:
        return self._keep(
            header,
            state.threshold,
            state.calibration,
            decision_=Decision("stream", settings.delta, held_out=False),
            state_=state,
            settings_=settings,
            detector_=detector,
            events_=state.events,
            n_seen_=state.seen,
            level_=state.level,
        )

    def _not_empty(self, state: State) -> State:
        if not np.any(state.memory.trust > 0):
            raise ValueError(f"{self._name}: the rows named are all that is learned, and something must stay")
        return state

    def _tell_of(self, events: tuple[Event, ...]) -> None:
        for event in events:
            _log.info("%s: %s at row %d, %d rows", self._name, event.kind, event.row, len(event.rows))
            if self.on_event is not None:
                self.on_event(event)

    def _state(self) -> State:
        check_is_fitted(self)
        return self.state_  # type: ignore[return-value]

    def __sklearn_is_fitted__(self) -> bool:
        return isinstance(getattr(self, "state_", None), State)

    # Answers.

    @property
    def machine_(self) -> Machine:
        """The machine of all that is learned."""
        return self._state().machine

    def _losses(self, X: Array) -> Array:
        return losses_of(self.machine_, X)

    def _read(self, X: Any) -> Array:
        return np.asarray(to_numpy(super()._read(X)), dtype=float)

    @property
    def scaler_(self) -> Scaler:  # type: ignore[override]
        """The scaling of the machine."""
        return self.machine_.plan.scaler

    def _parts(self, rows: Array) -> Array | None:
        return parts_of(self.machine_, rows)

    def _expected(self, rows: Array) -> Array | None:
        return expected_of(self.machine_, rows)

    def _kept_rows(self) -> Array | None:
        memory = self._state().memory
        return self.scaler_(memory.X[memory.trust > 0])


def _last_time(known: State | Opening | None) -> float:
    """When the last row came."""
    if isinstance(known, State):
        return float(known.pending.time[-1]) if len(known.pending) else known.now
    return -np.inf if known is None else float(known.time[-1])


def _detected(detector: Any, state: State, rows: Memory) -> tuple[Any, State]:
    """A detector of river after the p-values of rows, and the stream with an event if it found a change."""
    found = False
    for p in state.calibration.p_value(rows.loss).tolist():
        detector.update(p)
        found = found or bool(detector.drift_detected)
    return detector, state.with_event("shift", rows.number, 0.0) if found else state

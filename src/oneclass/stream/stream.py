"""``Stream``: a kernel machine that goes on learning in a world that drifts, and keeps its false-alarm rate."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Annotated, Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from ..base.reading import Header, read_rows, read_training_rows
from ..base.training_set import TrainingSet, read_training_set
from ..core.arrays import to_numpy
from ..core.stored import MAYBE, Count
from ..core.threshold import Decision
from ..core.typing import Labels, Rows, Weights
from ..engines.dask import refuse_dask
from ..machines.kernel_machine import KernelMachine
from .answers import Answers
from .events import Event
from .feedback import forget, tell
from .learning import begin, learn
from .martingale import Martingale
from .memory import Vector
from .parameters import ChangeDetector, detector_of, read_labels, read_normal, read_times, settings_of
from .policy import Patience
from .renewal import renew
from .result import Verdict
from .state import State
from .watching import last_time, opened, watched

__all__ = ["Stream", "Verdict"]


@final
class Stream(Answers):
    """Learn from rows that keep coming while what is normal changes.

    Every row is judged before it is learned. The stream sees *all* rows, anomalies among them, and decides itself which
    to believe: rows that look strange wait, and are learned when they have been many for longer than the `patience`.

    Parameters
    ----------
    estimator : kernel machine, optional
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
    patience : {"prompt"}, float, Patience or None, default="prompt"
        Rows that a change must last before it is learned, or the whole policy. "prompt" is
        ``Patience(rows=140, trial=45)``: a change that leaves nobody of the old world is believed after 45 rows, on
        trial. None believes every row.
    change : {"martingale"}, Martingale, detector or None, default="martingale"
        Test of change, which raises events and decides nothing: a conformal martingale on losses before learning, or a
        detector of river such as ``river.drift.ADWIN()``, which is given p-values.
    every : int, default=50
        Rows that are learned at a time: fewer wait for more to come. Calls with more are learned at their end.
    clock : bool, default=False
        Whether `half_life` and `window` are in units of the `time` that comes with every batch, seconds where that is
        dates. Without a clock they are counted in rows learned, so that an attack which is not believed makes the
        stream forget nothing.
    on_event : callable, optional
        Called with every `Event` as it happens, by the thread that changed the stream, once it is changed.

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
    source_ : (int, str)
        Only if `oneclass watch` has saved the stream: number of the first row of the file that it read, and the
        beginning of that file.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Scores are those of the machine that rows were last learned into, so between two blocks of `every` rows they do not
    change. Parameters that are set after the first batch wait for the next `fit`. Several threads may use one stream:
    calls that change it take turns, and an answer is that of one state.

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

    source_: Annotated[tuple[Count, str], MAYBE]

    def __init__(
        self,
        estimator: KernelMachine | None = None,
        *,
        half_life: float | None = None,
        window: float | None = 1000,
        delta: float = 0.05,
        patience: str | float | Patience | None = "prompt",
        change: str | Martingale | ChangeDetector | None = "martingale",
        every: int = 50,
        clock: bool = False,
        on_event: Callable[[Event], object] | None = None,
    ) -> None:
        self.estimator = estimator
        self.half_life = half_life
        self.window = window
        self.delta = delta
        self.patience = patience
        self.change = change
        self.every = every
        self.clock = clock
        self.on_event = on_event

    # Learning.

    def fit(
        self, X: Rows, y: Labels | None = None, *, sample_weight: Weights | None = None, time: ArrayLike | None = None
    ) -> Self:
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
            When the rows came, for a stream with a `clock`: numbers in no unit in particular, or dates, which are
            seconds.

        Returns
        -------
        self
            The stream.
        """
        refuse_dask(self._name, X)
        settings_of(self)  # refuses parameters before rows are read
        training = read_training_set(self, X, y, sample_weight=sample_weight)
        return self._start(training, read_times(self, time, len(training.X), -np.inf))

    def _fit_set(self, training: TrainingSet, decision: Decision) -> Self:
        if training.grouped:
            raise ValueError(f"{self._name}: groups must be None: a stream scores every row before learning it")
        return self._start(training, read_times(self, None, len(training.X), -np.inf))

    def _start(self, training: TrainingSet, when: Vector | None) -> Self:
        settings = settings_of(self)
        rows, w = self._rows(training.X, training.header, settings), np.asarray(to_numpy(training.w), dtype=float)
        if np.count_nonzero(w) < 2:
            raise ValueError(f"{self._name}: sample_weight must be positive for two rows of the target class")
        with self._changing():
            state = begin(settings, rows, when, w)
            return self._keep_state(training.header, settings, state, copy.deepcopy(detector_of(self)))

    def partial_fit(self, X: Rows, y: Labels | None = None, *, time: ArrayLike | None = None) -> Self:
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

    def learn(self, X: Rows, normal: ArrayLike = True, *, time: ArrayLike | None = None) -> Self:
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
        rows: Any = X
        n = len(rows) if hasattr(rows, "__len__") else np.shape(rows)[0]
        return self.partial_fit(X, np.where(read_normal(self, normal, n), 1, -1), time=time)

    def watch(self, X: Rows, y: Labels | None = None, *, time: ArrayLike | None = None) -> Verdict:
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
        refuse_dask(self._name, X)
        with self._changing():
            verdict = self._watched(X, y, time)
        self._tell_of(verdict.events)
        return verdict

    def _watched(self, X: Rows, y: Labels | None, time: ArrayLike | None) -> Verdict:
        known = getattr(self, "state_", None)
        if known is None:
            settings, (rows, header) = settings_of(self), read_training_rows(self, X, min_rows=1)
            detector = copy.deepcopy(detector_of(self))
        else:
            settings, header = self.settings_, Header.of(self)
            rows, detector = read_rows(header, X), self.change_detector_
        rows = self._rows(rows, header, settings)
        told = read_labels(self, y, len(rows))
        when = read_times(self, time, len(rows), last_time(known))
        if isinstance(known, State):
            state, detector, verdict = watched(settings, known, detector, rows, when, told)
            self._keep_state(header, settings, state, detector)
            return verdict
        begun, verdict = opened(settings, known, rows, when, told)
        if isinstance(begun, State):
            self._keep_state(header, settings, begun, detector)
        else:
            self.__dict__.update(header.attributes(), state_=begun, settings_=settings, change_detector_=detector)
        return verdict

    def tell(self, rows: ArrayLike, normal: ArrayLike = True) -> Self:
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
        with self._changing():
            state = self._state()
            which = np.atleast_1d(np.asarray(rows))
            if not which.size:
                return self
            if which.dtype.kind not in "iu" or which.ndim != 1:
                raise ValueError(f"{self._name}: rows must be whole numbers of rows that came, got {rows!r}")
            if not (which.min() >= 0 and which.max() < state.seen):
                raise ValueError(
                    f"{self._name}: rows must be in [0, {state.seen}), got {int(which.min())} to {int(which.max())}"
                )
            known = read_normal(self, normal, len(which))
            return self._keep_next(self._not_empty(tell(self.settings_, state, which, known)))

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
        with self._changing():
            told = self._forgotten(event)
        self._tell_of((told,))
        return self

    def _forgotten(self, event: Event) -> Event:
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
        self._keep_next(state)
        return state.events[-1]

    def renew(self) -> Self:
        """Choose scaling, bandwidth, landmarks and clusters anew, by the rows that are held, now and not when due.

        Rows that wait to be learned are learned first.

        Returns
        -------
        self
            The stream.
        """
        with self._changing():
            state = self._state()
            state = learn(self.settings_, state) if len(state.pending) else state
            return self._keep_next(renew(self.settings_, state))

"""``Stream``: a kernel machine that learns from rows over time, while their distribution changes (drift)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Annotated, Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from ..base.reading import Header, read_rows, read_training_rows
from ..base.training_set import TrainingSet, read_training_set
from ..core.arrays import to_numpy
from ..core.stored import MAYBE
from ..core.threshold import Decision
from ..core.typing import Labels, Rows, Weights
from ..engines.dask import refuse_dask
from ..machines.kernel_machine import KernelMachine
from .answers import Answers
from .events import Event, Martingale, Verdict
from .known import renewed
from .learning import begin, forget, learn, opened, tell, watched
from .parameters import ChangeDetector, detector_of, read_labels, read_normal, read_times, settings_of
from .policy import Patience
from .state import State, last_time
from .window import Vector

__all__ = ["Stream"]


@final
class Stream(Answers):
    """Learn from rows that arrive over time while the distribution of normal rows changes.

    The stream scores each row before it learns it. It receives *all* rows, including anomalies, and decides itself
    which rows it learns. It holds back rows that look anomalous. It learns them later if rows of their kind are
    frequent for longer than `patience`. After the first 500 learned rows, rows without labels are learned only once the
    data change (not with `clock=True`, with `patience=None` or with `Patience.drift=0`, which learn them at once).

    Parameters
    ----------
    estimator : kernel machine, optional
        The machine to update. The stream uses its kernel, C, loss, variance, scaling and approximation, and ignores its
        `delta`, `threshold` and `device`. None means ``AAKELM(approximation=Nystrom(256))`` with robust scaling and the
        Laplacian kernel, and a C between 1 and 8: the more of the learned rows are labelled, the larger. A larger C
        gives a single row more influence, so use a small C if the rows may include anomalies.
    half_life : float, optional
        Number of learned rows after which the weight of a row is halved. It cannot be combined with `window`.
    window : float, optional, default=1000
        Number of latest learned rows that the stream keeps. Older rows are removed exactly. If `window` and `half_life`
        are None, the stream forgets nothing.
    delta : float in (0, 0.5), default=0.05
        False-alarm rate in the long run: the share of the normal rows that may be alarms.
    patience : {"prompt"}, float, Patience or None, default="prompt"
        Number of rows for which a change must last before it is learned, or a `Patience` with all rules. "prompt" means
        ``Patience(rows=140, trial=45)``: a change after which no row resembles the earlier data is learned
        provisionally after 45 rows. None learns every row.
    change : {"martingale"}, Martingale, detector or None, default="martingale"
        Test for change, which raises events but does not affect learning. "martingale" is a conformal martingale on the
        losses before learning. A river detector such as ``river.drift.ADWIN()`` gets p-values.
    every : int, default=50
        Number of rows that are learned at a time. Fewer rows stay pending until more arrive. A call with more rows
        learns them at its end, or after each 256 rows.
    clock : bool, default=False
        Whether `half_life` and `window` are in units of the `time` that comes with every batch (seconds, if it holds
        dates). Without a clock they are in learned rows, so that an attack that is not learned does not make the stream
        forget.
    on_event : callable, optional
        Function that is called with each `Event`, in the thread that changed the stream, after the change is complete.

    Attributes
    ----------
    events_ : tuple of Event
        The latest 256 events.
    n_seen_ : int
        Number of rows so far, which is also the number of the next row.
    offset_ : float
        Threshold on `score_samples`.
    level_ : float
        Largest p-value of an alarm. It starts at `delta` and is corrected by the alarms so far. At zero or less, only
        losses above all of the calibration are alarms.
    calibration_ : Calibration
        The latest losses, before learning, of rows that may be normal: all but rows in long bursts of alarms, and rows
        that were labelled as anomalies.
    machine_ : Machine
        The machine fitted to all learned rows.
    state_ : State
        The state of the stream as one frozen value.
    source_ : (int, str)
        Only if `oneclass watch` saved the stream: the number of the first row of the file that it read, and the
        beginning of that file.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Scores use the machine after the last learned block, so they do not change between two blocks of `every` rows.
    Parameters that are set after the first batch take effect at the next `fit`. Several threads may use one stream.
    Calls that change it run one after the other, and each answer depends on a single state.

    Examples
    --------
    >>> import numpy as np
    >>> from oneclass import Stream
    >>> rng = np.random.default_rng(0)
    >>> stream = Stream(window=500).fit(rng.normal(size=(300, 2)))
    >>> for t in range(20):  # the mean increases by a fifth of a standard deviation every 50 rows
    ...     verdict = stream.watch(rng.normal(size=(50, 2)) + 0.2 * t)
    >>> stream.predict([[4.0, 4.0], [-3.0, -3.0]])
    array([ 1, -1])
    """

    source_: Annotated[tuple[int, str], MAYBE]

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
        """Restart the stream with rows that are all learned as normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of arrival.
        y : array-like of shape (n_samples,), optional
            Labels as in the machines: rows that are not of the target class are not learned.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight w counts as w copies of itself.
        time : array-like of shape (n_samples,), optional
            Times of arrival, for a stream with a `clock`: numbers in any unit, or dates, which are converted to
            seconds.

        Returns
        -------
        self
            The stream.
        """
        refuse_dask(self._name, X)
        settings_of(self)  # checks the parameters before the rows are read
        training = read_training_set(self, X, y, sample_weight=sample_weight)
        return self._start(training, read_times(self, time, len(training.X), -np.inf))

    def _fit_set(self, training: TrainingSet, decision: Decision) -> Self:
        if training.grouped:
            raise ValueError(f"{self._name}: groups must be None, because a stream scores each row before it learns it")
        return self._start(training, read_times(self, None, len(training.X), -np.inf))

    def _start(self, training: TrainingSet, when: Vector | None) -> Self:
        settings = settings_of(self)
        rows, w = self._rows(training.X, training.header, settings), np.asarray(to_numpy(training.w), dtype=float)
        with self._changing():
            state = begin(settings, rows, when, w, np.ones(len(rows), dtype=bool))
            return self._keep_state(training.header, settings, state, copy.deepcopy(detector_of(self)))

    def partial_fit(self, X: Rows, y: Labels | None = None, *, time: ArrayLike | None = None) -> Self:
        """Score rows; learn labelled rows and, once the data have changed, all accepted rows.

        The first call starts the stream as `fit` does, but it holds back anomalous rows. If a batch is invalid, for
        example because of a NaN, none of its rows is learned and the stream does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of arrival, normal rows and anomalies.
        y : array-like of shape (n_samples,), optional
            +1 for rows that are known to be normal, -1 for known anomalies; any other value is no label.
        time : array-like of shape (n_samples,), optional
            Times of arrival, for a stream with a `clock`.

        Returns
        -------
        self
            The stream.
        """
        self.watch(X, y, time=time)
        return self

    def learn(self, X: Rows, normal: ArrayLike = True, *, time: ArrayLike | None = None) -> Self:
        """Score labelled rows, then learn those that are labelled as normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of arrival.
        normal : bool or array-like of bool of shape (n_samples,), default=True
            Whether the rows are normal. Normal rows are learned and other rows are not, whatever their scores are.
        time : array-like of shape (n_samples,), optional
            Times of arrival, for a stream with a `clock`.

        Returns
        -------
        self
            The stream.
        """
        rows: Any = X
        n = len(rows) if hasattr(rows, "__len__") else np.shape(rows)[0]
        return self.partial_fit(X, np.where(read_normal(self, normal, n), 1, -1), time=time)

    def watch(self, X: Rows, y: Labels | None = None, *, time: ArrayLike | None = None) -> Verdict:
        """Score rows, learn from them, and return the scores.

        Labelled rows are learned and, once the data have changed, all accepted rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of arrival, normal rows and anomalies.
        y : array-like of shape (n_samples,), optional
            +1 for rows that are known to be normal, -1 for known anomalies; any other value is no label.
        time : array-like of shape (n_samples,), optional
            Times of arrival, for a stream with a `clock`.

        Returns
        -------
        Verdict
            Row numbers, scores and labels before learning, and events.
        """
        refuse_dask(self._name, X)
        with self._changing():
            verdict = self._watched(X, y, time)
        self._tell_of(verdict.events)
        return verdict

    def _watched(self, X: Rows, y: Labels | None, time: ArrayLike | None) -> Verdict:
        state_before = getattr(self, "state_", None)
        if state_before is None:
            settings, (rows, header) = settings_of(self), read_training_rows(self, X, min_rows=1)
            detector = copy.deepcopy(detector_of(self))
        else:
            settings, header = self.settings_, Header.of(self)
            rows, detector = read_rows(header, X), self.change_detector_
        rows = self._rows(rows, header, settings)
        given_trust = read_labels(self, y, len(rows))
        when = read_times(self, time, len(rows), last_time(state_before))
        if isinstance(state_before, State):
            state, detector, verdict = watched(settings, state_before, detector, rows, when, given_trust)
            self._keep_state(header, settings, state, detector)
            return verdict
        begun, verdict = opened(settings, state_before, rows, when, given_trust)
        if isinstance(begun, State):
            self._keep_state(header, settings, begun, detector)
        else:
            self.__dict__.update(header.attributes(), state_=begun, settings_=settings, change_detector_=detector)
        return verdict

    def tell(self, rows: ArrayLike, normal: ArrayLike = True) -> Self:
        """Label earlier rows as normal or not, and learn the labels at once.

        Rows labelled as anomalies become known outliers, here and in `watch`: the losses of rows like them rise
        (docs/known_outliers.md).

        Parameters
        ----------
        rows : int or array-like of int
            Numbers of the rows, as in `Verdict.rows`. Labels of rows that the stream no longer keeps have no effect.
        normal : bool or array-like of bool, default=True
            Whether the rows are normal.

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
                raise ValueError(f"{self._name}: rows must be whole numbers, the numbers of earlier rows, got {rows!r}")
            if not (which.min() >= 0 and which.max() < state.seen):
                raise ValueError(
                    f"{self._name}: rows must be in [0, {state.seen}), got {int(which.min())} to {int(which.max())}"
                )
            is_normal = read_normal(self, normal, len(which))
            return self._keep_next(self._not_empty(tell(self.settings_, state, which, is_normal)))

    def forget(self, event: Event) -> Self:
        """Undo the learning of the rows that an event adopted, as if they had never been learned.

        Parameters
        ----------
        event : Event
            One of `events_`, of kind ``"change"`` or ``"mode"`` (or ``"wider"``, only in files of earlier builds).

        Returns
        -------
        self
            The stream.
        """
        with self._changing():
            forgotten = self._forgotten(event)
        self._tell_of((forgotten,))
        return self

    def _forgotten(self, event: Event) -> Event:
        state = self._state()
        if not isinstance(event, Event) or event.kind not in ("change", "mode", "wider"):
            raise ValueError(f"{self._name}: event must be of kind 'change', 'mode' or 'wider', got {event!r}")
        held = np.isin(np.asarray(event.rows), state.memory.number)
        if self.settings_.forgetting.window is None and not np.all(held):
            raise ValueError(
                f"{self._name}: event must be about rows that the stream still keeps, but it no longer keeps "
                f"{int(np.sum(~held))} of its {len(event.rows)} rows"
            )
        state = self._not_empty(forget(self.settings_, state, event))
        self._keep_next(state)
        return state.events[-1]

    def renew(self) -> Self:
        """Choose scaling, bandwidth, landmarks and clusters again from the kept rows, without waiting for a change.

        The stream first learns pending rows.

        Returns
        -------
        self
            The stream.
        """
        with self._changing():
            state = self._state()
            state = learn(self.settings_, state) if len(state.pending) else state
            return self._keep_next(renewed(self.settings_, state))

"""The base class of `Stream`, with the methods that read its state: losses, explanations and files."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.checks import check_magnitudes
from ..base.classifier import OneClassClassifier
from ..base.known_outliers import nearest_outliers
from ..base.nearest_known import NearestKnown
from ..base.reading import Header
from ..base.threads import lock_of
from ..core.arrays import Array, to_numpy
from ..core.machine import Machine
from ..core.scaling import ColumnMoments, Scaler
from ..core.stored import must
from ..core.threshold import Decision, Rule, conformal
from ..core.typing import Rows
from ..machines.exact import losses_of
from ..machines.explaining import expected_of, parts_of
from ..machines.kernel_machine import KernelMachine
from .events import Event, Events
from .parameters import ChangeDetector, default_machine
from .state import Opening, Settings, State
from .window import Vector

__all__ = ["Answers"]

_log = logging.getLogger("oneclass")


class Answers(OneClassClassifier):
    """A classifier whose answers depend on a frozen `State`, which the methods that learn replace by another one."""

    #: A stream sets its threshold by the false alarms so far, so that users cannot choose another rule.
    _thresholds: ClassVar[dict[str, Rule]] = {"stream": conformal}
    _held_out_thresholds: ClassVar[tuple[str, ...]] = ()
    threshold = "stream"
    confidence = None
    rate_by = "group"

    estimator: KernelMachine | None
    on_event: Callable[[Event], object] | None
    state_: State | Opening
    settings_: Settings
    change_detector_: ChangeDetector | None

    @property
    def scale(self) -> str | bool:
        """The parameter `scale` of the machine: how it scales columns."""
        return (default_machine() if self.estimator is None else self.estimator).scale

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Save the stream to a file, from which `oneclass.load` restores it exactly.

        The stream writes a temporary file in the same folder and then renames it. If the process is killed, the
        previous file stays complete. The attribute `n_seen_` is the number of the next row, so that no row is learned
        twice or lost. The parameter `on_event` is not saved. A stream with a river detector cannot be saved.

        Parameters
        ----------
        path : str or Path
            The file to write or to replace; its name usually ends in ``.oneclass``.
        force : bool, default=False
            Whether to overwrite a file that is not a model. By default such a file is an error.

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
        super(Answers, bare).save(path, force=force)

    def __derived__(self) -> dict[str, object]:
        return _shown(self._state()) if self.__sklearn_is_fitted__() else {}

    def __check__(self) -> dict[str, int]:
        super().__check__()
        state, settings = self._state(), self.settings_
        must(self.change_detector_ is None, "change_detector_ must be None")
        bets = len(state.bets.losses)
        must(settings.test is None or bets < settings.test.epoch, f"the test of change must have an epoch above {bets}")
        return {"d": self.n_features_in_}

    # Reading and replacing the state.

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the lock of the stream while its state is changed, and put its name into errors of the core."""
        with lock_of(self), self._naming():
            yield

    def _rows(self, rows: Array, header: Header, settings: Settings) -> Vector:
        # A copy, because the stream keeps the rows and the caller may change its own array.
        X, scaling = np.array(to_numpy(rows), dtype=float), settings.recipe.scaling
        if scaling != "robust":
            check_magnitudes(self, ColumnMoments.of(X, np.ones(len(X))), header.names, scaling=scaling)
        return X

    def _keep_state(self, header: Header, settings: Settings, state: State, detector: ChangeDetector | None) -> Self:
        return self._keep(
            header,
            state.threshold,
            state.calibration,
            decision_=Decision("stream", settings.delta, held_out=False),
            state_=state,
            settings_=settings,
            change_detector_=detector,
            **_shown(state),
        )

    def _keep_next(self, state: State) -> Self:
        """Keep a state that follows the present one, with the same settings, columns and detector."""
        return self._keep_state(Header.of(self), self.settings_, state, self.change_detector_)

    def _not_empty(self, state: State) -> State:
        if not np.any(state.memory.trust > 0):
            raise ValueError(f"{self._name}: at least one learned row must remain, but these rows are all of them")
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

    # Losses and explanations.

    @property
    def machine_(self) -> Machine:
        """The machine fitted to all learned rows."""
        return self._state().machine

    def _losses(self, X: Array) -> Array:
        state = self._state()
        return losses_of(state.machine, X) if state.known is None else state.losses(state.plan.scaler(X))[0]

    def _read(self, X: Rows) -> Array:
        return np.asarray(to_numpy(super()._read(X)), dtype=float)

    @property
    def scaler_(self) -> Scaler:  # type: ignore[override]
        """The scaler of the machine."""
        return self.machine_.plan.scaler

    def _parts(self, rows: Array) -> Array | None:
        return parts_of(self.machine_, rows) if self._state().known is None else None

    def _nearest_known(self, rows: Array) -> NearestKnown | None:
        state = self._state()
        if (known := state.known) is None:
            return None
        Z = state.plan.scaler(rows)
        own, added = known.loss(losses_of(state.machine, rows)), known.counted(known.scores(state.plan.kernel, Z))
        return nearest_outliers(known, state.plan.scaler, rows, own, added)

    def _expected(self, rows: Array) -> Array | None:
        return None if len(self._kept_rows()) else expected_of(self.machine_, rows)

    def _kept_rows(self) -> Array:
        memory = self._state().memory
        return memory.Z[memory.trust > 0]


def _shown(state: State) -> dict[str, Any]:
    """The attributes of a fitted stream that show parts of its state."""
    return {"events_": Events(state.events), "n_seen_": state.seen, "level_": state.level}

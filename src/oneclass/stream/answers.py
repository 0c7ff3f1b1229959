"""What a stream answers by what it knows: losses, explanations, files."""

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
from .events import Event
from .memory import Vector
from .parameters import ChangeDetector, default_machine
from .result import Opening
from .state import Settings, State

__all__ = ["Answers"]

_log = logging.getLogger("oneclass")


class Answers(OneClassClassifier):
    """A classifier whose answers are those of a `State`, which its methods replace by another."""

    #: The threshold of a stream is put by what was delivered so far: there is none to choose.
    _thresholds: ClassVar[dict[str, Rule]] = {"stream": conformal}
    _held_out_thresholds: ClassVar[tuple[str, ...]] = ()
    threshold = "stream"
    confidence = None

    estimator: KernelMachine | None
    on_event: Callable[[Event], object] | None
    state_: State | Opening
    settings_: Settings
    change_detector_: ChangeDetector | None

    @property
    def scale(self) -> str | bool:
        """How the machine scales columns."""
        return (default_machine() if self.estimator is None else self.estimator).scale

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
        super(Answers, bare).save(path)

    def __derived__(self) -> dict[str, object]:
        return _shown(self._state()) if self.__sklearn_is_fitted__() else {}

    def __check__(self) -> dict[str, int]:
        super().__check__()
        state, settings = self._state(), self.settings_
        must(self.change_detector_ is None, "change_detector_ must be None")
        bets = len(state.bets.losses)
        must(settings.test is None or bets < settings.test.epoch, f"the test of change must have an epoch above {bets}")
        return {"d": self.n_features_in_}

    # What it is made of.

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change what the stream knows while no other thread does; errors of the core bear the stream's name."""
        with lock_of(self), self._naming():
            yield

    def _rows(self, rows: Array, header: Header, settings: Settings) -> Vector:
        # A copy: rows are kept, and what was given may be written over.
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
        """The same for a state that follows the present one."""
        return self._keep_state(Header.of(self), self.settings_, state, self.change_detector_)

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

    def _read(self, X: Rows) -> Array:
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
        return memory.Z[memory.trust > 0]


def _shown(state: State) -> dict[str, Any]:
    """The attributes of a fitted stream that show parts of its state."""
    return {"events_": state.events, "n_seen_": state.seen, "level_": state.level}

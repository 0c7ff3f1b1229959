"""Machines that go on learning, each by a stream of its own."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Self

from sklearn.base import clone

from ..contract.base import OneClassClassifier
from ..contract.notices import warn
from ..contract.reading import Header
from ..core.given import Labels, Rows
from ..core.kernels import is_radial
from ..core.machine import Machine

if TYPE_CHECKING:
    from .. import Stream

__all__ = ["GoesOn", "published"]


class GoesOn(OneClassClassifier):
    """A machine that may be fed rows as they come, and then is what its stream knows."""

    #: The stream of a machine that goes on learning.
    stream_: Stream | None = None

    def partial_fit(self, X: Rows, y: Labels | None = None) -> Self:
        """Judge rows, then learn those that are believed: this machine as a `Stream` that forgets nothing.

        Rows may be of any kind, in the order of their coming. Those that look strange wait, and are learned when they
        have been many for longer than the default patience; what is known to be normal or not is said by `y`. From then
        on all answers are those of the stream, which is `stream_`. Its threshold is put on losses before learning, at a
        rate of `delta`; `threshold`, `confidence` and `device` have no part in it. An approximation of None or "auto"
        is ``Nystrom(1000)``, chosen anew as rows become twice as many, as long as all of them, up to 4,096, are held.

        A call after `fit` begins anew, and says so. To go on from rows that are believed, to forget, to choose the
        patience, or to learn labels that come later, take ``Stream(machine, window=1000)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; the first two or more are the beginning.
        y : array-like of shape (n_samples,), optional
            +1 for rows that are known to be normal, -1 for known anomalies; any other value is no label.

        Returns
        -------
        self
            The machine.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import AAKELM, Nystrom
        >>> rng = np.random.default_rng(0)
        >>> machine = AAKELM(C=1.0, approximation=Nystrom(50))
        >>> for _ in range(5):
        ...     machine = machine.partial_fit(rng.normal(size=(100, 2)))
        >>> machine.predict([[0.0, 0.0], [6.0, 6.0]])
        array([ 1, -1])
        """
        stream = _fed(self, X, y)
        header = Header.of(stream)
        if not stream.__sklearn_is_fitted__():
            self._forget()
            self.__dict__.update(header.attributes(), stream_=stream)
            return self
        return self._keep(
            header,
            -stream.offset_,
            stream.calibration_,
            None,
            decision_=stream.decision_,
            device_=None,
            _kept_columns_=None,
            stream_=stream,
            machine_=stream.machine_,
            approximation_=stream.settings_.approximation,
            **published(stream.machine_),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "offset_" in vars(self)  # a stream may still wait for its second row


def published(machine: Machine) -> dict[str, object]:
    """The attributes of a fitted machine that show parts of it."""
    plan = machine.plan
    found = {
        "model_": machine.model,
        "scaler_": plan.scaler,
        "kernel_": plan.kernel,
        "C_": plan.C,
        "signal_": machine.signal,
    }
    found |= {"sigma_": float(plan.kernel.sigma)} if is_radial(plan.kernel) else {}
    return found | ({} if machine.labels is None else {"cluster_labels_": machine.labels})


def _fed(machine: GoesOn, X: Rows, y: Labels | None) -> Stream:
    """The stream of a machine after more rows, the first of all or not; the machine, and its own, stay as they are."""
    # By the front door, and when it is needed: streams are made of machines, and stand above them.
    from .. import Stream

    name = type(machine).__name__
    if machine.stream_ is not None:
        stream = copy.copy(machine.stream_)
    else:
        stream = Stream(clone(machine), window=None, delta=machine.delta, every=1)
        if machine.__sklearn_is_fitted__():
            warn(
                f"{name}: partial_fit begins anew, for a fit cannot be gone on from; a stream can, and is opened "
                f"with rows that are believed by Stream({name}(...), window=None).fit(X)"
            )
    try:
        stream.partial_fit(X, y)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(str(error).replace(Stream.__name__, name, 1)) from None
    return stream

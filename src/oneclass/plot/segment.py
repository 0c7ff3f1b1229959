"""What displays show of a model: that of all rows or, after a fit with segments, that of one segment."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from ..base.groups import label_texts
from ..base.protocol import Detector
from ..core.calibration import Calibration
from ..core.typing import Rows

__all__ = ["Shown", "shown_of"]


class Shown(NamedTuple):
    """The threshold and calibration of the rows shown, and the options for the model's methods."""

    offset: float
    calibration: Calibration | None
    options: dict[str, Any]


def shown_of(model: Detector, X: Rows, segment: object, *, caller: str) -> Shown:
    """Return what displays show of the rows `X`, which are all of one segment if the fit had segments."""
    known, everywhere = model.segments_, model.calibration_
    if known is None or everywhere is None:
        if segment is not None:
            raise ValueError(f"{caller}: segment must be None, because the fit had no segments; got {segment!r}")
        return Shown(float(model.offset_), everywhere, {})
    text = "" if segment is None else str(label_texts(np.asarray([segment]))[0])
    if text not in known.labels:
        raise ValueError(
            f"{caller}: segment must be one of those of the fit, {', '.join(known.labels)}, because each has its own "
            f"threshold; X must then hold rows of this segment; got {segment!r}"
        )
    k = known.labels.index(text)
    offset = -known.threshold(k, everywhere, model.decision_.budget)
    return Shown(offset, known.calibrations[k], {"segments": np.full(_num_samples(X), text)})

"""The description of a fitted model as a dict."""

from __future__ import annotations

from typing import Any

import oneclass as library

__all__ = ["described", "learned", "plan_rows", "segment_rows"]


def described(model: Any) -> dict[str, Any]:
    """Class, parameters, threshold, held-out rows, smallest p-value and columns of a fitted model, for JSON."""
    detector = model.estimator_ if isinstance(model, library.TableDetector) else model
    fields: dict[str, Any] = {"kind": type(model).__name__, "detector": " ".join(repr(detector).split())}
    if isinstance(model, library.TableDetector):
        fields["columns"] = plan_rows(model)
        if model.segments_ is not None:
            fields["segments"] = segment_rows(model)
    if isinstance(detector, library.Stream):
        return fields | {"rows": detector.n_seen_}
    fields |= {"delta": model.decision_.delta, "threshold": model.decision_.rule}
    if model.calibration_ is not None:
        fields["held_out"] = float(model.calibration_.total)
        fields["smallest_p_value"] = float(model.calibration_.smallest_budget)
    if model.decision_.held_out:
        fields["rate_95"] = [*model.false_alarm_interval()]
    return fields | learned(detector)


def learned(detector: object) -> dict[str, int]:
    """How many known outliers, and how many rows that were answered to be normal, a classifier has learned."""
    known, answered = getattr(detector, "known_", None), getattr(detector, "answered_", None)
    outliers = {} if known is None else {"known_outliers": int(known.rows.shape[0])}
    return outliers | ({} if answered is None or not answered.any() else {"answered_normal": int(answered.sum())})


def plan_rows(model: library.TableDetector) -> list[dict[str, object]]:
    """The column plan of a model, for JSON."""
    return [{"name": column.name, "kind": column.kind, "why": column.why} for column in model.plan_.columns]


def segment_rows(model: library.TableDetector) -> list[dict[str, object]]:
    """The false-alarm rates by segment."""
    return [found._asdict() for found in model.segment_rates()]

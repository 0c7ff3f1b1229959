"""False-alarm rates with few rows, many columns and heavy tails, where leave-one-out thresholds are least certain.

Training rows and new rows are independent draws of one distribution, and 5 % false alarms are asked for. Writes a table
of docs/false_alarms.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import oneclass
from _arrays import Rng, Rows
from _table import markdown, write_between_markers
from oneclass.base.classifier import OneClassClassifier

DRAWS, NEW, DELTA = 40, 1000, 0.05
Draw = Callable[[Rng, tuple[int, int]], Rows]
#: Name: training rows, columns, distribution.
CASES: dict[str, tuple[int, int, Draw]] = {
    "99 rows of 30 lognormal(2)": (99, 30, lambda rng, shape: rng.lognormal(0, 2, shape)),
    "199 rows of 10 t(3)": (199, 10, lambda rng, shape: rng.standard_t(3, shape)),
    "19 rows of 50 normal": (19, 50, lambda rng, shape: rng.normal(size=shape)),
    "19 rows of 50 Cauchy": (19, 50, lambda rng, shape: rng.standard_cauchy(shape)),
    "39 rows of 300 normal": (39, 300, lambda rng, shape: rng.normal(size=shape)),
}
#: Classifier and its parameters other than the defaults.
CLASSIFIERS: tuple[tuple[str, dict[str, str]], ...] = (
    ("OCKELM", {}),
    ("VOCKELM", {}),
    ("AAKELM", {}),
    ("VAAKELM", {}),
    ("VAAKELM", {"scale": "zscore"}),
    ("OCSVM", {}),
    ("SVDD", {}),
    ("KNNDetector", {}),
    ("PCADetector", {}),
    ("KMeansDetector", {}),
    ("NaiveParzen", {}),
    ("OCELM", {}),
)


def made(name: str, params: dict[str, str], seed: int) -> OneClassClassifier:
    """Return a classifier, with the seed if it draws at random."""
    model: OneClassClassifier = getattr(oneclass, name)(delta=DELTA, **params)
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def rejected(name: str, params: dict[str, str], case: str) -> tuple[float, float]:
    """Return the mean rate over the draws in percent, and its standard error."""
    n, d, draw = CASES[case]
    rates = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        model = made(name, params, seed).fit(draw(rng, (n, d)))
        rates.append(100 * np.mean(model.predict(draw(rng, (NEW, d))) == -1))
    return float(np.mean(rates)), float(np.std(rates, ddof=1) / np.sqrt(DRAWS))


def main() -> None:
    body, errors = [], []
    for name, params in CLASSIFIERS:
        found = [rejected(name, params, case) for case in CASES]
        errors += [error for _, error in found]
        title = ", ".join([name, *(f'`{key}="{value}"`' for key, value in params.items())])
        body.append([title, *(f"{mean:.1f}" for mean, _ in found)])
        print(*body[-1], flush=True)
    note = (
        f"Percent of new normal rows rejected, 5 % asked for; means of {DRAWS} draws, with standard errors of "
        f"{min(errors):.1f} to {max(errors):.1f} points (median {np.median(errors):.1f})."
    )
    text = f"{markdown(['classifier', *CASES], body)}\n\n{note}"
    write_between_markers(Path(__file__).parents[1] / "docs" / "false_alarms.md", "few rows", text)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()

"""Numerics: scores, held-out scores and p-values of machines, beside the same equations with 60 digits."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf
from threadpoolctl import threadpool_limits

import oneclass
from oneclass import Nystrom, OneClassWarning

from .tally import Result, counted, own_words

__all__ = ["ACCURACY", "run"]

#: Digits of the reference. Systems have condition numbers up to 1e24.
DIGITS = 60
#: The largest error of a score, relative to the largest score: ACCURACY times `Case.condition`, if the kernel is exact.
ACCURACY = 5e-15
#: What the Gaussian kernel adds: the largest rounding error of a squared norm, relative to it (`core/kernels.py`).
ROUNDING = 8 * float(np.finfo(float).eps)
#: Difference between one and two BLAS threads, relative to the largest score.
THREADS = 1e-9

#: Losses that differ by less than this share of their size or range count as equal in p-values.
MARGIN = float(np.finfo(float).eps) ** (2 / 3)

ROWS, COLUMNS, FRESH = 10, 2, 4
#: The largest weight; its inverse is the smallest.
HEAVIEST = 1e3


@dataclass(frozen=True)
class Case:
    """Parameters of a machine and the seed of its rows."""

    machine: str
    kernel: str
    loss: str
    C: float
    lam: float
    sigma: float
    weights: str
    seed: int

    def __str__(self) -> str:
        return f"{self.machine} {self.kernel} {self.loss} C={self.C:.1g} lam={self.lam:.1g} sigma={self.sigma:.1g} " + (
            f"weights {self.weights} seed {self.seed}"
        )

    @property
    def condition(self) -> float:
        """A bound on the condition of the system: n w C / lam + 1 for weights up to w, and 1 / C with a variance."""
        heaviest = {"one": 1.0, "counts": 3.0, "any": HEAVIEST}[self.weights]
        return ROWS * heaviest * self.C / self.lam + 1 + (1 / self.C if self.machine == "VAAKELM" else 0)


def drawn(seed: int) -> Case:
    """A machine with C, lam, sigma and weights from the whole range of each."""
    rng = np.random.default_rng(seed)
    machine = str(rng.choice(["OCKELM", "AAKELM", "VAAKELM"]))
    rebuilding = ["reconstruction", "uncertainty"]
    return Case(
        machine,
        str(rng.choice(["rbf", "laplacian"])),
        "absolute" if machine == "OCKELM" else str(rng.choice(rebuilding)),
        float(10 ** rng.uniform(-8, 10)),
        float(10 ** rng.uniform(-3, 3)) if machine == "VAAKELM" else 1.0,
        float(10 ** rng.uniform(-3, 3)),
        str(rng.choice(["one", "counts", "any"])) if machine == "AAKELM" else "one",
        seed,
    )


def rows_of(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Training rows, fresh rows and weights."""
    rng = np.random.default_rng(case.seed)
    X, fresh = rng.normal(size=(ROWS, COLUMNS)), 1.5 * rng.normal(size=(FRESH, COLUMNS))
    w = {"one": None, "counts": rng.integers(1, 4, ROWS).astype(float), "any": HEAVIEST ** rng.uniform(-1, 1, ROWS)}
    return X, fresh, w[case.weights]


def stated(case: Case) -> float:
    """The largest error that is stated for a case, relative to the largest score.

    The Gaussian kernel takes squared distances from squared norms, with the mean as origin. Their rounding is the
    relative error of a kernel value. It is large for two rows that are near each other and, in bandwidths, far from the
    mean.
    """
    kernel = 0.0
    if case.kernel == "rbf":
        X, fresh, _ = rows_of(case)
        rows = (np.concatenate([X, fresh]) - X.mean(axis=0)) / case.sigma
        halves = (rows**2).sum(axis=1) / 2
        apart = ((rows[:, None] - rows) ** 2).sum(axis=2) / 2
        values = np.exp(-apart) * (halves[:, None] + halves)
        kernel = ROUNDING * float(values[~np.eye(len(rows), dtype=bool)].max())
    return (ACCURACY + kernel) * case.condition


# The reference. All functions work on matrices of mpmath.


def _kernel(case: Case, X: np.ndarray, Y: np.ndarray) -> Any:
    def value(x: np.ndarray, y: np.ndarray) -> Any:
        gaps = [mpf(float(a)) - mpf(float(b)) for a, b in zip(x, y, strict=True)]
        sigma = mpf(case.sigma)
        if case.kernel == "rbf":
            return mp.exp(-sum(gap**2 for gap in gaps) / (2 * sigma**2))
        return mp.exp(-sum(abs(gap) for gap in gaps) / sigma)

    return mp.matrix([[value(x, y) for y in Y] for x in X])


def _within_class(n: int, kept: list[int]) -> Any:
    """The class variance: the sum over rows of squared deviations from their mean, divided by n."""
    m = len(kept)
    return mp.matrix([[(mpf(i == j) - mpf(1) / m) / n for j in range(m)] for i in range(m)])


def _solved(case: Case, X: np.ndarray, w: np.ndarray, kept: list[int], fresh: np.ndarray) -> list[Any]:
    """Losses of fresh rows for the machine that is fitted to the rows `kept`."""
    n, m, ridge = len(X), len(kept), mpf(case.lam) / mpf(case.C)
    rows = X[kept]
    K, k = _kernel(case, rows, rows), _kernel(case, fresh, rows)
    constant = case.machine == "OCKELM"
    T, targets = (mp.matrix([[1]] * len(Z) if constant else Z.tolist()) for Z in (rows, fresh))
    weights = mp.diag([mpf(float(w[i])) for i in kept])
    if case.machine == "VAAKELM":
        weights += _within_class(n, kept) / mpf(case.C)
    # (K + MK/C + lam I/C)^-1 T = (K + ridge S)^-1 S W T for S = (W + M/C)^-1, also with weights.
    S = weights**-1
    G = K + ridge * S
    if case.loss == "uncertainty":
        solved = mp.lu_solve(G, k.T) if len(fresh) == 1 else G**-1 * k.T
        return [(1 - sum(k[i, j] * solved[j, i] for j in range(m))) / mpf(case.lam) for i in range(len(fresh))]
    right = S * mp.diag([mpf(float(w[i])) for i in kept]) * T
    A = mp.matrix(m, T.cols)
    for j in range(T.cols):
        A[:, j] = mp.lu_solve(G, right[:, j])
    residuals = targets - k * A
    squares = [sum(residuals[i, j] ** 2 for j in range(residuals.cols)) for i in range(len(fresh))]
    return [mp.sqrt(square) for square in squares] if constant else squares


def reference(case: Case) -> tuple[list[Any], list[Any]]:
    """Losses of fresh rows, and held-out losses of the training rows."""
    X, fresh, given = rows_of(case)
    w = np.ones(ROWS) if given is None else given
    held_out = []
    with mp.workdps(DIGITS):
        losses = _solved(case, X, w, list(range(ROWS)), fresh)
        for i in range(ROWS):
            # A row of a whole weight loses one unit of it, and a row of another weight all of it.
            left = w.copy()
            left[i] = w[i] - 1 if np.array_equal(w, w.round()) else 0
            held_out.append(_solved(case, X, left, [j for j in range(ROWS) if left[j] > 0], X[[i]])[0])
    return losses, held_out


def fitted(case: Case) -> Any:
    """The machine of a case, in units of the rows."""
    extra: dict[str, Any] = {} if case.machine == "OCKELM" else {"loss": case.loss}
    extra |= {"variance": "class", "lam": case.lam} if case.machine == "VAAKELM" else {}
    machine = getattr(oneclass, case.machine)
    X, _, w = rows_of(case)
    model = machine(C=case.C, kernel=case.kernel, sigma=case.sigma, scale=False, **extra)
    with own_words(case.machine):
        return model.fit(X, sample_weight=w)


def _apart(found: np.ndarray, exact: list[Any]) -> float:
    largest = max(abs(value) for value in exact)
    with mp.workdps(DIGITS):
        return float(max(abs(mpf(float(a)) - b) for a, b in zip(found, exact, strict=True)) / largest)


def errors(case: Case) -> tuple[float, float, str | None]:
    """Relative errors of scores and of held-out scores, and a p-value that is wrong by more than they explain."""
    model = fitted(case)
    _, fresh, w = rows_of(case)
    losses, held_out = reference(case)
    found = -np.asarray(model.score_samples(fresh)), -np.asarray(model.held_out_scores_)
    apart = _apart(found[0], losses), _apart(found[1], held_out)
    slack = (2 * max(apart) + MARGIN) * max(map(abs, losses + held_out))
    for loss, p in zip(losses, np.asarray(model.p_value(fresh)).tolist(), strict=True):
        least, most = (_p_value(loss + side * slack, held_out, w) for side in (1, -1))
        if not least - 1e-12 <= p <= most + 1e-12:
            return *apart, f"p-value {p:.3g}, not in [{least:.3g}, {most:.3g}]"
    return *apart, None


def _p_value(loss: Any, held_out: list[Any], w: np.ndarray | None) -> float:
    """(1 + weight of the held-out losses at least as large) / (1 + total weight)."""
    w = np.ones(ROWS) if w is None else w
    unit = 1.0 if np.array_equal(w, w.round()) else float((w**2).sum() / w.sum())
    above = sum(weight for weight, other in zip(w, held_out, strict=True) if other >= loss)
    return float((unit + above) / (unit + w.sum()))


def _same_on_two_threads(seed: int) -> str | None:
    rng = np.random.default_rng(seed)
    name = str(rng.choice(["OCKELM", "VOCKELM", "AAKELM", "VAAKELM", "OCSVM", "PCADetector", "OCELM", "AAELM"]))
    kernel = {"approximation": Nystrom(100)} if name.endswith("KELM") and rng.random() < 0.5 else {}
    X, fresh = rng.normal(size=(600, 8)), 2 * rng.normal(size=(200, 8))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"), warnings.catch_warnings():
            warnings.simplefilter("ignore", OneClassWarning)
            model = getattr(oneclass, name)(**kernel).fit(X)
            results.append((np.asarray(model.score_samples(fresh)), np.asarray(model.p_value(fresh))))
    (one, p), (two, q) = results
    apart = float(np.abs(one - two).max() / np.abs(one).max())
    if apart > THREADS:
        return f"{name} {kernel}: scores differ by {apart:.1g}"
    return None if np.abs(p - q).max() <= 1.5 / (len(X) + 1) else f"{name} {kernel}: p-values differ"


def run(tries: int, seed: int = 0) -> Iterator[Result]:
    """`tries` times four fits beside the reference, and `tries` fits with one and two threads."""
    worst = {"scores": 0.0, "held-out scores": 0.0}

    def check(case: Case) -> str | None:
        scores, held_out, fault = errors(case)
        for what, error in (("scores", scores), ("held-out scores", held_out)):
            part = error / stated(case)
            worst[what] = max(worst[what], part)
            if part > 1:
                fault = f"error of {what} {error:.1g}, {part:.1g} of what is stated"
        return fault

    cases = map(drawn, range(seed, seed + 4 * tries))
    result = counted("scores, held-out scores, p-values beside 60 digits", cases, check)
    share = max(worst.values())
    yield Result(result.what, result.tried, result.failed, f"largest error {share:.2g} of what is stated")
    yield counted("scores with one and two BLAS threads", range(seed, seed + tries), _same_on_two_threads)

"""Hostile rows: every classifier, in every mode, answers finite numbers or refuses in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from awkward import DATASETS, HUGE
from classifiers import BASELINES, quick
from oneclass import Fourier, Nystrom

from .tally import Refused, Result, counted, own_words, sample

__all__ = ["run"]

Draw = Callable[[np.random.Generator], np.ndarray]

MACHINES = ("OCKELM", "VOCKELM", "AAKELM", "VAAKELM")
MODES: dict[str, dict[str, Any]] = {
    "exact": {},
    "nystrom": {"approximation": Nystrom(30)},
    "fourier": {"approximation": Fourier(40)},
}
CLASSIFIERS = [(name, mode) for name in MACHINES for mode in MODES]
CLASSIFIERS += [(name, "exact") for name in ("OCELM", "AAELM", *BASELINES)]
#: Most columns with which a slow classifier is tried.
MOST_COLUMNS = {"OCRF": 500, "AutoencoderDetector": 500}
#: Most columns with which rows are explained: an explanation replaces them one by one.
MOST_EXPLAINED = 500

SMALLEST = float(np.finfo(float).smallest_subnormal)
LARGEST = float(np.finfo(float).max)


def _normal(n: int, d: int) -> Draw:
    return lambda rng: rng.normal(size=(n, d))


def _mixed(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(50, 8)) * 10.0 ** rng.integers(-150, 150, size=8)


#: More kinds than tests/awkward.py has: sizes at the ends of what there is, and numbers at the ends of their range.
ROWS: dict[str, Draw] = {
    **{f"{n} rows, {d} columns": _normal(n, d) for n, d in product((1, 2, 3), (1, 3, 50))},
    "12 rows, 10,000 columns": _normal(12, 10_000),
    "denormal": lambda rng: SMALLEST * rng.integers(-1000, 1000, size=(40, 3)),
    "denormal and ordinary": lambda rng: rng.normal(size=(40, 3)) * [SMALLEST, 1.0, 1e-310],
    "scales 1e-150 to 1e150": _mixed,
    "smallest and largest": lambda rng: rng.choice([SMALLEST, -SMALLEST, LARGEST / 4, -LARGEST / 4, 0.0], (40, 3)),
    "nearly the largest": lambda rng: LARGEST * rng.uniform(0.1, 0.25, size=(40, 3)),
    "any power of ten": lambda rng: rng.normal(size=(40, 3)) * 10.0 ** rng.uniform(-300, 300, size=(40, 3)),
    "neighbouring numbers": lambda rng: 1 + np.finfo(float).eps * rng.integers(0, 5, size=(40, 3)),
    "zeros of both signs": lambda rng: rng.choice([0.0, -0.0, 1.0], size=(40, 3)),
    "one value in a column of zeros": lambda rng: np.eye(40, 3),
}


def _rows(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training rows of a kind, and fresh ones with some far away."""
    rng = np.random.default_rng(seed)
    if kind in DATASETS:
        X, draw = DATASETS[kind](rng)
        fresh = draw(6)
    else:
        X = ROWS[kind](rng)
        fresh = ROWS[kind](rng)[:6]
    sizes = [size for size in HUGE if size <= float(np.finfo(X.dtype).max)]
    far = rng.choice([-1, 1], size=(3, X.shape[1])) * rng.choice(sizes, size=(3, 1))
    return X, np.concatenate([fresh, far.astype(X.dtype)])


def _answers(model: Any, fresh: Any) -> str | None:
    """Whether all results for fresh rows are finite; the name of one that is not."""
    results = {verb: np.asarray(getattr(model, verb)(fresh)) for verb in ("score_samples", "decision_function")}
    results |= {"predict": np.asarray(model.predict(fresh)), "offset_": np.asarray(model.offset_)}
    if model.calibration_ is not None:
        results["p_value"] = np.asarray(model.p_value(fresh))
    if fresh.shape[1] <= MOST_EXPLAINED:
        found = model.explain(fresh)
        results |= {"parts": np.asarray(found.parts), "shares": np.asarray(found.shares)}
    if not {*np.unique(results["predict"]).tolist()} <= {-1, 1}:
        return "labels other than 1 and -1"
    return next((f"{name} is not finite" for name, values in results.items() if not np.isfinite(values).all()), None)


def _fits(case: tuple[tuple[str, str], str, str, int]) -> str | None:
    (name, mode), kind, threshold, seed = case
    X, fresh = _rows(kind, seed)
    if X.shape[1] > MOST_COLUMNS.get(name, X.shape[1]):
        raise Refused
    with own_words(name):
        model = quick(name, threshold=threshold, **MODES[mode]).fit(X)
        return _answers(model, fresh)


# Containers, dtypes and layouts of the same numbers.

NUMBERS = np.random.default_rng(5).integers(0, 100, size=(60, 3)).astype(float)


def _strided(X: np.ndarray) -> np.ndarray:
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _polars(X: np.ndarray) -> Any:
    import polars

    return polars.DataFrame(X, schema=["a", "b", "c"])


def _arrow(X: np.ndarray) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(_frame(X))


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=["a", "b", "c"])


def _of_dtype(name: str) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: X.astype(name)


#: Each gives the same numbers in another form, which must give the same answers.
LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda X: X[::-1].copy()[::-1],
    "reversed columns": lambda X: X[:, ::-1].copy()[:, ::-1],
    "read only": _read_only,
    "unaligned": lambda X: np.frombuffer(b"x" + X.tobytes(), offset=1, dtype=float).reshape(X.shape),
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "list of lists": lambda X: X.tolist(),
    "list of arrays": list,
    "tuple of tuples": lambda X: tuple(map(tuple, X.tolist())),
    "objects": lambda X: X.astype(object),
    "decimal text": lambda X: X.astype(str).astype(object),
    "broadcast": lambda X: np.broadcast_to(X, (1, *X.shape))[0],
    "masked, nothing hidden": lambda X: np.ma.masked_array(X, mask=np.zeros(X.shape, bool)),
    **{name: _of_dtype(name) for name in ("float16", "longdouble")},
    **{f"{kind}{bits}": _of_dtype(f"{kind}{bits}") for kind, bits in product(("int", "uint"), (8, 16, 32, 64))},
    "pandas": _frame,
    "pandas, nullable": lambda X: _frame(X).convert_dtypes(),
    "pandas, Arrow": lambda X: _frame(X).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, a block per column": lambda X: pd.concat([_frame(X)[[c]] for c in "abc"], axis=1),
    "pandas, repeated index": lambda X: _frame(X).set_axis([0] * len(X)),
    "polars": _polars,
    "PyArrow": _arrow,
}


def _same_numbers(case: tuple[tuple[str, str], str]) -> str | None:
    (name, mode), layout = case
    try:
        LAYOUTS[layout](NUMBERS)
    except ImportError:  # of a library that is not installed
        raise Refused from None
    with own_words(name):
        expected = quick(name, **MODES[mode]).fit(NUMBERS)
        model = quick(name, **MODES[mode]).fit(LAYOUTS[layout](NUMBERS))
        scores = np.asarray(model.score_samples(LAYOUTS[layout](NUMBERS[:20])), dtype=float)
    plain = expected.score_samples(NUMBERS[:20])
    apart = float(np.abs(scores - plain).max() / np.abs(plain).max())
    return None if apart <= 1e-12 else f"scores differ by {apart:.1g}"


def _with(value: Any, dtype: Any = object) -> np.ndarray:
    X = NUMBERS.astype(dtype)
    X[3, 1] = value
    return X


#: What no classifier can take: each must be refused in a sentence that names the classifier.
REFUSED: dict[str, Callable[[], Any]] = {
    "a NaN": lambda: _with(np.nan, float),
    "an infinity": lambda: _with(-np.inf, float),
    "None": lambda: _with(None),
    "words": lambda: _with("word"),
    "complex numbers": lambda: _with(1j, complex),
    "dates": lambda: NUMBERS.astype("datetime64[s]"),
    "spans of time": lambda: NUMBERS.astype("timedelta64[s]"),
    "records": lambda: np.zeros(9, dtype=[("a", float), ("b", float)]),
    "one dimension": lambda: NUMBERS[:, 0],
    "three dimensions": lambda: NUMBERS[None],
    "a number": lambda: 3.0,
    "no rows": lambda: NUMBERS[:0],
    "no columns": lambda: NUMBERS[:, :0],
    "rows of different lengths": lambda: [[1.0, 2.0], [3.0]],
    "a string": lambda: "rows",
    "bytes": lambda: b"rows",
    "a dict": lambda: {"a": [1.0, 2.0]},
    "a set": lambda: {1.0, 2.0},
    "a masked cell": lambda: np.ma.masked_array(NUMBERS, mask=np.equal(NUMBERS, NUMBERS[3, 1])),
    "beyond float64": lambda: _with(np.longdouble("1e4000"), np.longdouble),
    "a huge whole number": lambda: _with(10**400),
}


def _is_refused(case: tuple[tuple[str, str], str, str]) -> str | None:
    (name, mode), kind, verb = case
    wrong = REFUSED[kind]()
    model = quick(name, **MODES[mode])
    with own_words(name):
        if verb != "fit":
            model.fit(NUMBERS)
    try:
        getattr(model, verb)(wrong)
    except (ValueError, TypeError) as error:
        return None if "\n\n" not in str(error) and len(str(error)) < 1000 else f"long: {error}"
    return "accepted"


def run(tries: int, seed: int = 0) -> Iterator[Result]:
    """`tries` times 40 fits to awkward rows, and up to that many layouts and refusals each."""
    kinds = [*DATASETS, *ROWS]
    every = list(product(CLASSIFIERS, kinds, ("held_out", "train"), (0,)))
    size, rounds = 40 * tries, 1
    if size > len(every):
        rounds = -(-size // len(every))
    drawn = ((*case[:3], seed + i) for i in range(rounds) for case in sample(every, min(size, len(every)), seed + i))
    yield counted("classifiers on awkward rows", drawn, _fits)
    forms = sample(list(product(CLASSIFIERS, LAYOUTS)), size, seed)
    yield counted("the same numbers in other forms", forms, _same_numbers)
    wrong = sample(list(product(CLASSIFIERS, REFUSED, ("fit", "score_samples", "explain"))), size, seed)
    yield counted("rows that are no numbers", wrong, _is_refused)

"""Fitted classifiers in all modes, and their results for new rows."""

from __future__ import annotations

import traceback

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import oneclass
from oneclass import (
    AAKELM,
    Calibrated,
    Fourier,
    Nystrom,
    OneClassSearchCV,
    Stream,
    TableDetector,
    make_one_class_pipeline,
)
from oneclass.core import kernels

ROWS = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 10.0, 0.1] + [5.0, -3.0, 0.0]
FRESH = ROWS[:15] + np.random.default_rng(1).normal(size=(15, 3)) * np.repeat([0.1, 3.0, 30.0], 5)[:, None]
WIDE = np.random.default_rng(2).normal(size=(40, 12))
NAMES = ["length", "width", "weight"]
LAPLACIAN = 40 * np.eye(40) - 1
GROUPS = np.arange(40) // 2

#: Each case: class, parameters, what is done at the fit beside taking rows.
CASES = {
    "OCKELM": ("OCKELM", {}, {}),
    "OCKELM weights": ("OCKELM", {"threshold": "train"}, {"sample_weight": np.arange(40) % 3}),
    "OCKELM precomputed": ("OCKELM", {"kernel": "precomputed"}, {"precomputed": True}),
    "OCKELM precomputed weights": (
        "OCKELM",
        {"kernel": "precomputed"},
        {"precomputed": True, "sample_weight": np.arange(40) % 3},
    ),
    "OCKELM Fourier": ("OCKELM", {"approximation": Fourier(20), "kernel": "laplacian"}, {}),
    "VOCKELM": ("VOCKELM", {"threshold": "mean", "variance": "class"}, {}),
    "VOCKELM landmarks": ("VOCKELM", {"approximation": Nystrom(10, "kmeans"), "centering": "global"}, {}),
    "AAKELM polynomial": ("AAKELM", {"kernel": kernels.Polynomial(2), "loss": "reconstruction"}, {}),
    "AAKELM likelihood": ("AAKELM", {"C": "likelihood", "loss": "uncertainty"}, {"groups": GROUPS}),
    "VAAKELM": ("VAAKELM", {"kernel": "rbf"}, {"named": True}),
    "VAAKELM laplacian": ("VAAKELM", {"kernel": kernels.Laplacian("median"), "lam": 3}, {}),
    "VAAKELM matrix": ("VAAKELM", {"variance": LAPLACIAN, "scale": "zscore", "threshold": "authors"}, {}),
    "VAAKELM single": ("VAAKELM", {}, {"single": True}),
    "VAAKELM landmarks": ("VAAKELM", {"approximation": Nystrom(10), "random_state": np.random.RandomState(3)}, {}),
    "AAKELM few rows": ("AAKELM", {"approximation": Nystrom(35)}, {"sample_weight": 1 - np.arange(40) % 3 / 4}),
    "VAAKELM few rows": ("VAAKELM", {"approximation": Nystrom(35), "centering": "global"}, {"groups": GROUPS}),
    "VAAKELM few rows, rbf": (
        "VAAKELM",
        {"approximation": Nystrom(35), "kernel": "rbf"},
        {"single": True, "groups": GROUPS},
    ),
    "AAKELM few rows, polynomial": ("AAKELM", {"approximation": Nystrom(35), "kernel": "polynomial"}, {}),
    "VAAKELM chunks": ("VAAKELM", {"approximation": Nystrom(10), "loss": "reconstruction"}, {"chunks": True}),
    "OCELM": ("OCELM", {"n_hidden": 10, "activation": "tanh"}, {"chunks": True}),
    "AAELM": ("AAELM", {"n_hidden": 10}, {"groups": GROUPS}),
    "OCRF": ("OCRF", {"n_estimators": 5}, {"groups": GROUPS}),
    "OCRF half": ("OCRF", {"n_estimators": 3, "threshold": "half"}, {}),
    "OCSVM": ("OCSVM", {}, {"named": True}),
    "OCSVM precomputed": ("OCSVM", {"kernel": "precomputed", "threshold": "boundary"}, {"precomputed": True}),
    "SVDD": ("SVDD", {"kernel": "laplacian"}, {}),
    "AutoencoderDetector": ("AutoencoderDetector", {"hidden_layer_sizes": (3, 2), "threshold": "train"}, {}),
    "KCentersDetector": ("KCentersDetector", {"n_init": 3}, {}),
    "KMeansDetector": ("KMeansDetector", {}, {}),
    "KNNDetector": ("KNNDetector", {"n_jobs": 1}, {}),
    "KNNDetector wide": ("KNNDetector", {"method": "gamma", "n_neighbors": np.int64(3)}, {"wide": True}),
    "MSTDetector": ("MSTDetector", {}, {}),
    "MSTDetector wide": ("MSTDetector", {"n_paths": 2}, {"wide": True}),
    "NaiveParzen": ("NaiveParzen", {"scale": False, "confidence": 0.6}, {}),
    "Parzen": ("Parzen", {}, {"named": True}),
    "Parzen full": ("Parzen", {"bandwidth": "full", "threshold": "train"}, {}),
    "PCADetector": ("PCADetector", {"n_components": 1, "scale": "robust"}, {"named": True}),
}


def fitted(case):
    """The fitted classifier of a case, and rows to ask it about."""
    name, parameters, how = CASES[case]
    how = dict(how)
    model = getattr(oneclass, name)(**parameters)
    X, fresh = (WIDE, WIDE[:15] * 1.5) if how.pop("wide", False) else (ROWS, FRESH)
    if how.pop("precomputed", False):
        X, fresh = rbf_kernel(X, gamma=0.1), rbf_kernel(fresh, X, gamma=0.1)
    if how.pop("single", False):
        X, fresh = X.astype(np.float32), fresh.astype(np.float32)
    if how.pop("named", False):
        X, fresh = pd.DataFrame(X, columns=NAMES), pd.DataFrame(fresh, columns=NAMES)
    if how.pop("chunks", False):
        return model.fit_chunks([X[:15], X[15:]]), fresh
    return model.fit(X, **how), fresh


def answers(model, fresh):
    """All results of a fitted classifier for rows."""
    verbs = ["score_samples", "decision_function", "predict"]
    verbs += ["p_value"] if getattr(model, "calibration_", None) is not None else []
    verbs += ["reconstruct"] if hasattr(model, "reconstruct") else []
    if getattr(model, "kernel", None) != "precomputed":
        verbs += ["explain"]
    return {verb: np.asarray(getattr(model, verb)(fresh)) for verb in verbs} | {"offset_": np.array(model.offset_)}


def assert_same_bits(actual, expected):
    assert actual.keys() == expected.keys()
    for verb in expected:
        assert actual[verb].dtype == expected[verb].dtype
        assert actual[verb].tobytes() == expected[verb].tobytes(), verb


def table():
    return pd.DataFrame({"mass": ROWS[:, 0], "town": np.resize(["Bonn", "Graz", "Lyon"], len(ROWS))})


def notations():
    """Columns whose text is dates, times, durations and amounts, an ordered category, and labels of segments."""
    rng, n = np.random.default_rng(3), 60
    minutes = rng.integers(60, 600, n)
    return pd.DataFrame(
        {
            "sent": [f"{d}.{m}.2024" for d, m in zip(rng.integers(1, 29, n), rng.integers(1, 13, n), strict=True)],
            "lasted": [f"{m // 60} h {m % 60} min" for m in minutes],
            "at": [f"{m // 60:02}:{m % 60:02}" for m in minutes],
            "cost": [f"{x:.2f} €".replace(".", ",") for x in rng.lognormal(3, 1, n)],
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "machine": rng.choice(["a", "b"], n),
        }
    )


def told_stream():
    stream = Stream(AAKELM(C=1.0, approximation=Nystrom(8)), window=60).fit(ROWS)
    return stream.tell(stream.watch(np.tile(FRESH, (3, 1))).rows[-5:], normal=False)


OTHERS = {
    "table": lambda: (TableDetector(AAKELM(approximation=Nystrom(8))).fit(table()), table()[:9]),
    "stream": lambda: (
        Stream(AAKELM(C=1.0, approximation=Nystrom(8)), window=60).fit(ROWS).partial_fit(np.tile(FRESH, (4, 1))),
        FRESH,
    ),
    "search": lambda: (OneClassSearchCV(AAKELM(sigma=1.0), {"C": [0.5, 2.0]}, criterion="likelihood").fit(ROWS), FRESH),
    "notations, segments": lambda: (
        TableDetector(AAKELM(approximation=Nystrom(8))).fit(notations(), segments="machine"),
        notations()[:9],
    ),
    "known outliers": lambda: (AAKELM(approximation=Nystrom(8)).fit(ROWS, outliers=FRESH[10:]), FRESH),
    "calibrated": lambda: (Calibrated(oneclass.KNNDetector()).fit(ROWS), FRESH),
    "calibrated, known outliers": lambda: (
        Calibrated(oneclass.KNNDetector(), hold_out="split").fit(ROWS, outliers=FRESH[10:]),
        FRESH,
    ),
    "stream, known outliers": lambda: (told_stream(), FRESH),
    "scalers": lambda: (
        make_one_class_pipeline(StandardScaler(), MinMaxScaler(), MaxAbsScaler(), oneclass.KNNDetector()).fit(ROWS),
        FRESH,
    ),
    "pipeline": lambda: (make_one_class_pipeline(RobustScaler(), oneclass.KNNDetector()).fit(ROWS), FRESH),
}
KINDS = [*CASES, *OTHERS]


def made(kind):
    return OTHERS[kind]() if kind in OTHERS else fitted(kind)


def ask(model, fresh):
    """Ask a classifier for all that it answers; it may refuse in words of the library's own."""
    for verb in ("predict", "score_samples", "p_value", "reconstruct", "explain"):
        if not hasattr(model, verb):
            continue
        try:
            getattr(model, verb)(fresh)
        except ValueError as error:
            said = traceback.extract_tb(error.__traceback__)[-1].line
            if not said.startswith("raise "):  # NumPy's words, or another library's
                raise

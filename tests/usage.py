"""Code as users write it, checked by mypy and never run: what signatures accept and refuse."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import torch
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import oneclass
from oneclass import RBF, SVDD, VAAKELM, KNNDetector, Nystrom, OneClassKFold, OneClassSearchCV, Stream, TableDetector
from oneclass.plot import BoundaryDisplay, DriftDisplay, ThresholdDisplay, roc_display
from oneclass.selection import SCORERS, get_scorer


def blocks() -> Iterator[NDArray[np.float64]]:
    yield np.zeros((5, 2))


def rows_of_every_kind(X: NDArray[np.float64], table: pd.DataFrame) -> None:
    machine = VAAKELM(kernel=RBF(1.0), approximation=Nystrom(9), random_state=0, device=torch.device("cpu")).fit(X)
    for rows in (X, X.tolist(), table, pl.DataFrame(X), torch.zeros(3, 2), da.zeros((3, 2))):
        machine.fit(rows).p_value(rows)
    machine.fit([[0.0, 1.0], [1, 2]], y=[1, -1], sample_weight=[1, 2.0], groups=["a", 7])
    machine.fit(table, pd.Series([1, -1]), groups="person").predict(((0.0, 1.0),), delta=0.1)
    print(machine.explain(X)[np.array([True, False])].top(1)[0][0].share + 1, machine.screen(X).classifier.predict(X))
    machine.fit(None)  # type: ignore[arg-type]
    machine.fit(5)  # type: ignore[arg-type]
    machine.predict({"a": 1})  # type: ignore[arg-type]
    machine.p_value(X, tail=0.1)  # type: ignore[arg-type]
    VAAKELM(random_state="0")  # type: ignore[arg-type]
    VAAKELM(approximation=1000)  # type: ignore[arg-type]


def chunks_of_every_kind(machine: VAAKELM, X: NDArray[np.float64]) -> None:
    for source in (X, [X, X], "a.npy", Path("a.csv"), oneclass.TableFile("a.csv"), ["a.csv", Path("b.csv")], blocks):
        machine.fit_chunks(source, groups="person").score_chunks(source, "scores.csv")
    machine.score_chunks(iter([X]), io.BytesIO())
    machine.score_chunks(lambda: iter([X]), sys.stdout)
    machine.fit_chunks(3)  # type: ignore[arg-type]
    machine.score_chunks(X, 3)  # type: ignore[arg-type]


def searches_and_tables(X: NDArray[np.float64], table: pd.DataFrame) -> None:
    grid = {"C": [0.1, 1, 10], "delta": [0.05, 0.1]}
    search = OneClassSearchCV(VAAKELM(), grid, scoring=["f1", "auroc"], refit="f1", cv=OneClassKFold(3)).fit(X, [1, -1])
    OneClassSearchCV(OneClassSVM(), {"nu": np.linspace(0, 1, 3), "gamma": [1]}, criterion="labels")
    OneClassSearchCV(make_pipeline(StandardScaler(), VAAKELM()), [{"vaakelm__C": (1, 2)}], cv=[([0], [1])])
    fitted = TableDetector(search, {"name": "drop"}).fit(table, groups="person")
    print(fitted.estimator_.best_params_, fitted.false_alarm_interval()[0] + search.offset_, search.p_value(X))
    print(get_scorer("f1")(search, X, [1]), SCORERS["f1"](OneClassSVM(), X, [1, -1]))
    print(oneclass.report(fitted, table, X_train=X).summary["alarms"]["flagged"] + 1)
    pipe = oneclass.make_one_class_pipeline(StandardScaler(), KNNDetector()).fit(X, groups=[1, 2])
    print(pipe.offset_ + 1, SVDD(kernel="rbf").fit(X, [1, -1])._center_distance(X), oneclass.to_onnx(fitted))
    OneClassSearchCV(VAAKELM(), 3)  # type: ignore[arg-type]
    TableDetector(columns=["name"])  # type: ignore[arg-type]
    SCORERS["f1"](StandardScaler, X)  # type: ignore[call-arg]
    oneclass.report(fitted, table).summary["budgets"]  # type: ignore[typeddict-item]


def streams_and_pictures(X: NDArray[np.float64]) -> None:
    stream = Stream(VAAKELM(), patience=100).fit(X, time=[1, 2]).learn(X, False).tell([1, 2], [True, False])
    verdict, (_, panels) = stream.watch(X), plt.subplots(1, 2)
    ThresholdDisplay.from_estimator(stream, X, [1, 1], ax=panels).plot().figure_.savefig("threshold.png")
    BoundaryDisplay.from_estimator(stream, X, columns=("a", 1), ax=panels[0]).ax_.set_title("Two columns")
    DriftDisplay.from_verdicts([verdict], delta=0.1)
    roc_display(OneClassSVM(), X, [1, -1])
    Stream("AAKELM")  # type: ignore[arg-type]
    ThresholdDisplay.from_estimator(X, X)  # type: ignore[arg-type]
    DriftDisplay.from_verdicts([X], delta=0.1)  # type: ignore[list-item]

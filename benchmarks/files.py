"""Model files compared with pickle and skops, one-row latency of ONNX graphs, and tables from file to file.

Writes the tables of docs/files_details.md. skops and skl2onnx are no dependencies; without them their lines are
missing. The whole script takes some three minutes; ``--quick`` takes small sizes and writes nothing, and ``latency``,
``models`` or ``tables`` is one part alone.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import oneclass
from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import OCSVM, VAAKELM, KMeansDetector, KNNDetector, NaiveParzen, Nystrom, PCADetector
from oneclass.base.classifier import OneClassClassifier

PAGE = Path(__file__).parents[1] / "docs" / "files_details.md"
QUICK = "--quick" in sys.argv

Runs = dict[str, Callable[[], object]]
Save = Callable[[OneClassClassifier, str], object]
Load = Callable[[str], object]


def rows(n: int, d: int = 20, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)


def show(name: str, table: str) -> None:
    print(table, "\n", flush=True)
    if not QUICK:
        write_between_markers(PAGE, name, table)


def best(runs: Runs, seconds: float) -> dict[str, float]:
    """Least time of each, interleaved so that load of the machine affects all of them."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or not times[next(reversed(times))]:
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: min(t) for name, t in times.items()}


def answers(model: OneClassClassifier, x: Rows) -> None:
    model.score_samples(x)
    model.p_value(x)
    model.predict(x)


def latency() -> None:
    """One row: the library's verbs, and the graph that answers all three."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1

    def session(graph: bytes) -> onnxruntime.InferenceSession:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    n = 200 if QUICK else 1000
    X, x = rows(n), rows(1, seed=1)
    models: dict[str, OneClassClassifier] = {
        f"VAAKELM, exact, {n:,} rows, predictive": VAAKELM(sigma="mean", loss="predictive", approximation=None),
        f"VAAKELM, exact, {n:,} rows, reconstruction": VAAKELM(sigma="mean", loss="reconstruction"),
        "VAAKELM, 200 landmarks, predictive": VAAKELM(sigma="mean", loss="predictive", approximation=Nystrom(200)),
        "VAAKELM, the same, RBF on z-scores": VAAKELM(
            kernel="rbf", scale="zscore", sigma="mean", approximation=Nystrom(200)
        ),
        "OCSVM": OCSVM(),
        "KNNDetector": KNNDetector(),
        "KMeansDetector": KMeansDetector(),
        "PCADetector": PCADetector(),
        "NaiveParzen": NaiveParzen(),
    }
    body = []
    for name, model in models.items():
        model.fit(X)
        graph = oneclass.to_onnx(model).SerializeToString()
        asked = session(graph)
        runs: Runs = {
            "score": partial(model.score_samples, x),
            "all": partial(answers, model, x),
            "graph": partial(asked.run, None, {"rows": x}),
        }
        found = best(runs, 1.0)
        body.append([name, *(f"{1e6 * found[run]:,.0f}" for run in runs), f"{len(graph) / 1e6:.2f}"])
    if find_spec("skl2onnx"):
        from skl2onnx import to_onnx
        from sklearn.svm import OneClassSVM

        peer = OneClassSVM(nu=0.05).fit(X)
        single = x.astype(np.float32)  # onnxruntime has no support vectors in double precision
        graph = to_onnx(peer, single).SerializeToString()
        asked = session(graph)
        name = asked.get_inputs()[0].name
        runs = {
            "score": lambda: peer.score_samples(x),
            "all": lambda: (peer.score_samples(x), peer.predict(x)),
            "graph": lambda: asked.run(None, {name: single}),
        }
        found = best(runs, 1.0)
        title = "scikit-learn's OneClassSVM by skl2onnx, no p-value"
        body.append([title, *(f"{1e6 * found[run]:,.0f}" for run in runs), f"{len(graph) / 1e6:.2f}"])
    head = ["one row, 20 features, µs", "score_samples", "score, p-value, label", "ONNX graph, all three", "graph, MB"]
    show("onnx", markdown(head, body))


def models() -> None:
    """Bytes and seconds of a saved model, compared with pickle and skops."""
    n = 500 if QUICK else 5000
    body = []
    cases: dict[str, OneClassClassifier] = {
        f"VAAKELM, exact, {n:,} rows, predictive": VAAKELM(sigma="mean", loss="predictive", approximation=None),
        "VAAKELM, 500 landmarks": VAAKELM(sigma="mean", approximation=Nystrom(500)),
        "OCRF, 100 trees": oneclass.OCRF(),
        "KNNDetector": KNNDetector(),
    }
    for name, model in cases.items():
        model.fit(rows(n if "exact" in name else min(n, 2000)))
        with tempfile.TemporaryDirectory() as folder:
            for how, (save, load) in ways().items():
                path = f"{folder}/{how}"
                try:
                    found = best({"save": lambda: save(model, path), "load": lambda: load(path)}, 1.0)  # noqa: B023
                except (TypeError, AttributeError) as error:
                    body.append([name, how, "", "", f"refused: {error}"])
                    continue
                size = Path(path).stat().st_size / 1e6
                body.append([name, how, f"{size:.2f}", f"{1e3 * found['save']:.1f}", f"{1e3 * found['load']:.1f}"])
    show("model-files", markdown(["model", "file", "MB", "save, ms", "load, ms"], body))


def ways() -> dict[str, tuple[Save, Load]]:
    known: dict[str, tuple[Save, Load]] = {
        "oneclass": (lambda model, path: model.save(path), oneclass.load),
        "oneclass, mapped": (lambda model, path: model.save(path), lambda path: oneclass.load(path, mmap=True)),
        "pickle": (
            lambda model, path: Path(path).write_bytes(pickle.dumps(model)),
            lambda path: pickle.loads(Path(path).read_bytes()),
        ),
    }
    if find_spec("skops"):
        import skops.io

        def load(path: str) -> object:
            return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))

        known["skops"] = (skops.io.dump, load)
    return known


def tables() -> None:
    """A table from file to file in a separate process: seconds and peak memory."""
    n = 20_000 if QUICK else 1_000_000
    body = []
    with tempfile.TemporaryDirectory() as folder:
        import pandas as pd

        frame = pd.DataFrame(rows(n), columns=[f"x{j}" for j in range(20)])
        frame.to_csv(f"{folder}/rows.csv", index=False)
        frame.to_parquet(f"{folder}/rows.parquet", row_group_size=100_000)
        del frame
        for source in ("rows.csv", "rows.parquet"):
            done = subprocess.run(
                [sys.executable, __file__, "--one", f"{folder}/{source}"], capture_output=True, text=True, check=True
            )
            seconds, peak = done.stdout.split()
            size = Path(folder, source).stat().st_size / 1e6
            body.append([f"{n:,} rows x 20, {source.rpartition('.')[2]}", f"{size:.0f}", seconds, peak])
    show("tables", markdown(["from", "MB", "seconds to score", "peak GB"], body))


def one(path: str) -> None:
    model = VAAKELM(sigma="mean", loss="reconstruction", approximation=Nystrom(100))
    names = [f"x{j}" for j in range(20)]
    import pandas as pd

    model.fit(pd.DataFrame(rows(2000), columns=names))
    start = time.perf_counter()
    model.score_chunks(path, str(Path(path).with_name("scored.csv")))
    seconds = time.perf_counter() - start
    # The peak of this process only; the value of getrusage starts with that of the parent.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(f"{seconds:.1f} {int(status['VmHWM'].split()[0]) / 1e6:.2f}")


def main() -> None:
    warnings.simplefilter("ignore")
    parts = {"latency": latency, "models": models, "tables": tables}
    for name in [name for name in parts if name in sys.argv] or parts:
        parts[name]()


if __name__ == "__main__":
    one(sys.argv[2]) if "--one" in sys.argv else main()

"""Kills at random points: what was reported done is there, and no file is half written."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import oneclass
from oneclass import KNNDetector, TableDetector, TableFile
from reproduction import store

from .processes import FRAME, child_of, killed_within, new_folder, report, reported, run_command, scoring
from .tally import Result, counted

__all__ = ["run"]

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(600, 2)), 9 + RNG.normal(size=(300, 2))])


def _save_often(place: Path, done: Path) -> None:
    for i in range(1, 10_000):
        _small_model(i).save(place, force=True)
        report(done, i)


@cache
def _small_model(number: int) -> KNNDetector:
    model = KNNDetector(n_neighbors=1 + number % 50).fit(FRAME.to_numpy())
    model.delta = number / 1e6  # tells the models apart
    return model


def _killed_saving(seed: int) -> str | None:
    folder = new_folder()
    place, done = folder / "model.oneclass", folder / "done"
    killed = killed_within(child_of(_save_often, place, done), float(np.random.default_rng(seed).uniform(0.05, 0.6)))
    last = reported(done)
    if not killed:
        return "the child ended by itself"
    if not place.exists():
        return "no file" if last else None
    found = round(oneclass.load(place).delta * 1e6)
    return None if found in (last, last + 1) else f"model {found} in the file after {last} was reported"


def _score_often(model: Path, tables: list[Path], sink: Path, done: Path) -> None:
    loaded = oneclass.load(model)
    for i in range(1, 10_000):
        loaded.score_chunks(TableFile(tables[i % 2]), sink)
        report(done, i)


def _killed_scoring(seed: int) -> str | None:
    model, tables, scores = scoring()
    folder = new_folder()
    sink, done = folder / "scored.csv", folder / "done"
    seconds = float(np.random.default_rng(seed).uniform(0.05, 0.8))
    if not killed_within(child_of(_score_often, model, tables, sink, done), seconds):
        return "the child ended by itself"
    last = reported(done)
    if not sink.exists():
        return "no file" if last else None
    return None if sink.read_bytes() in (scores[last % 2], scores[(last + 1) % 2]) else "a file of another content"


def _watch(table: Path, state: Path) -> list[str]:
    return ["watch", str(table), "--state", str(state), "--opening", "200", "--window", "300"]


@cache
def _watched() -> tuple[bytes, dict[int, str], np.ndarray]:
    """The table of rows, alarms by row, and final scores of a watcher that nobody stops."""
    folder = new_folder()
    table = folder / "rows.csv"
    pd.DataFrame(X, columns=["a", "b"]).to_csv(table, index=False)
    child_of(run_command, _watch(table, folder / "stream"), folder / "said").join()
    return table.read_bytes(), _alarms(folder / "said"), _final(folder / "stream")


def _final(state: Path) -> np.ndarray:
    scores: np.ndarray = oneclass.load(state).score_samples(pd.DataFrame(X[::9], columns=["a", "b"]))
    return scores


def _alarms(said: Path) -> dict[int, str]:
    """Alarms by their rows; the last line may be cut."""
    lines = [line for line in said.read_text().splitlines() if line.endswith("}") and line.startswith("{")]
    return {found["alarm"]: json.dumps(found) for found in map(json.loads, lines) if "alarm" in found}


def _killed_watching(seed: int) -> str | None:
    """Kill a watcher again and again, and compare its alarms and its end with those of one that is never stopped."""
    content, alarms, final = _watched()
    folder, rng = new_folder(), np.random.default_rng(seed)
    (folder / "rows.csv").write_bytes(content)
    given = _watch(folder / "rows.csv", folder / "stream"), folder / "said"
    for _ in range(6):
        killed_within(child_of(run_command, *given), float(rng.uniform(0.05, 0.6)))
        with open(folder / "said", "ab") as file:
            file.write(b"\n")  # ends a line that was cut
    child = child_of(run_command, *given)
    child.join()
    if child.exitcode:
        return f"exit code {child.exitcode}: {(folder / 'said.errors').read_text()[-200:]}"
    if _alarms(folder / "said") != alarms:
        return "other alarms"
    return None if np.array_equal(_final(folder / "stream"), final) else "another stream"


def _serve(model: Path, output: Path) -> None:
    run_command(["serve", str(model), "--port", "0", "--reload", "0.05", "--rate", "0"], output)


ASKED = [{"a": 0.1, "b": 0.2}, {"a": 99.0, "b": -3.0}]


def _killed_serving(seed: int) -> str | None:
    """Kill a service under load while its model is replaced: each answer is that of one of the two models."""
    folder, rng = new_folder(), np.random.default_rng(seed)
    place = folder / "model.oneclass"
    models = [TableDetector(KNNDetector(n_neighbors=k)).fit(FRAME) for k in (1, 5)]
    right = [model.score_samples(pd.DataFrame(ASKED)).tolist() for model in models]
    models[0].save(place)
    child = child_of(_serve, place, folder / "said")
    address = _address(folder / "said")
    if address is None:
        child.kill()
        return f"no address: {(folder / 'said.errors').read_text()[-200:]}"
    ends, number, asked = time.monotonic() + rng.uniform(0.2, 1.5), 0, 0
    while time.monotonic() < ends or not asked:
        if rng.random() < 0.05:
            number += 1
            models[number % 2].save(place, force=True)
        request = urllib.request.Request(f"{address}/score", json.dumps(ASKED).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = [row["score"] for row in json.load(answer)["rows"]]
        asked += 1
        if found not in right:
            return "an answer of no model"
    killed_within(child, 0)
    found = oneclass.load(place).score_samples(pd.DataFrame(ASKED)).tolist()
    return None if found == right[number % 2] else "another model in the file"


def _address(said: Path) -> str | None:
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        if said.exists() and (match := re.search(r"http://\S+", said.read_text())):
            return match[0]
        time.sleep(0.02)
    return None


def _append_often(path: Path, done: Path) -> None:
    for i in range(1, 10_000):
        row = {"recipe": "paper", "dataset": "wine", "method": "PCA", "seed": i, "of": 3, "text": "x" * 3000}
        store.append(path, [row | {"choice": choice} for choice in ("best", "worst", "mean")])
        report(done, i)


def _killed_reproducing(seed: int) -> str | None:
    folder, rng = new_folder(), np.random.default_rng(seed)
    path, done = folder / "rows.jsonl", folder / "done"
    for _ in range(3):
        done.unlink(missing_ok=True)
        before = {row["seed"] for row in store.repair(path)} if path.exists() else set()
        killed_within(child_of(_append_often, path, done), float(rng.uniform(0.05, 0.3)))
        kept = {row["seed"] for row in store.repair(path)} if path.exists() else set()
        lost = (before | set(range(1, reported(done) + 1))) - kept
        if lost:
            return f"{len(lost)} tasks lost"
    return None


def run(tries: int, seed: int = 0) -> Iterator[Result]:
    """`tries` kills of each kind; fewer where one takes long."""
    at, few = range(seed, seed + tries), range(seed, seed + max(1, tries // 4))
    yield counted("SIGKILL while a model is saved", at, _killed_saving)
    yield counted("SIGKILL while scores are written", at, _killed_scoring)
    yield counted("oneclass watch, killed six times and continued", few, _killed_watching)
    yield counted("oneclass serve, killed while the model is replaced", few, _killed_serving)
    yield counted("SIGKILL while the reproduction writes rows", few, _killed_reproducing)

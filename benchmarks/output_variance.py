"""Whether the variance embedding reduces the variance of the outputs, as the paper says.

VAAKELM and the same machine without an embedding are fitted to the same targets. The outputs are reconstructed rows.
Their variance is compared on the training rows and on new targets. Parameters are those that the paper's search chose
(recipe `paper`, stored with the reproduction), and the library's defaults. Writes the tables of
docs/output_variance.md. Reads the paper's datasets: set ONECLASS_DATA to their folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from _arrays import Rows
from _table import markdown, write_between_markers
from oneclass import VAAKELM
from reproduction import store
from reproduction.figures.style import title
from reproduction.methods import EMBEDDINGS, METHODS
from reproduction.plan import PAPER_DATASETS
from reproduction.splitting import random_split

DOCS = Path(__file__).parents[1] / "docs"
SPLITS = 5
#: What is embedded, and the variance of the outputs that this embedding is to reduce.
KINDS = {"class": "class variance", "own": "inside clusters, own means", "global": "inside clusters, global mean"}
SUMMARIES: dict[str, Callable[..., Rows]] = {"least": np.min, "median": np.median, "largest": np.max}
#: Dataset, recipe and embedding -> ratios of variances, with the embedding to without, on training rows and new rows.
Found = dict[tuple[str, str, str], tuple[float, float]]
Labels = NDArray[np.intp]


def dispersion(kind: str, outputs: Rows, labels: Labels) -> float:
    """Return the variance of outputs that an embedding is to reduce."""
    centre = outputs.mean(axis=0)
    if kind == "class":
        return float(((outputs - centre) ** 2).sum())
    members = [outputs[labels == label] for label in np.unique(labels)]
    squares = [((part - (part.mean(axis=0) if kind == "own" else centre)) ** 2).sum() for part in members]
    return float(sum(len(part) * square for part, square in zip(members, squares, strict=True)))


def study(dataset: str, seed: int, params: dict[str, Any]) -> Found:
    """Return the ratios on one split."""
    split, found = random_split(dataset, seed), {}
    fresh = split.rows[split.y == 1]
    for recipe, given in (("paper", {**METHODS["VAAKELM"].fixed, **params}), ("honest", {"threshold": "train"})):
        machines = {kind: VAAKELM(**{**given, **embedding}) for kind, embedding in EMBEDDINGS.items()}
        plain = machines.pop("none").fit(split.train)
        scaled = plain.scaler_(split.train)
        to_train = NearestNeighbors(n_neighbors=1).fit(scaled)
        nearest = to_train.kneighbors(plain.scaler_(fresh), return_distance=False)[:, 0]
        for kind, machine in machines.items():
            machine.fit(split.train)
            labels = np.asarray(getattr(machine, "cluster_labels_", np.zeros(len(scaled), dtype=np.intp)))
            ratios = []
            for rows, of in ((split.train, labels), (fresh, labels[nearest])):
                with_it, without = (plain.scaler_(m.reconstruct(rows)) for m in (machine, plain))
                ratios.append(dispersion(kind, with_it, of) / dispersion(kind, without, of))
            found[dataset, recipe, kind] = (ratios[0], ratios[1])
    return found


def tasks() -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield dataset, split and the C, k and delta that the paper's search chose."""
    for row in store.read(DOCS / "reproduction" / "rows.jsonl.gz"):
        wanted = (row["recipe"], row["method"], row["choice"]) == ("paper", "VAAKELM", "best")
        if wanted and row["dataset"] in PAPER_DATASETS and row["seed"] < SPLITS:
            yield row["dataset"], row["seed"], row["params"]


def main() -> None:
    parts = [study(*task) for task in tasks()]
    head = ["dataset", *(f"{what}, {on}" for what in KINDS.values() for on in ("training", "new"))]
    for recipe in ("paper", "honest"):
        ratios = [
            [
                np.median([p[dataset, recipe, kind] for p in parts if (dataset, recipe, kind) in p], axis=0)
                for kind in KINDS
            ]
            for dataset in PAPER_DATASETS
        ]
        medians = np.array(ratios).reshape(len(PAPER_DATASETS), -1)
        body = [[title(dataset), *line] for dataset, line in zip(PAPER_DATASETS, medians, strict=True)]
        body = body if recipe == "paper" else []
        body += [[f"**{name}**", *of(medians, axis=0)] for name, of in SUMMARIES.items()]
        text = markdown(head, [[name, *(f"{ratio:.3f}" for ratio in line)] for name, *line in body])
        print(text)
        write_between_markers(DOCS / "output_variance.md", recipe, text)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()

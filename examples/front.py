"""The pictures of README and the home page: wrong cells, delivered rates, an alarm explained, and a report.

python -m examples.front        (needs matplotlib, pandas, Chromium and playwright)
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import load_diabetes

import oneclass
from oneclass import VAAKELM

from .pages import table_rows
from .report import photograph
from .style import BLUE, DOCS, GREY, VERMILION, plt, save_both

FOLDER = DOCS / "front"
SIZE = (5.2, 4.3)

#: Detectors of docs/false_alarms.md in the picture, with shorter names.
_PEERS = {
    "scikit-learn OneClassSVM, `nu`": "scikit-learn one-class SVM",
    "PyOD OCSVM, `contamination`": "PyOD one-class SVM",
    "scikit-learn EllipticEnvelope, `contamination`": "scikit-learn covariance",
    "scikit-learn LocalOutlierFactor, `contamination`": "scikit-learn LOF",
    "scikit-learn IsolationForest, `contamination`": "scikit-learn forest",
    "nonconform, OneClassSVM, five folds": "nonconform, one-class SVM",
    "oneclass VAAKELM, `delta`": "oneclass VAAKELM",
    "river HalfSpaceTrees, `QuantileFilter(q)`": "River half-space trees",
}


def patients() -> tuple[pd.DataFrame, list[tuple[int, str]]]:
    """A table of 442 patients (scikit-learn's diabetes data) with mistakes in three rows, and the wrong cells."""
    table = load_diabetes(as_frame=True, scaled=False).data
    table = table.rename(columns={"s1": "chol.", "s2": "ldl", "s3": "hdl"})[["age", "bmi", "bp", "chol.", "ldl", "hdl"]]
    first, second, third = (int(row) for row in np.random.default_rng(0).choice(len(table), 3, replace=False))
    table.loc[first, "bmi"] *= 10
    table.loc[second, "ldl"] /= 10
    swapped = ["chol.", "hdl"]
    table.loc[third, swapped] = table.loc[third, swapped[::-1]].to_numpy()
    return table, [(first, "bmi"), (second, "ldl"), *((third, name) for name in swapped)]


def draw_dirty(rows: int = 4) -> Figure:
    """The first rows that `screen` lists, with the marked cells and their expected values."""
    table, wrong = patients()
    found = oneclass.screen(table)
    first = found.order[:rows]
    expected = {(cell.row, cell.column): cell.expected for cell in found.cells if cell.row in first}
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    ax.set(xlim=(-1.35, table.shape[1] - 0.5), ylim=(rows + 0.35, -0.75))
    ax.set_axis_off()
    for j, name in enumerate(["row", *table.columns]):
        ax.text(j - 1, -0.4, name, ha="center", va="center", fontweight="bold")
    for i, row in enumerate(map(int, first)):
        ax.text(-1, i + 0.2, str(row), ha="center", va="center", color=GREY)
        for j, name in enumerate(table.columns):
            _draw_cell(ax, j, i, table.loc[row, name], expected.get((row, name)), (row, name) in wrong)
    for x, label, looks in ((-1.1, "marked, wrong", (True, True)), (1.1, "marked, not our mistake", (True, False)),
                            (4.2, "wrong, missed", (False, True))):  # fmt: skip
        _mark(ax, x, rows + 0.18, *looks, width=0.3, height=0.2)
        ax.text(x + 0.22, rows + 0.18, label, va="center", fontsize=8.5)
    ax.set_title(f"The {rows} rows that look most wrong, of {len(table)}")
    return figure


def _draw_cell(ax: Axes, j: int, i: int, value: float, expected: float | None, is_wrong: bool) -> None:
    is_marked = expected is not None
    colour = "white" if is_marked and is_wrong else None
    if is_marked or is_wrong:
        _mark(ax, j, i + 0.2, is_marked, is_wrong)
    y = i + 0.05 if is_marked else i + 0.2
    ax.text(j, y, f"{value:g}", ha="center", va="center", color=colour, fontweight="bold" if is_marked else None)
    if is_marked:
        ax.text(j, i + 0.37, f"expect {expected:.0f}", ha="center", va="center", color=colour, fontsize=8)


def _mark(ax: Axes, x: float, y: float, marked: bool, wrong: bool, width: float = 0.96, height: float = 0.78) -> None:
    patch = Rectangle((x - width / 2, y - height / 2), width, height, facecolor=VERMILION, edgecolor=VERMILION)
    patch.set(fill=marked and wrong, linestyle="-" if marked else ":", linewidth=1.2 if marked else 2)
    ax.add_patch(patch)


def draw_rates() -> Figure:
    """Rates delivered for 5 % asked: by detectors on three tables, and with and without three options."""
    measured = dict(table_rows("false_alarms", "conformal-peers")) | dict(table_rows("false_alarms", "peers"))
    rates = {name: [float(cell.split(" / ")[1]) for cell in measured[key][:3]] for key, name in _PEERS.items()}
    hard, streams = dict(table_rows("rates_measured", "hard rates")), dict(table_rows("streams_measured", "unseen"))
    case = "8 % of the rows 3 times as wide, VAAKELM"
    options = {
        "new patients, groups=": dict(table_rows("dependent_rows", "groups"))["VAAKELM"][1].split(" → "),
        "a rare machine, segments=": [hard[key][2].split()[0] for key in (case, f"{case} with segments")],
        "drift, Stream": [streams[key][1] for key in ("VAAKELM fitted once", "Stream")],
    }
    figure, (above, below) = plt.subplots(
        2, 1, figsize=SIZE, sharex=True, height_ratios=(len(rates), len(options) + 0.3), layout="constrained"
    )
    for y, (name, found) in enumerate(rates.items()):
        colour = BLUE if name.startswith("oneclass") else GREY
        _draw_range(above, y, found, [colour] * 3)
        above.text(max(found) + 1.5, y, f"{min(found):.1f} to {max(found):.1f} %", va="center", fontsize=9)
    for y, pair in enumerate(options.values()):
        without, having = map(float, pair)
        _draw_range(below, y, [without, having], [VERMILION, BLUE])
        below.text(without + 1.5, y, f"{without:.0f} → {having:.1f} %", va="center", fontsize=9)
    for ax, names, title in ((above, rates, "Three tables, 5 % false alarms asked for"),
                             (below, options, "Hard cases: without → with the option")):  # fmt: skip
        ax.axvline(5, color=GREY, linestyle="--", linewidth=1, zorder=0)
        ax.set_yticks(range(len(names)), list(names), fontsize=9)
        ax.set(xlim=(0, 80), xticks=range(0, 61, 10), ylim=(len(names) - 0.4, -0.6))
        ax.set_title(title, x=0.0, ha="left", fontsize=10)
    below.set_xlabel("normal rows rejected, %")
    return figure


def draw_groups() -> Figure:
    """Rates without and with groups, of the table of docs/dependent_rows.md."""
    rows = dict(table_rows("dependent_rows", "groups"))
    cases = {"60 persons, noise 0.1": 0, "60 persons, noise 0.3": 1, "60 persons, noise 0.5": 2,
             "every row twice": 3, "series, correlation 0.9": 4, "series, correlation 0.99": 5}  # fmt: skip
    figure, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
    ax.axvline(5, color=GREY, linestyle="--", linewidth=1, zorder=0)
    for y, at in enumerate(cases.values()):
        without, having = map(float, rows["VAAKELM"][at].split(" → "))
        _draw_range(ax, y, [without, having], [VERMILION, BLUE])
        ax.text(without + 2, y, f"{without:.0f} → {having:.0f} %", va="center", fontsize=9)
    ax.set_yticks(range(len(cases)), list(cases))
    ax.set(xlim=(0, 112), xticks=range(0, 101, 20), ylim=(len(cases) - 0.5, -0.5))
    ax.set_xlabel("rows of new groups rejected, % (dashed: 5 % asked)")
    return figure


def _draw_range(ax: Axes, y: int, found: list[float], colours: list[str]) -> None:
    ax.plot([min(found), max(found)], [y, y], color=colours[0], linewidth=2, alpha=0.5)
    ax.scatter(found, [y] * len(found), color=colours, s=30, zorder=2)


def pumps(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Readings of a pump: flow and the temperature of the bearing follow the speed."""
    speed = rng.normal(1500, 60, n)
    bearing = 40 + (speed - 1500) / 40 + rng.normal(0, 0.8, n)
    return pd.DataFrame({
        "speed, 1/min": speed,
        "flow, l/s": speed / 30 + rng.normal(0, 0.5, n),
        "bearing, °C": bearing,
        "outside, °C": rng.normal(12, 6, n),
    })  # fmt: skip


def draw_alarm() -> Figure:
    """A warm bearing: where the row lies, and the shares of its columns."""
    train = pumps(400, np.random.default_rng(0))
    odd = pd.DataFrame([[1500.0, 50.0, 45.0, 20.0]], columns=train.columns)
    model = VAAKELM(delta=0.01).fit(train)
    reasons = model.explain(odd).top(3)[0]
    x, y = "speed, 1/min", "bearing, °C"
    figure, (above, below) = plt.subplots(2, 1, figsize=SIZE, layout="constrained", height_ratios=(3, 1.25))
    above.plot(train[x], train[y], ".", color=BLUE, alpha=0.65, markersize=5)
    value, expected = reasons[0].value, reasons[0].expected
    above.plot(odd[x], odd[y], "X", color=VERMILION, markersize=10)
    above.plot(odd[x], [expected], "_", color=VERMILION, markersize=22, markeredgewidth=2.5)
    at = float(odd[x].iloc[0])
    above.annotate("", (at, expected), (at, value), arrowprops={"arrowstyle": "->", "color": VERMILION})
    box = {"facecolor": plt.rcParams["figure.facecolor"], "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
    above.text(at - 12, value, f"{value:g} °C, p = {model.p_value(odd)[0]:.3f}", ha="right", va="center", bbox=box)
    above.text(at - 18, expected + 1.6, f"expected {expected:.1f} °C", ha="right", va="center", bbox=box)
    above.set(xlabel=x, ylabel=y, title="45 °C is usual, but not at this speed")
    for k, reason in enumerate(reasons):
        share = 100 * reason.share
        below.barh(k, share, color=VERMILION, height=0.6)
        if k == 0:
            below.text(share - 1, k, f"{share:.0f} %", va="center", ha="right", color="white", fontsize=9)
        else:
            told = f"{share:.0f} %  ({reason.value:g}, expected {reason.expected:.4g})"
            below.text(share + 2, k, told, va="center", fontsize=9)
    below.set_yticks(range(len(reasons)), [reason.column for reason in reasons])
    below.set(xlabel="share of the alarm, %", xlim=(0, 100), ylim=(len(reasons) - 0.5, -0.5))
    return figure


def photograph_report() -> None:
    """Take pictures of the top of the report that README makes from the tables of `oneclass demo`."""
    with tempfile.TemporaryDirectory() as folder:
        for step in ("demo parcels", "fit parcels/normal.csv -o model.oneclass",
                     "report model.oneclass parcels/new.csv -o report.html"):  # fmt: skip
            command = [sys.executable, "-m", "oneclass", *step.split()]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        looks = {
            f"report{end}": {"viewport": {"width": 1100, "height": 640}, "color_scheme": scheme}
            for end, scheme in (("", "light"), ("-dark", "dark"))
        }
        photograph(Path(folder) / "report.html", FOLDER, looks)


def main() -> None:
    """Draw."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in (("dirty", draw_dirty), ("rates", draw_rates), ("alarm", draw_alarm), ("groups", draw_groups)):
        save_both(draw, FOLDER / f"{name}.png")
    photograph_report()


if __name__ == "__main__":
    main()

"""Numbers that pages repeat are those of the tables that scripts write, and the scripts can be run."""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]


def lines(page, mark):
    """Rows of cells of the tables between these marks."""
    text = (HERE / "docs" / f"{page}.md").read_text().split(f"<!-- {mark} -->")[1].split(f"<!-- /{mark} -->")[0]
    return [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in text.splitlines() if line[:1] == "|"]


def rows(page, mark):
    """The same by their first cells; of two with the same the later."""
    return {row[0]: row[1:] for row in lines(page, mark)}


def rounded(cells, digits=3):
    return [f"{float(cell.split()[0].rstrip('%')) + 1e-9:.{digits}f}" for cell in cells]


def sentences():
    """Pages, and the sentences that they must contain."""
    peers = rows("defaults", "defaults-peers")
    mean = {
        name: ", ".join(rounded(cells[::4])) for name, cells in peers.items() if name[0] != "-" and cells[0][:2] == "0."
    }
    yield "README.md", f"**{mean['VAAKELM']}**"
    for told, name in (("isolation forest", "isolation forest"), ("one-class SVM", "one-class SVM"), ("LOF", "LOF"),
                       ("5-NN:", "5-NN"), ("1-NN", "1-NN")):  # fmt: skip
        yield "README.md", f"{told} {mean[name]}"
    yield "docs/choose.md", f"AUROC {mean['VAAKELM']} on"
    yield "docs/choose.md", f"| `AAKELM()` | {mean['AAKELM']}:"
    one, two, three = rounded(peers["1-NN"][3::4])
    yield "docs/choose.md", f"1-NN is {one}, {two} and {three} behind the default"
    _, two, three = rounded(peers["VOCKELM"][3::4])
    yield "docs/choose.md", f"{two} and {three} behind elsewhere"

    rates = [row for row in lines("false_alarms", "false-alarms") if row[1] == "5%"]
    ours, train = ([float(row[i]) for row in rates for i in places] for places in ((3, 5, 7), (2, 4, 6)))
    kept, broken = f"{min(ours)} to {max(ours)} %", f"{min(train):.0f} to {max(train):.0f} %"
    yield "docs/choose.md", f"5 % asked: {kept}"
    yield "docs/choose.md", f"{broken} for 5 % asked"
    yield "docs/trust.md", f"{kept} for 5 % asked; training scores give {broken}"

    blamed = rows("explanations", "explanations")
    ours, pca, z = (
        blamed[name][1] for name in ("default VAAKELM", "PCADetector()", "largest z-score, rows of the default")
    )
    said = "has the largest share in {} of alarms, PCA {}, largest z-score {}".format(
        *(x.replace("%", " %") for x in (ours, pca, z))
    )
    yield "docs/choose.md", said
    yield "docs/trust.md", f"in {ours.replace('%', ' %')} of the alarms"
    yield "docs/explain.md", f"In {ours.replace('%', ' %')} of alarms"

    streams = rows("streams_measured", "unseen")
    (ours, alarms), (once, often) = (streams[name][:2] for name in ("Stream", "VAAKELM fitted once"))
    alarms, often = rounded([alarms, often], 0)
    yield "docs/choose.md", f"AUROC {ours} at {alarms} % false alarms; fitted once {once} at {often} %"
    yield "README.md", f"AUROC {ours}, {alarms} % false alarms"
    yield "docs/trust.md", f"{alarms} % in streams"

    at_5 = {
        name: [float(cell.split(" / ")[1]) for cell in cells[:3]]
        for mark in ("peers", "conformal-peers")
        for name, cells in rows("false_alarms", mark).items()
        if "/" in cells[0]
    }
    svm, pyod_svm = at_5.pop("scikit-learn OneClassSVM, `nu`"), at_5.pop("PyOD OCSVM, `contamination`")
    folds = [rate for name, found in at_5.items() if name.endswith("five folds") for rate in found]
    kinds = ("oneclass", "scikit-learn", "PyOD", "river")
    found = [[rate for name, of in at_5.items() if name.startswith(kind) for rate in of] for kind in kinds]
    ours, sklearn, pyod, river, svm, pyod_svm, folds = (
        f"{min(of):.0f}–{max(of) + 1e-9:.0f} %" for of in (*found, svm, pyod_svm, folds)
    )
    others = f"one-class SVM {svm}, others {sklearn} | {pyod}, OCSVM {pyod_svm}"
    yield "README.md", f"| {ours} | {others} | five folds {folds} | | {river} |"

    failed = {name: int(cells[0]) for name, cells in rows("trust", "estimator-checks").items() if cells[0].isdigit()}
    pyod = [count for name, count in failed.items() if name.startswith("PyOD")]
    yield "README.md", f"{min(pyod)} to {max(pyod)}"
    twice = [name.split()[1] for name, count in failed.items() if name.startswith("scikit-learn") and count == 2]
    assert sorted(twice) == ["IsolationForest", "OneClassSVM", "SGDOneClassSVM"]

    tables = [
        rows("dirty_measured", f"dirty-{kind}")["normal rows among those named"] for kind in ("naming", "mixed-naming")
    ]
    named = [int(cell.strip("%")) for cells in tables for cell in cells]
    yield "docs/choose.md", f"{min(named)} to {max(named)} % of the rows it names hold no planted mistake"

    million = float(rows("scale_measured", "large")["VAAKELM, predictive"][0])
    yield "README.md", f"a million rows take {million:.0f} seconds on two cores"
    yield "docs/choose.md", f"{million:.0f} s for a million"
    yield "docs/faq.md", f"A million in {million:.0f} s on two cores"
    yield "docs/trust.md", f"a million rows in {million:.0f} s on two cores"

    name = "AAKELM, predictive, n = 100,000,000, d = 32, m = 2,048"
    default = float(rows("scale_measured", "gpu")[name][0])
    yield "README.md", f"100 million in {5 * round(default / 5)} seconds on one GPU"
    yield "docs/choose.md", f"{5 * round(default / 5)} s for 100 million"


@pytest.mark.parametrize(("page", "sentence"), [*sentences()])
def test_pages_repeat_what_was_measured(page, sentence):
    assert sentence in " ".join((HERE / page).read_text().split())


def test_the_pictures_of_rates_find_their_tables():
    pytest.importorskip("matplotlib")
    from examples import front

    for draw in (front.draw_rates, front.draw_groups):
        figure = draw()
        assert all(panel.collections for panel in figure.axes)
        front.plt.close(figure)


def test_scripts_import_what_other_scripts_have():
    trees = {path.stem: ast.parse(path.read_text()) for path in (HERE / "benchmarks").glob("*.py")}
    lacking = [
        (script, node.module, name.name)
        for script, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module in trees and node.module != script
        for name in node.names
        if name.name not in ast.unparse(trees[node.module])
    ]
    assert lacking == []

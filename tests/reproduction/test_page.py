"""The page says what the rows say: made-up rows whose answer is known."""

import re
import zlib

import numpy as np
import pytest

from reproduction import plan, published, store
from reproduction.__main__ import main
from reproduction.figures.ranking import cliques
from reproduction.methods import KERNEL_MACHINES
from reproduction.metrics import METRICS
from reproduction.page import page
from reproduction.page.claims import leads
from reproduction.page.naming import title
from reproduction.results import Results


def made_up(task):
    """Rows of a task in which VAAKELM is best everywhere, and the release gives the published values."""
    rng = np.random.default_rng(zlib.crc32(repr(task.key).encode()))
    released = task.recipe in ("authors_code", "equation")
    choices = ["default"] if task.recipe == "honest" else ["best"]
    if task.recipe != "honest" and task.method in KERNEL_MACHINES:
        choices += ["delta=0.01", "delta=0.05", "delta=0.1"]
    values = dict.fromkeys(METRICS, 0.95 if task.method == "VAAKELM" else 0.5 + 0.3 * rng.random())
    if task.recipe == "authors_code" and task.seed == 0:
        values["f1"] = published.f1(task.dataset, task.method) / 100
    params = {"C": 1.0, "delta": 0.05}
    about = {"n_test_target": 10, "n_test_outlier": 20, "n_train": 40, "task_seconds": 0.1, "fit_seconds": 0.01}
    tied = {"tied_f1": [round(100 * values["f1"], 2)]} if released else {}
    origin = dict(zip(("recipe", "dataset", "method", "seed"), task.key, strict=True))
    return [
        {**origin, "choice": choice, "of": len(choices), "params": params, "versions": {"oneclass": "0"}}
        | {**about, **tied, **values}
        for choice in choices
    ]


@pytest.fixture(scope="module")
def rows():
    return [row for task in dict.fromkeys(plan.full()) for row in made_up(task)]


def test_the_page_counts_what_matches_and_what_holds(rows):
    text = page(rows)
    assert "**28 of 28** published F1 values" in text
    assert "| highest F1 on how many of 15 | 15 | 15 | yes |" in text
    assert "place 1 of 14" in text
    assert "25 of 25 datasets have the published counts" in text
    assert not re.search(r"\bnan\b", text)


def test_a_claim_that_the_rows_do_not_bear_out_does_not_hold(rows):
    worse = [row | {"f1": 0.1} if row["method"] == "VAAKELM" and row["recipe"] == "paper" else row for row in rows]
    assert "| highest F1 on how many of 15 | 15 | 0 | no |" in page(worse)


def test_report_writes_the_page_its_figures_and_compressed_rows(rows, tmp_path):
    pytest.importorskip("matplotlib")
    store.write(tmp_path / "rows.jsonl", rows)
    target = tmp_path / "reproduction.md"
    assert main(["report", "--rows", str(tmp_path / "rows.jsonl"), "--page", str(target)]) == 0
    named = {line.split("](")[1].rstrip(")") for line in target.read_text().splitlines() if line.startswith("![")}
    assert len(named) == 8
    assert all((tmp_path / name).stat().st_size > 10_000 for name in named)
    assert page(store.read(tmp_path / "reproduction" / "rows.jsonl.gz")) == target.read_text()


def test_a_page_of_part_of_the_rows_is_short_says_what_is_missing_and_leaves_the_whole_page_alone(
    rows, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    small = [row for row in rows if row["recipe"] in ("paper", "honest") and not row["dataset"].startswith("concordia")]
    store.write("results/rows.jsonl", small)
    assert main(["report"]) == 0
    assert [str(path) for path in sorted(tmp_path.rglob("*.md"))] == [str(tmp_path / "results" / "reproduction.md")]
    text = (tmp_path / "results" / "reproduction.md").read_text()
    head = next(line for line in text.splitlines() if line.startswith("| F1"))
    assert head.split(" | ")[1:-2] == [title(name) for name in plan.PAPER_DATASETS[:15]]
    assert "None of the released splits was run" in text
    assert "- `equation`: Biomed, Diabetic Retinopathy, Ecoli, Imports, Vowel, Concordia 0, Concordia 1" in text
    assert not re.search(r"\bnan\b", text)


def test_a_page_of_no_rows_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no rows in"):
        main(["report", "--rows", str(tmp_path / "none.jsonl"), "--page", str(tmp_path / "page.md")])


def test_rows_of_the_quick_plan_make_a_short_page(tmp_path):
    store.write(tmp_path / "rows.jsonl", [row for task in plan.quick() for row in made_up(task)])
    assert main(["report", "--rows", str(tmp_path / "rows.jsonl"), "--page", str(tmp_path / "quick.md")]) == 0
    text = (tmp_path / "quick.md").read_text()
    assert "12 of 12 published F1 values come out to every printed digit" in text
    assert "| VAAKELM | 95.0 | 95.0 | 95.0 | 95.0 | 95.0 | 1.0 | 1.0 |" in text


def test_results_keep_splits_in_order_and_gaps_empty(rows):
    results = Results(reversed(rows))
    assert list(results.rows("paper", "wine", "PCA")) == list(range(20))
    assert np.isnan(results.mean("f1", "paper", ["wine"], ["nobody"])).all()


def test_leads_count_ties():
    assert leads(np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]])) == 2


def test_cliques_are_the_longest_runs_within_the_distance():
    assert cliques([1.0, 2.0, 3.0, 4.0], 2.0) == [(0, 2), (1, 3)]
    assert cliques([1.0, 9.0], 2.0) == []


def test_run_command_stores_rows_and_says_so(tmp_path, capsys):
    rows = str(tmp_path / "rows.jsonl")
    ask = ["run", "--recipe", "honest", "--dataset", "digits_0", "--method", "PCA", "--splits", "2", "--rows", rows]
    assert main([*ask, "--jobs", "1"]) == 0
    assert len(store.read(rows)) == 2
    assert "0 of 2 tasks are stored, 2 to run" in capsys.readouterr().err

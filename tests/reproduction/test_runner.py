"""A run that is interrupted and resumed gives the rows of an uninterrupted one."""

import json

import pytest

from reproduction import plan, protocol, runner, store
from reproduction.protocol import Task, evaluate

TASKS = [Task("honest", "digits_0", method, seed) for seed in (0, 1) for method in ("PCA", "AAKELM")]
TASKS.append(Task("paper", "digits_0", "OCKELM", 0))


def silent(line):
    pass


def timeless(rows):
    kept = [{key: value for key, value in row.items() if "seconds" not in key} for row in rows]
    return sorted(kept, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "rows.jsonl"
    assert runner.run(TASKS, path, say=silent) == []
    return path


def test_a_task_gives_the_same_rows_except_for_times():
    first, second = (timeless(evaluate("digits_0", "KMeans", "honest", 3)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("lost", [2, 40, 900])
def test_a_run_cut_anywhere_and_resumed_equals_the_whole(whole, tmp_path, lost):
    cut = tmp_path / "rows.jsonl"
    cut.write_bytes(whole.read_bytes()[:-lost])
    said = []
    assert runner.run(TASKS, cut, say=said.append) == []
    assert timeless(store.read(cut)) == timeless(store.read(whole))
    assert said[0].startswith(("4 of 5", "3 of 5"))


def test_stored_tasks_are_not_run_again(whole, monkeypatch):
    monkeypatch.setattr(runner, "evaluate", lambda *task: pytest.fail("ran again"))
    before = whole.read_bytes()
    assert runner.run(TASKS, whole, say=silent) == []
    assert whole.read_bytes() == before


def test_processes_in_parallel_give_the_same_rows(whole, tmp_path):
    path = tmp_path / "rows.jsonl"
    runner.run(TASKS[:2], path, n_jobs=2, say=silent)
    keys = {task.key for task in TASKS[:2]}
    assert timeless(store.read(path)) == timeless(r for r in store.read(whole) if store._key(r) in keys)


def test_a_failing_task_is_reported_and_tried_again_in_the_next_run(tmp_path):
    path, said = tmp_path / "rows.jsonl", []
    good, bad = TASKS[0], Task("honest", "no_such_dataset", "PCA", 0)
    ((task, error),) = runner.run([bad, good], path, say=said.append)
    assert task == bad
    assert "no dataset is called" in error
    assert store.done(store.read(path)) == {good.key}
    assert any(line.startswith("failed") for line in said)


def test_tasks_without_data_are_skipped_with_one_line_per_source_and_the_others_run(tmp_path, monkeypatch):
    monkeypatch.setenv("ONECLASS_DATA", str(tmp_path))
    path, said = tmp_path / "rows.jsonl", []
    absent = [Task("honest", "usps_0", "PCA", seed) for seed in (0, 1)] + [Task("equation", "vowel", "AAKELM", 0)]
    assert runner.run([*absent, TASKS[0]], path, say=said.append) == []
    assert store.done(store.read(path)) == {TASKS[0].key}
    assert [line.partition(":")[0] for line in said if line.startswith("skipped")] == [
        "skipped 2 tasks",
        "skipped 1 tasks",
    ]
    assert not any(line.startswith("failed") for line in said)


def test_compressed_rows_are_the_same_rows(whole, tmp_path):
    rows = store.read(whole)
    store.write(tmp_path / "rows.jsonl.gz", rows)
    assert store.read(tmp_path / "rows.jsonl.gz") == rows


def test_not_a_number_is_stored_as_null(tmp_path):
    row = {"recipe": "paper", "dataset": "a", "method": "b", "seed": 0, "choice": "best", "of": 1, "f1": float("nan")}
    store.write(tmp_path / "rows.jsonl", [row])
    assert store.read(tmp_path / "rows.jsonl")[0]["f1"] is None


def test_the_full_plan_holds_every_method_on_every_dataset_of_the_paper_at_least_five_times():
    counts = {}
    for task in plan.full():
        if task.recipe == "paper":
            counts[task.dataset, task.method] = counts.get((task.dataset, task.method), 0) + 1
    assert {(d, m) for d in plan.PAPER_DATASETS for m in plan.METHODS} <= counts.keys()
    assert min(counts.values()) >= 5
    assert len(plan.PAPER_DATASETS) == 25


def test_an_unknown_recipe_is_named():
    listed = "authors_code, equation, software, paper, honest, tried"
    with pytest.raises(ValueError, match=f"recipe must be one of {listed}, got 'soup'"):
        protocol.evaluate("wine", "PCA", "soup", 0)

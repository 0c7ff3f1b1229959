"""The gallery: every example runs, draws, and fits on a screen."""

import runpy

import pytest

from examples.pages import DOCS

EXAMPLES = sorted((DOCS.parent / "examples" / "gallery").glob("plot_*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_draws(example, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONECLASS_ROWS", "20000")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    runpy.run_path(str(example), run_name="__main__")
    assert pyplot.get_fignums()
    pyplot.close("all")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_is_short(example):
    assert len(example.read_text().splitlines()) < 100

"""The text of the demo agrees with its numbers."""

import warnings

import pytest

from examples.demo import WAYS, alarm, delivered, normal_rows
from examples.transcript import PAGE, transcript


def test_only_the_threshold_on_held_out_scores_keeps_the_rate_of_the_flexible_machines():
    wine = normal_rows()["wine 2"]
    ours, paper, svm, _ = (delivered(make, 0.05, wine) for make in WAYS.values())
    assert ours <= 0.05
    assert min(paper, svm) > 0.3


def test_the_alarm_names_what_is_odd_in_its_units(capsys):
    alarm()
    assert "area error       is   153.4, expected  39.84" in capsys.readouterr().out


def test_pages_show_what_the_demo_of_the_command_line_says(capsys):
    pytest.importorskip("pyarrow")
    from oneclass.cli.commands import oneclass as group

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices, which go to standard error
        group.main(["demo"], prog_name="oneclass", standalone_mode=False)
    assert transcript(capsys.readouterr().out) in PAGE.read_text()


@pytest.mark.filterwarnings("ignore")  # notices of the commands
def test_the_demo_of_the_command_line_keeps_its_files_in_a_folder(tmp_path):
    pytest.importorskip("pyarrow")
    from click.testing import CliRunner

    from oneclass.cli.commands import oneclass as group

    folder = str(tmp_path / "parcels")
    ran = CliRunner().invoke(group, ["demo", folder])
    assert ran.exit_code == 0, ran.output
    assert sorted(path.name for path in (tmp_path / "parcels").iterdir()) == [
        "model.oneclass", "new.csv", "normal.csv", "scored.csv"
    ]  # fmt: skip
    assert "FOLDER must not hold normal.csv" in CliRunner().invoke(group, ["demo", folder]).output

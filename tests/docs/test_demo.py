"""The demo says what it shows."""

from examples.demo import WAYS, alarm, delivered, normal_rows


def test_only_the_threshold_on_held_out_scores_keeps_the_rate_of_the_flexible_machines():
    wine = normal_rows()["wine 2"]
    ours, paper, svm, _ = (delivered(make, 0.05, wine) for make in WAYS.values())
    assert ours <= 0.05
    assert min(paper, svm) > 0.3


def test_the_alarm_names_what_is_odd_in_its_units(capsys):
    alarm()
    assert "area error       is   153.4, expected  26.65" in capsys.readouterr().out

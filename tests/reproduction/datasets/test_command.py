"""The command writes what ``load`` returns."""

import pandas as pd
import pytest

from reproduction.datasets import cards, load
from reproduction.datasets.__main__ import main


def test_the_list_names_every_dataset(capsys):
    main(["list"])
    listed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert listed == [[card.name, str(card.rows), str(card.features), card.access] for card in cards()]


def test_fetch_writes_targets_and_outliers_that_read_back_as_the_rows(tmp_path, capsys):
    normal, odd = tmp_path / "normal.csv", tmp_path / "odd.csv"
    main(["fetch", "wine", "-o", str(normal), "--outliers", str(odd)])
    assert capsys.readouterr().out == f"{normal}: 71 rows\n{odd}: 107 rows\n"
    X, y = load("wine")
    for path, label in ((normal, 1), (odd, -1)):
        pd.testing.assert_frame_equal(pd.read_csv(path), X[y == label].reset_index(drop=True), check_dtype=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["wine", "-o", "x.csv", "--outliers", "./x.csv"], "fetch: --output and --outliers must be two files"),
        (["whine", "-o", "x.csv"], "did you mean wine"),
        (["wine", "-o", "nowhere/x.csv"], "nowhere"),
    ],
)
def test_a_wrong_request_ends_with_one_sentence(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["fetch", *arguments])
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

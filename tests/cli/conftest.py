"""A folder of small tables, and commands run in it."""

import io
import shlex
import sys

import numpy as np
import pandas as pd
import pytest

from oneclass.cli import errors
from oneclass.cli.commands import oneclass as group

ROWS = 60


def parcels_of(n, seed):
    rng = np.random.default_rng(seed)
    grams = rng.gamma(4, 300, n)
    town = rng.choice(["Bonn", "Graz"], n)
    return pd.DataFrame({"id": np.arange(n), "grams": grams, "price": grams / 400 + rng.normal(0, 0.3, n), "town": town,
                         "note": [f"n{i}" for i in range(n)], "zip": rng.integers(0, 4, n)})  # fmt: skip


@pytest.fixture
def parcels():
    """A function that makes tables of normal rows."""
    return parcels_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with tables in it."""
    monkeypatch.chdir(tmp_path)
    parcels_of(ROWS, 0).to_csv("normal.csv", index=False)
    parcels_of(20, 1).to_csv("new.csv", index=False)
    odd = parcels_of(20, 2).assign(price=99.0)
    odd.to_csv("odd.csv", index=False)
    np.savetxt("numbers.csv", np.random.default_rng(0).normal(size=(600, 3)), delimiter=",")
    pd.concat([parcels_of(ROWS, 0), odd[:2].assign(price=[99.0, -99.0])]).to_csv("table.csv", index=False)
    pd.concat([parcels_of(ROWS, 0).assign(fault="no"), odd.assign(fault="yes")]).to_csv("labelled.csv", index=False)
    answered = parcels_of(4, 3).assign(label=[1, -1, 1, ""], fraud=["no", "yes", "no", ""])
    answered.to_csv("answers.csv", index=False)
    return tmp_path


@pytest.fixture
def run(capsys, monkeypatch):
    """A function: exit code, output and errors of a command line."""

    def run(line, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(stdin)}))
        code = errors.leave(lambda: group.main(shlex.split(line), prog_name="oneclass", standalone_mode=False))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run

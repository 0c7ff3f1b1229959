"""What a careful user asks of a library: no pickle, no connection to other machines, few bytes."""

import ast
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import oneclass

ROOT = Path(oneclass.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
#: Modules that read or write pickle, also under other names.
PICKLING = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve"}
#: Calls of other libraries that do.
CALLS = {"joblib.dump", "joblib.load", "pd.read_pickle", "pandas.read_pickle", "np.save", "torch.save", "torch.load"}


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])
def test_no_module_reads_or_writes_pickle(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                found |= {alias.name.partition(".")[0] for alias in names} & PICKLING
            case ast.ImportFrom(module=str(module), level=0):
                found |= {module.partition(".")[0]} & PICKLING
            case ast.Call(func=function, keywords=keywords):
                found |= {ast.unparse(function)} & CALLS
                found |= {"allow_pickle"} & {word.arg for word in keywords}
            case ast.Attribute(attr="to_pickle"):
                found.add("to_pickle")
    assert found == set()


USE = """
import sys

def refuse(event, given):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"):
        raise RuntimeError(f"{event} {given}")

sys.addaudithook(refuse)
import numpy as np, oneclass
from oneclass import *
X = np.random.default_rng(0).normal(size=(60, 3))
for name in oneclass.__all__:
    getattr(oneclass, name)
model = oneclass.VAAKELM().fit(X)
model.predict(X[:3]), model.explain(X[:3]), oneclass.screen(X)
model.save(sys.argv[1])
oneclass.load(sys.argv[1]).p_value(X[:3])
"""


def test_importing_and_using_the_library_opens_no_connection(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", USE, str(tmp_path / "model.oneclass")]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT.parent)})
    assert (done.returncode, done.stderr) == (0, "")


def test_no_test_can_connect_to_another_machine():
    with socket.socket() as one, pytest.raises(ConnectionRefusedError, match="may not connect to 192"):
        one.connect(("192.0.2.1", 80))

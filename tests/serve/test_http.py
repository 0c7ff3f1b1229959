"""``oneclass serve``, asked over HTTP by a client of its own process."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oneclass
from oneclass import VAAKELM, TableDetector

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

ROWS = [{"a": 0.1, "b": "x"}, {"a": 99.0, "b": "x"}, {"a": 0.0, "b": "z"}]


def fitted(seed):
    rng = np.random.default_rng(seed)
    return TableDetector(VAAKELM()).fit(pd.DataFrame({"a": rng.normal(size=150), "b": rng.choice(["x", "y"], 150)}))


@contextmanager
def serving(*arguments, command=(sys.executable, "-m", "oneclass")):
    """A running service, and a client for it."""
    process = subprocess.Popen([*command, "serve", *map(str, arguments), "--port", "0"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        with httpx.Client(base_url=line.split()[-1], timeout=60) as client:
            yield process, client
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def models():
    return fitted(0), fitted(1)


@pytest.fixture
def place(tmp_path, models):
    models[0].save(tmp_path / "model.oneclass")
    return tmp_path / "model.oneclass"


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def scores(model):
    return model.score_samples(pd.DataFrame(ROWS)).tolist()


def scores_in(answer):
    assert answer.status_code == 200, answer.text
    return [row["score"] for row in answer.json()["rows"]]


def count(client, name):
    return float(re.search(rf"^oneclass_{re.escape(name)} (\S+)$", client.get("/metrics").text, re.M)[1])


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_a_client_gets_the_answers_of_the_library(place, models):
    with serving(place) as (_, client):
        assert scores_in(client.post("/score", json=ROWS)) == scores(models[0])
        found = client.post("/explain", json=ROWS).json()
        assert found["rows"][1]["reasons"][0]["column"] == "a"
        assert found["model"]["held_out"] == 150
        health = client.get("/health").json()
        assert health["status"] == "ok"
        assert [column["name"] for column in health["columns"]] == ["a", "b"]
        assert count(client, "rows_total") == count(client, "p_value_count") == 6
        assert count(client, "alarms_total") == 2 * found["outliers"]
        for path, status in (("/score", 405), ("/", 404)):
            assert client.get(path).status_code == status
        for body in (b"{", b"[[1]]", b"[" * 50_000):
            refused = client.post("/score", content=body)
            assert refused.status_code == 422
            assert "\n" not in refused.json()["error"]
        refused = client.get("/health", headers={"Host": "elsewhere.example"})
        assert refused.status_code == 421
        assert count(client, 'requests_total{status="422"}') == 3


def test_requests_beyond_the_limits_are_refused(place):
    with serving(place, "--max-bytes", 1000, "--rate", 5) as (_, client):
        statuses = [client.post("/score", json=ROWS).status_code for _ in range(30)]
        assert {200, 429} == set(statuses)
        assert statuses[:5] == [200] * 5
        time.sleep(0.5)
        assert client.post("/score", content=b" " * 1001).status_code == 413
        assert client.post("/score", content=iter([b" " * 600] * 2)).status_code == 413  # of a length not told before


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_no_request_is_lost_while_new_models_are_loaded(place, models, tmp_path):
    expected = [scores(model) for model in models]
    with serving(place, "--reload", 0.05, "--rate", 0, "--threads", 2) as (_, client):
        found, done = [], threading.Event()

        def ask():
            with httpx.Client(base_url=client.base_url, timeout=60) as own:
                while not done.is_set() and len(found) < 2000:
                    found.append(scores_in(own.post("/score", json=ROWS)))

        clients = [threading.Thread(target=ask) for _ in range(4)]
        for thread in clients:
            thread.start()
        for i in range(1, 7):
            models[i % 2].save(place)
            loaded = time.monotonic() + 20
            while count(client, 'reloads_total{result="loaded"}') < i and time.monotonic() < loaded:
                time.sleep(0.02)
        done.set()
        for thread in clients:
            thread.join()
        assert count(client, 'reloads_total{result="loaded"}') == 6
        assert all(one in expected for one in found)
        assert all(one in found for one in expected)
        assert scores_in(client.post("/score", json=ROWS)) == expected[0]
        assert count(client, 'requests_total{status="200"}') == len(found) + 1


@pytest.mark.filterwarnings("ignore::oneclass.ColumnWarning")
def test_a_file_that_cannot_be_loaded_leaves_the_model_as_it_was(place, models):
    with serving(place, "--reload", 0.05) as (_, client):
        place.write_bytes(place.read_bytes()[:-100])
        ends = time.monotonic() + 20
        while not (error := client.get("/health").json()["reload_error"]) and time.monotonic() < ends:
            time.sleep(0.02)
        assert "the model loaded before is used" in error
        assert scores_in(client.post("/score", json=ROWS)) == scores(models[0])
        models[1].save(place, force=True)
        while client.get("/health").json()["reload_error"] and time.monotonic() < ends:
            time.sleep(0.02)
        assert scores_in(client.post("/score", json=ROWS)) == scores(models[1])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_waits_for_the_requests_at_work(place, number):
    body = json.dumps(ROWS).encode()
    with serving(place) as (process, client):
        url = client.base_url
        with socket.create_connection((url.host, url.port), timeout=30) as half:
            head = f"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            half.sendall(head.encode() + body[:10])
            time.sleep(0.3)
            process.send_signal(number)
            time.sleep(0.3)
            half.sendall(body[10:])
            assert half.recv(20).startswith(b"HTTP/1.1 200")
        assert process.wait(timeout=30) == 0


def test_only_the_model_file_is_read_and_nothing_is_run(place, tmp_path):
    script, log = tmp_path / "audited.py", tmp_path / "log.json"
    script.write_text(
        textwrap.dedent(f"""
        import atexit, json, sys
        seen = []
        def hook(event, arguments):
            if event in ("open", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"):
                seen.append([event, str(arguments[0]) if arguments else ""])
        from oneclass.cli import main
        atexit.register(lambda: open({str(log)!r}, "w").write(json.dumps(seen)))
        sys.addaudithook(hook)
        main()
    """)
    )
    with serving(place, "--reload", 0.05, command=(sys.executable, script)) as (process, client):
        scores_in(client.post("/explain", json=ROWS))
        os.utime(place)
        while not count(client, 'reloads_total{result="loaded"}'):
            time.sleep(0.02)
        process.terminate()
        process.wait(timeout=30)
    events = json.loads(log.read_text())
    assert {event for event, _ in events} == {"open"}
    system = (sys.prefix, sys.base_prefix, str(Path(oneclass.__file__).parents[1]), "/usr", "/lib", "/proc", "/sys")
    read = {path for _, path in events if not path.startswith(system) and not path.isdigit()}
    assert read == {str(place), str(log)}


def test_a_port_in_use_and_a_missing_model_are_errors_of_one_line(place):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, code in ((["--port", str(port)], 5), ([], 5)):
            model = place if arguments else place.with_name("none")
            done = subprocess.run([sys.executable, "-m", "oneclass", "serve", str(model), *arguments],
                                  capture_output=True, text=True, timeout=60)  # fmt: skip
            assert done.returncode == code
            assert len(done.stderr.splitlines()) == 1

"""Requests to `oneclass serve`: milliseconds of a request of 1 and of 1,000 rows, and rows a second.

python benchmarks/serving.py [--seconds 5]
Writes a table of docs/speed.md.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from _table import markdown, write_between_markers
from command_line import block
from oneclass import TableDetector

TRAINING = 2_000


def asked(address: tuple[str, int], body: bytes, until: float, taken: list[float]) -> None:
    """Ask one request after the other over one connection, and note the seconds of each."""
    connection = http.client.HTTPConnection(*address, timeout=60)
    while time.perf_counter() < until:
        begun = time.perf_counter()
        connection.request("POST", "/score", body)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"the service answered {answer.status}")
        taken.append(time.perf_counter() - begun)
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    rng = np.random.default_rng(0)
    model = TableDetector(columns={"id": "drop"}).fit(block(rng, 0, TRAINING))
    fresh = json.loads(block(rng, TRAINING, 1000).to_json(orient="records", date_format="iso", date_unit="s"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.oneclass")
        model.save(path)
        command = [sys.executable, "-m", "oneclass", "serve", str(path), "--port", "0", "--rate", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = ("127.0.0.1", int(process.stdout.readline().rpartition(":")[2]))
        table = []
        for rows, reasons, clients in ((1, 0, 1), (1, 3, 1), (1, 0, 4), (1000, 0, 1), (1000, 3, 1)):
            body = json.dumps({"rows": fresh[:rows], "reasons": reasons}).encode()
            asked(address, body, time.perf_counter() + 0.2 * seconds, [])
            taken: list[float] = []
            until = time.perf_counter() + seconds
            threads = [threading.Thread(target=asked, args=(address, body, until, taken)) for _ in range(clients)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            middle, slow = np.quantile(taken, [0.5, 0.99]) * 1e3
            rate = len(taken) / seconds
            rates = f"{rate:.0f}", f"{rate * rows:,.0f}"
            table.append([f"{rows:,}", reasons, clients, *rates, f"{middle:.1f}", f"{slow:.1f}"])
            print(*table[-1], flush=True)
        process.terminate()
        process.wait()
    head = ["rows of a request", "reasons", "clients", "requests a second", "rows a second", "median, ms", "99 %, ms"]
    write_between_markers(Path(__file__).parents[1] / "docs" / "speed.md", "serving", markdown(head, table))


if __name__ == "__main__":
    main()

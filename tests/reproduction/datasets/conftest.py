"""A dataset of three rows, and a web server with the answers that a test sets."""

import hashlib
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from reproduction.datasets import Card, RawFile, store, tables

TOY = b"30,64,1,1\n31,65,0,1\n32,66,9,2\n"


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache, and no data folder."""
    monkeypatch.delenv("ONECLASS_DATA", raising=False)
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def toy(tmp_path):
    """``toy(*urls)`` is the card of a dataset of three rows at these addresses; ``toy.content`` is its file."""
    path = tmp_path / "toy.data"
    path.write_bytes(TOY)
    card = Card(
        name="toy",
        title="Toy",
        family="extra",
        source="https://example.org/toy",
        licence="none",
        target="class 1",
        recipe="all rows",
        rows=3,
        targets=2,
        features=3,
        fingerprint=store.print_of(tables.survival(path)),
        read=tables.survival,
    )
    path.unlink()
    sha256 = hashlib.sha256(TOY).hexdigest()

    def at(*urls):
        return replace(card, raw=RawFile("toy/toy.data", sha256, urls))

    at.content = TOY
    return at


@pytest.fixture
def server(monkeypatch):
    """Web server: ``server.serve(path, *bodies)`` gives one body per request, and the last body from then on.

    A body is bytes, a status number, or ``Ellipsis`` for an answer that is shorter than its header says.
    """
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    answers, asked = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            queue = answers.get(self.path, [404])
            body = queue.pop(0) if len(queue) > 1 else queue[0]
            content = TOY if body is ... else b"" if isinstance(body, int) else body
            self.send_response(body if isinstance(body, int) else 200)
            self.send_header("Content-Length", str(len(content) + 1000 * (body is ...)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    class Server:
        requests = asked

        @staticmethod
        def serve(path, *bodies):
            answers[f"/{path}"] = list(bodies)
            return f"http://127.0.0.1:{http.server_port}/{path}"

    yield Server
    http.shutdown()
    http.server_close()
    thread.join()

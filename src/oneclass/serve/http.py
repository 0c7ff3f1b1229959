"""The HTTP server: listens, answers, and stops when it has answered what it has accepted."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

__all__ = ["serve"]

#: Most connections at a time, and seconds for the requests that a stop finds at work.
_CONNECTIONS, _STOP_SECONDS = 512, 10


def serve(application: Any, host: str, port: int, *, started: Callable[[str], object]) -> None:
    """Answer requests until SIGINT or SIGTERM; `started` is called with the address, which port 0 chooses."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        # Connections inherit it. Without it, the body of an answer waits 40 ms for the client to confirm the head.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(
            application,
            access_log=False,
            log_level="warning",
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )
        shown = f"[{host}]" if ":" in host else host
        started(f"http://{shown}:{listening.getsockname()[1]}")
        asyncio.run(_Server(config).serve([listening]))


class _Server(uvicorn.Server):
    """A server that a signal stops without ending the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

"""The HTTP application: rows in JSON are answered by the model of a file."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .answers import answer, read_question
from .limits import LOOPBACK, Limits, Rate
from .metrics import Metrics
from .model_file import Loaded, ModelFile

__all__ = ["application"]

_log = logging.getLogger("oneclass")
#: What the library raises for rows or options that it cannot use.
_REFUSALS = (AttributeError, ImportError, MemoryError, NotImplementedError, TypeError, ValueError)


def application(file: ModelFile, limits: Limits, *, threads: int = 1, reload_seconds: float = 1.0) -> Starlette:
    """The application for the model in a file.

    Parameters
    ----------
    file : ModelFile
        The model.
    limits : Limits
        What requests may ask for.
    threads : int
        Requests that are computed at the same time.
    reload_seconds : float
        Seconds between two checks whether the file has changed; 0 for none.
    """
    service = _Service(file, limits, threads)

    @asynccontextmanager
    async def reloading(_: Starlette) -> AsyncIterator[None]:
        checks = asyncio.create_task(service.reload_each(reload_seconds)) if reload_seconds else None
        yield
        if checks is not None:
            checks.cancel()
            with suppress(asyncio.CancelledError):
                await checks

    routes = [
        Route("/score", partial(service.judge, every=False), methods=["POST"]),
        Route("/explain", partial(service.judge, every=True), methods=["POST"]),
        Route("/health", service.health),
        Route("/metrics", service.metrics),
    ]
    handlers: dict[Any, Callable[[Request, Any], Response]] = {HTTPException: _refused, Exception: _failed}
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=reloading)


class _Service:
    """The routes, and what they share."""

    def __init__(self, file: ModelFile, limits: Limits, threads: int) -> None:
        self._file, self._limits = file, limits
        self._rate, self._metrics = Rate(limits.rate), Metrics()
        self._threads = CapacityLimiter(threads)

    async def judge(self, request: Request, *, every: bool) -> Response:
        """The label, p-value and score of each row, with reasons if they are asked for."""
        begun, status = time.perf_counter(), 500
        try:
            self._check_host(request)
            if not self._rate.admits():
                raise HTTPException(429, "too many requests a second", {"Retry-After": "1"})
            body = await self._body(request)
            known = self._file.current
            found, text = await run_sync(_judged, known, body, every, limiter=self._threads)
            self._metrics.judged(
                (row["label"] for row in found["rows"]),
                (row["p_value"] for row in found["rows"] if "p_value" in row),
            )
            status = 200
        except HTTPException as error:
            status = error.status_code
            raise
        finally:
            self._metrics.count(status, time.perf_counter() - begun)
        return Response(text, media_type="application/json")

    async def health(self, request: Request) -> Response:
        """Whether the service answers, and which model it has."""
        self._check_host(request)
        known = self._file.current
        return JSONResponse(
            {"status": "ok", "loaded_at": known.at, "reload_error": self._file.error} | known.description
        )

    async def metrics(self, request: Request) -> Response:
        """The counts, for Prometheus."""
        self._check_host(request)
        return PlainTextResponse(self._metrics.text(self._file.current.at))

    async def reload_each(self, seconds: float) -> None:
        """Load the file again whenever it has changed. Requests are answered by the earlier model meanwhile."""
        while True:
            await asyncio.sleep(seconds)
            before = self._file.error
            if await run_sync(self._file.refresh):
                self._metrics.reloaded("loaded")
                _log.info("the model was loaded again")
            elif self._file.error and self._file.error != before:
                self._metrics.reloaded("failed")
                _log.warning("%s", self._file.error)

    def _check_host(self, request: Request) -> None:
        if self._limits.local and request.url.hostname not in LOOPBACK:
            raise HTTPException(421, f"this service answers under {', '.join(sorted(LOOPBACK))} only")

    async def _body(self, request: Request) -> bytes:
        """The body of a request; an error as soon as it is known to be too long."""
        most = self._limits.body
        told, body = request.headers.get("content-length", "0"), bytearray()
        if int(told) <= most:  # the server refuses what is not a number
            with suppress(ClientDisconnect):
                async for part in request.stream():
                    body += part
                    if len(body) > most:
                        break
                else:
                    return bytes(body)
        raise HTTPException(413, f"the request must have at most {most} bytes", {"Connection": "close"})


def _judged(known: Loaded, body: bytes, every: bool) -> tuple[dict[str, Any], str]:
    """The answer to a request, and its text; all work that takes time."""
    try:
        found = answer(known.model, read_question(body), every=every)
    except _REFUSALS as error:
        raise HTTPException(422, str(error)) from error
    found["model"] = {"loaded_at": known.at} | {
        name: known.description[name] for name in ("delta", "held_out", "smallest_p_value") if name in known.description
    }
    return found, json.dumps(found, allow_nan=False)


def _refused(_: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def _failed(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": "the service failed; its log says why"}, 500)

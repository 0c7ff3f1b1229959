"""Services: ``oneclass serve`` and ``oneclass mcp``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ..base.warnings import OneClassWarning, warn

__all__ = ["mcp", "serve"]


@click.command()
@click.argument("model")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 chooses one.")
@click.option(
    "--max-bytes", type=click.IntRange(1), default=8 << 20, show_default=True, help="Most bytes of a request."
)
@click.option(
    "--rate", type=click.FloatRange(0), default=1000.0, show_default=True, help="Most requests a second; 0: no limit."
)
@click.option(
    "--threads", type=click.IntRange(1), default=1, show_default=True, help="Most requests computed at a time."
)
@click.option("--reload", type=click.FloatRange(0), default=1.0, show_default=True, metavar="SECONDS",
              help="Time between checks whether MODEL has changed; 0: no checks.")  # fmt: skip
def serve(model: str, host: str, port: int, max_bytes: int, rate: float, threads: int, reload: float) -> None:
    """Answer HTTP requests with MODEL: labels, p-values, reasons.

    POST /score and /explain take rows in JSON; GET /health describes the model, /metrics is for Prometheus. A new MODEL
    file is loaded as soon as it is complete. Ctrl-C or SIGTERM stops the service after the requests in progress.

    \b
    Examples:
      oneclass serve model.oneclass
      curl -d '[{"grams": 1500, "price": 7.5}]' localhost:8000/score
    """
    with _needing("serve"):
        from ..serve.app import application
        from ..serve.http import serve as answer
    from ..serve.limits import LOOPBACK, Limits
    from ..serve.model_file import ModelFile

    logging.basicConfig(format="oneclass: %(message)s", level=logging.INFO)
    local = host in LOOPBACK
    if not local:
        warn(f"anyone who can reach {host} can use the service, which asks for no password", OneClassWarning)
    limits = Limits(max_bytes, rate, local)
    app = application(ModelFile(model), limits, threads=threads, reload_seconds=reload)
    answer(app, host, port, started=lambda address: click.echo(f"{model}: serving at {address}"))


@click.command()
@click.option("--root", required=True, metavar="FOLDER", help="Folder of the tables and models; nothing else is read.")
def mcp(root: str) -> None:
    """Let an agent use these commands over MCP.

    The agent starts this command and talks to it by standard input and output. It can list, screen, fit, score, explain
    and report on files below FOLDER, and write new ones there. It cannot overwrite a file.

    \b
    Examples:
      oneclass mcp --root tables
    """
    with _needing("mcp"):
        from ..serve.mcp import server_of
    server_of(root).run("stdio")


@contextmanager
def _needing(extra: str) -> Iterator[None]:
    """Name the extra in the error for a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"oneclass {extra} needs {error.name}: pip install 'oneclass[{extra}]'") from error

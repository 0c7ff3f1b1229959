"""Cases that run in a process of their own, which may crash, hang, take memory, or do what reading must not do."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from multiprocessing.connection import Connection
from typing import TypeVar

from .tally import Refused, Result, counted

__all__ = ["in_child", "unwatched"]

Case = TypeVar("Case")

#: Actions that nobody may make the reading of a file do: Python calls them by these names.
_FORBIDDEN: tuple[str, ...] = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "socket.connect",
)
_FORBIDDEN += ("pickle.find_class", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_watching = ContextVar("watching", default=False)


@contextmanager
def unwatched() -> Iterator[None]:
    """A block that may do what reading a file must not do."""
    token = _watching.set(False)
    try:
        yield
    finally:
        _watching.reset(token)


def in_child(
    what: str, cases: Sequence[Case], check: Callable[[Case], str | None], *, seconds: float = 30, megabytes: int = 1024
) -> Result:
    """Check each case in a child process. A case that ends the process, or takes longer, is a failure.

    The function `prepare` of the module of `check`, if there is one, is called before anything is forbidden.
    """
    outcomes: dict[int, str | None] = {}
    while len(outcomes) < len(cases):
        begun = len(outcomes)
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(theirs, cases[begun:], check, megabytes), daemon=True)
        child.start()
        theirs.close()
        try:
            ours.recv()  # everything is imported and prepared
            while len(outcomes) < len(cases):
                if not ours.poll(seconds):
                    outcomes[len(outcomes)] = f"no answer in {seconds:g} seconds"
                    break
                outcomes[len(outcomes)] = ours.recv()
        except EOFError:
            child.join()
            outcomes[len(outcomes)] = f"the process ended with {child.exitcode}"
        finally:
            if child.is_alive():
                child.kill()
            child.join()
            ours.close()
    return counted(what, range(len(cases)), lambda i: f"{cases[i]}: {outcomes[i]}" if outcomes[i] else None)


def _work(connection: Connection, cases: Sequence[Case], check: Callable[[Case], str | None], megabytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    done: list[str] = []
    prepare = getattr(sys.modules[check.__module__], "prepare", None)
    if prepare is not None:
        prepare()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))

    def look(event: str, given: tuple[object, ...]) -> None:
        if _watching.get() and (event in _FORBIDDEN or (event == "open" and _writes(given))):
            done.append(f"{event} {given[:1]}")

    sys.addaudithook(look)
    connection.send("ready")
    for case in cases:
        done.clear()
        _watching.set(True)
        try:
            outcome = check(case)
        except Refused:
            outcome = None
        except BaseException as error:  # also MemoryError and what is no Exception
            outcome = f"{type(error).__name__}: {error}"[:300]
        _watching.set(False)
        connection.send(outcome or (f"did {done[0]}" if done else None))


def _writes(given: tuple[object, ...]) -> bool:
    _, mode, flags = given
    return bool(set(str(mode or "")) & set("wax+")) or (isinstance(flags, int) and bool(flags & _WRITING))

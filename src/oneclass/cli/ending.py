"""How a command ends: one sentence for what went wrong, and an exit code that says what kind it was."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import click

from ..disk.container import ModelFileError

__all__ = ["BAD_DATA", "BAD_MODEL", "BROKEN_PIPE", "INTERRUPTED", "NO_FILE", "USAGE", "leave"]

USAGE, BAD_DATA, BAD_MODEL, NO_FILE, INTERRUPTED, BROKEN_PIPE = 2, 3, 4, 5, 130, 141


def leave(command: Callable[[], Any]) -> int:
    """Run the command; its exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _Notes()
            command()
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return int(done.exit_code)
    except click.ClickException as error:
        error.show()
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted; no file was changed", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # with which click answers a closed pipe, and nothing else
        # What is left in the buffer has nowhere to go, and Python would complain on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _say("the reader of the output has gone", BROKEN_PIPE)
    except ModelFileError as error:
        return _say(str(error), BAD_MODEL)
    except OSError as error:
        named = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        return _say(named, NO_FILE)
    except MemoryError as error:
        return _say(str(error) or "there is not enough memory", BAD_DATA)
    except (AttributeError, ImportError, TypeError, UnicodeError, ValueError) as error:
        return _say(str(error), BAD_DATA)
    return 0


class _Notes:
    """Warnings in one line each, and each once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Any, *_: Any, **__: Any) -> None:
        note = " ".join(str(message).split())
        if note not in self._said:
            self._said.add(note)
            print(f"oneclass: note: {note}", file=sys.stderr)


def _say(sentence: str, code: int) -> int:
    print(f"oneclass: {' '.join(sentence.split())}", file=sys.stderr)
    return code

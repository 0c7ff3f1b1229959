"""Errors of a command: one sentence on standard error, and an exit code for the kind of error."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable

import click

from ..core.wording import parameters_as
from ..io.container import ModelFileError
from ..io.messages import one_line
from .terminal import CLEAR, prose, styled, width_of

__all__ = ["BAD_DATA", "BAD_MODEL", "BROKEN_PIPE", "INTERRUPTED", "NO_FILE", "USAGE", "leave"]

#: Exit codes (docs/command_line.md). The last two are those of shells: 128 plus the number of the signal.
USAGE, BAD_DATA, BAD_MODEL, NO_FILE, INTERRUPTED, BROKEN_PIPE = 2, 3, 4, 5, 130, 141
#: Characters of the longest message.
_LONGEST_MESSAGE = 2000


def leave(command: Callable[[], object]) -> int:
    """Run the command and return its exit code."""
    try:
        with warnings.catch_warnings(), parameters_as(_option):
            warnings.simplefilter("default")
            warnings.showwarning = _Notes()
            command()
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return int(done.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        shown = error.format_message().rstrip(".")
        return _say(shown + (f" (see {context.command_path} --help)" if context else ""), USAGE)
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted; each file is either complete or as it was before", INTERRUPTED)
    except (BrokenPipeError, SystemExit) as gone:  # click raises SystemExit for a closed pipe and for completion
        if isinstance(gone, SystemExit) and not gone.code:
            return 0
        # Python would fail to flush its buffer at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _say("the reader of the output has gone", BROKEN_PIPE)
    except ModelFileError as error:
        return _say(str(error), BAD_MODEL)
    except OSError as error:
        named = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        return _say(named, NO_FILE)
    except MemoryError as error:
        return _say(str(error) or "there is not enough memory", BAD_DATA)
    except (AttributeError, ImportError, NotImplementedError, TypeError, UnicodeError, ValueError) as error:
        return _say(str(error), BAD_DATA)
    return 0


def _option(name: str, value: object) -> str:
    """The option of the command line for a parameter of the library."""
    name = name.replace("_", "-")
    match name, value:
        case "groups", None:
            return "--groups COLUMN"
        case "columns", None:
            return "--column NAME=KIND"
        case "columns", dict():
            ((column, kind),) = value.items()
            kind = kind if isinstance(kind, str) else "<".join(map(str, kind))
            return f"--drop {column!r}" if kind == "drop" else f"--column '{column}={kind}'"
        case _, True:
            return f"--{name}"
        case _, False:
            return f"--no-{name}"
        case _, None:
            return f"--{name}"
        case _:
            return f"--{name} {value}"


class _Notes:
    """Prints each warning once, in one line."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        note = one_line(message, _LONGEST_MESSAGE)
        if note not in self._said:
            self._said.add(note)
            _print(styled("oneclass: note:", sys.stderr, fg="yellow"), note)


def _say(sentence: str, code: int) -> int:
    _print(styled("oneclass:", sys.stderr, fg="red"), one_line(sentence, _LONGEST_MESSAGE))
    return code


def _print(start: str, sentence: str) -> None:
    """Print a note or an error; on a terminal, in the place of a progress line."""
    clear = CLEAR if width_of(sys.stderr) else ""
    print(f"{clear}{prose(f'{start} {sentence}', sys.stderr)}", file=sys.stderr)

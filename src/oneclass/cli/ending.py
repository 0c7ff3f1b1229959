"""How a command ends: one sentence for what went wrong, and an exit code that says what kind it was."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable

import click

from ..disk.container import ModelFileError

__all__ = ["BAD_DATA", "BAD_MODEL", "BROKEN_PIPE", "INTERRUPTED", "NO_FILE", "USAGE", "leave"]

USAGE, BAD_DATA, BAD_MODEL, NO_FILE, INTERRUPTED, BROKEN_PIPE = 2, 3, 4, 5, 130, 141


def leave(command: Callable[[], object]) -> int:
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
    except (BrokenPipeError, SystemExit) as gone:  # with which click answers a closed pipe, and a shell that completes
        if isinstance(gone, SystemExit) and not gone.code:
            return 0
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


#: What the library asks for by the names of parameters, by those of options.
_OPTIONS = (
    (r"header=True", "--header"),
    (r"header=False", "--no-header"),
    (r"with delimiter=", "with --delimiter"),
    (r"encoding=, for example '(.*?)'", r"--encoding, for example \1"),
    (r"newlines=True", "--newlines"),
    (r"target= names", "--target names"),
    (r"decimal=','", "--decimal ,"),
    (r"by fit\(X, groups=\.\.\.\)(, which time_blocks\(X\) makes of a series)?", "by a column, with --groups COLUMN"),
    (r"columns=\{'(.*?)': '(\w+)'\}", r"--column '\1=\2'"),
    (r"say what it is in columns=, or 'drop' it", "say what it is with --column NAME=KIND, or --drop it"),
)


def _in_options(sentence: str) -> str:
    for named, option in _OPTIONS:
        sentence = re.sub(named, option, sentence)
    return " ".join(sentence.split())


class _Notes:
    """Warnings in one line each, and each once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        note = _in_options(str(message))
        if note not in self._said:
            self._said.add(note)
            print(f"oneclass: note: {note}", file=sys.stderr)


def _say(sentence: str, code: int) -> int:
    print(f"oneclass: {_in_options(sentence)}", file=sys.stderr)
    return code

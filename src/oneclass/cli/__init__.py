"""The command ``oneclass``. The library does not import this package."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command in the arguments, and exit with its code."""
    try:
        from .commands import oneclass
        from .errors import leave

        code = leave(lambda: oneclass.main(prog_name="oneclass", standalone_mode=False))
    except KeyboardInterrupt:  # before the command has begun, as long as modules are imported
        print("oneclass: interrupted", file=sys.stderr)
        code = 130
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("oneclass: the command line needs click: pip install 'oneclass[cli]'")
    sys.exit(code)

"""The command ``oneclass``. The library does not import this package."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]

#: Packages of the extra `cli`.
_NEEDED = ("click", "pandas", "pyarrow", "jinja2")


def main() -> None:
    """Run the command in the arguments, and exit with its code."""
    try:
        if any(find_spec(name) is None for name in _NEEDED):
            command = f"{sys.executable} -m pip install {' '.join(_NEEDED)}"
            sys.exit(f"oneclass: the command line needs {', '.join(_NEEDED)}; to install them, run: {command}")
        from .commands import oneclass
        from .errors import leave

        code = leave(lambda: oneclass.main(prog_name="oneclass", standalone_mode=False))
    except KeyboardInterrupt:  # before the command has begun, as long as modules are imported
        print("oneclass: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)

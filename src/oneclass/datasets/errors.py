"""The one error of this room, and optional packages asked for by name."""

from importlib import import_module
from types import ModuleType

__all__ = ["DatasetError", "need"]


class DatasetError(OSError):
    """A dataset that cannot be had: not found, not reachable, or not the registered rows.

    Examples
    --------
    >>> from oneclass.datasets import DatasetError, load
    >>> try:
    ...     load("concordia_0", data_home="/nowhere", download=False)
    ... except DatasetError as error:
    ...     print(str(error).split(";")[0])
    concordia_0: Concordia_0.mat was not found in /nowhere
    """


def need(module: str, task: str) -> ModuleType:
    """Import ``module``, or say in one sentence which extra brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        message = f"oneclass.datasets needs {package} to {task}; install it with: pip install 'oneclass[data]'"
        raise ImportError(message, name=package) from error

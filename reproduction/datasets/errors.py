"""The error of this package, and the import of optional packages."""

from importlib import import_module
from types import ModuleType

__all__ = ["DatasetError", "need"]


class DatasetError(OSError):
    """A dataset cannot be loaded: its file is missing or out of reach, or its rows are not the registered ones.

    Examples
    --------
    >>> from reproduction.datasets import DatasetError, load
    >>> try:
    ...     load("concordia_0", data_home="/nowhere", download=False)
    ... except DatasetError as error:
    ...     print(str(error).split(";")[0])
    concordia_0: Concordia_0.mat was not found in /nowhere
    """


def need(module: str, task: str) -> ModuleType:
    """Import ``module``; if it is missing, raise an ImportError that names the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        message = f"reproduction.datasets needs {package} to {task}; install it with: pip install '.[reproduction]'"
        raise ImportError(message, name=package) from error

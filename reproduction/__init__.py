"""The paper's experiments, run again: datasets, recipes, a runner that can be interrupted, tables and figures.

It is not part of the installed library: run it from the root of the repository.
"""

from .methods import METHODS, Method
from .protocol import RECIPES, Task, evaluate
from .results import Results
from .runner import run

__all__ = ["METHODS", "RECIPES", "Method", "Results", "Task", "evaluate", "run"]

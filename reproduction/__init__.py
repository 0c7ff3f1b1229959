"""The paper's experiments, rerun: recipes, a resumable runner, tables, figures and statistics.

It stands beside the library and is not installed with it: run it from the root of the repository.
"""

from .methods import METHODS, Method
from .protocol import RECIPES, Task, evaluate
from .results import Results
from .runner import run

__all__ = ["METHODS", "RECIPES", "Method", "Results", "Task", "evaluate", "run"]

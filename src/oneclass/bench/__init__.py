"""The paper's experiments, rerun: recipes, a resumable runner, tables, figures and statistics."""

from .methods import METHODS, Method
from .protocol import RECIPES, Task, evaluate
from .results import Results
from .runner import run

__all__ = ["METHODS", "RECIPES", "Method", "Results", "Task", "evaluate", "run"]

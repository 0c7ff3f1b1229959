"""Long tests with hostile input, faults and load: `python -m torture`. Seeds are fixed, so that a failure repeats."""

import sys
from pathlib import Path

# Kinds of rows, damaged files and forged files that the tests use, and the tables of the benchmarks.
sys.path += [str(Path(__file__).parents[1] / name) for name in ("tests", "benchmarks")]

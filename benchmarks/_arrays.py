"""Types of the arrays in benchmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
#: Rows of numbers, or one number for each row.
Rows = NDArray[np.float64]
#: One boolean for each row.
Marks = NDArray[np.bool_]

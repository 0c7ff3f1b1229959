"""What benchmarks call their arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
#: Rows of numbers, or one number a row.
Rows = NDArray[np.float64]
#: One yes or no a row.
Marks = NDArray[np.bool_]

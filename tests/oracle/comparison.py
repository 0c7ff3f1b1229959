"""Agreement of two arrays of any library, relative to the largest entry."""

from __future__ import annotations

import numpy as np

from oneclass.core.arrays import is_foreign, to_numpy

__all__ = ["assert_agree"]


def assert_agree(actual, expected, tolerance=1e-10):
    actual, expected = (to_numpy(x) if is_foreign(x) else np.asarray(x) for x in (actual, expected))
    assert actual.shape == expected.shape
    scale = max(1e-300, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)

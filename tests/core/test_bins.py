import numpy as np
import pytest

from oneclass.core.bins import bin_edges, drawable

LARGEST = float(np.finfo(float).max)
VALUES = {
    "usual": np.random.default_rng(0).normal(size=50),
    "equal": np.full(3, 0.1),
    "one": np.array([7.0]),
    "equal and large": np.full(3, 1e16),
    "neighbors among numbers": 1e16 + np.arange(3) * 2.0,
    "largest and smallest": np.array([-LARGEST, LARGEST, 0.0]),
    "all the largest": np.full(4, LARGEST),
    "subnormal": 1e-310 * np.arange(5),
    "zeros": np.zeros(3),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("bins", [1, 20, 40])
def test_every_value_of_any_size_is_in_a_bin_of_its_own_width(values, bins):
    seen = drawable(values)
    edges = bin_edges(seen, bins)
    assert len(edges) == bins + 1
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert np.histogram(seen, bins=edges)[0].sum() == len(values)


def test_usual_values_have_the_bins_of_numpy():
    values = VALUES["usual"]
    np.testing.assert_array_equal(bin_edges(values, 40), np.histogram_bin_edges(values, bins=40))
    np.testing.assert_array_equal(bin_edges(VALUES["equal"], 40), np.histogram_bin_edges(VALUES["equal"], bins=40))

"""A screen of a well-known table with known mistakes: the diamonds of ggplot2, as plotnine has them."""

import numpy as np
import pytest

from oneclass import screen

pytestmark = pytest.mark.slow


def test_the_impossible_diamonds_are_among_the_first_rows():
    table = pytest.importorskip("plotnine.data").diamonds
    sizes = table[["x", "y", "z"]].to_numpy()
    impossible = ((sizes == 0) | (sizes > 30)).any(axis=1)
    assert impossible.sum() == 23
    found = screen(table, top=40)
    assert impossible[found.order[:40]].sum() == 23
    assert found.odd[impossible].all()
    # A size of 0 or of more than 30 mm is listed with a range of a few mm around the true size.
    x, y, depth = (table[name].to_numpy() for name in ("x", "y", "depth"))
    for cell in found.cells:
        i = cell.row
        if cell.column == "z" and impossible[i] and x[i] > 0 and 0 < y[i] < 30:
            true = depth[i] * (x[i] + y[i]) / 200
            assert abs(cell.expected - true) < 0.1 * true
    assert np.isin(np.flatnonzero(impossible), [cell.row for cell in found.cells]).all()

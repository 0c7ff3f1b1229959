"""Which columns of a batch differ from those of the training table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..core.batch_verdict import ColumnChange
from ..core.column_tests import category_difference, homogeneity, number_difference
from ..core.typing import Name
from .cells import Cells
from .codes import CategoryCode, DateCode, OrdinalCode
from .plan import ColumnPlan

__all__ = ["changes_of"]


def changes_of(plan: ColumnPlan, read: Mapping[Name, Cells]) -> Iterator[ColumnChange]:
    """The difference of each used column, but for dates, which are later in later rows."""
    for j, column in enumerate(plan.columns):
        code = column.code
        if code is None or isinstance(code, DateCode) or plan.seen is None:
            continue
        cells = read[column.name]
        if isinstance(code, CategoryCode | OrdinalCode):
            old = {str(word): n for word, n in zip(code.levels, code.counts, strict=True) if word is not None and n}
            rows, known = code.total, sum(old.values())
            words = cells.as_words()
            spelled = code.spelled(cells) if isinstance(code, CategoryCode) else words.levels[words.codes]
            here, times = np.unique([str(word) for word in spelled if word is not None], return_counts=True)
            distance, p, _ = category_difference(old, dict(zip(here.tolist(), times.tolist(), strict=True)))
            m = int(times.sum())
        else:
            rows, known = plan.seen.rows, plan.seen.rows - int(plan.seen.gaps[j])
            values = cells.measured(flags=column.kind == "flag")
            values = values[~np.isnan(values)]
            distance, p = number_difference(plan.seen.quantiles[:, j], known, values)
            m = len(values)
        n = len(cells.gaps)
        lost = homogeneity([[rows - known, known], [n - m, m]])
        distance = max(distance, abs((rows - known) / rows - (n - m) / n))
        yield ColumnChange(column.name, distance, min(1.0, 2 * min(p, lost)))

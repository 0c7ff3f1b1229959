"""Tables of scores, p-values and labels: of rows in memory, and of rows that are read in chunks."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..core.arrays import Array, namespace, to_numpy
from ..core.pareto_tail import TAILS
from ..core.typing import Labels, Name, Rows
from ..engines.chunks import Source
from ..engines.dask import refuse_dask
from ..engines.scoring import Columns, Scored, score_through
from ..io.sinks import Sink
from .alarms import warned_once
from .checks import check_choice, check_number
from .groups import column_of
from .judging import Judges, beside, labels_of
from .threads import by_one_fit

__all__ = ["ScoresTables"]


class ScoresTables(Judges):
    """Mixin with the verbs that return or write scores, p-values and labels together."""

    @by_one_fit
    def score_chunks(
        self,
        source: Source,
        sink: Sink,
        *,
        delta: float | None = None,
        tail: str | None = None,
        segments: Name | None = None,
        verbose: bool = False,
    ) -> Scored:
        """Score rows that arrive in chunks and write a table of results, in memory that does not grow with the rows.

        One line is written for each row, in order: the columns that the source is to keep, then those of
        `score_table`. A file appears when it is complete; if scoring fails, an existing file stays as it was. If most
        rows of a chunk are training rows or outliers, the same warnings are raised as by `predict`.

        Parameters
        ----------
        source : array, path, TableFile, callable or iterable
            Rows, as in `fit_chunks`, or an iterator: rows are read once.
        sink : path, binary file or EscapedCSV
            File to write, in the format of its suffix: ``.csv`` or ``.tsv`` (compressed if ``.gz`` or ``.zst``
            follows), ``.parquet``, ``.feather`` or ``.arrow``; or a file open for writing, such as
            ``sys.stdout.buffer``, for CSV. `EscapedCSV` is for CSV that is opened in a spreadsheet.
        delta : float in [0, 1), optional
            False-alarm rate to use instead of that of the fit, as in `predict`.
        tail : {None, "pareto"}, default=None
            P-values of rows beyond every held-out loss, as in `p_value`.
        segments : name or number of a column, optional
            Column with the segment of each row, as in `predict`.
        verbose : bool, default=False
            Whether to show progress on standard error.

        Returns
        -------
        Scored
            Number of rows, and of outliers among them.

        Examples
        --------
        >>> import io
        >>> import numpy as np
        >>> from oneclass import KNNDetector
        >>> model = KNNDetector().fit(np.random.default_rng(0).normal(size=(99, 2)))
        >>> file = io.BytesIO()
        >>> model.score_chunks([[[0.0, 0.0]], [[6.0, 6.0]]], file)
        Scored(rows=2, outliers=1)
        >>> file.getvalue().splitlines()[0]
        b'score,p_value,label'
        """
        self._check_scoring(delta, tail)
        judged = partial(self._table, delta, tail, segments=column_of(self, segments, "segments"))
        with warned_once():
            return score_through(source, sink, judged, name=self._name, verbose=verbose)

    @by_one_fit
    def score_table(
        self,
        X: Rows,
        *,
        delta: float | None = None,
        tail: str | None = None,
        segments: Labels | Name | None = None,
    ) -> Columns:
        """Scores, p-values and labels of rows, computed in one pass.

        If most rows are training rows or outliers, the same warnings are raised as by `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        delta : float in [0, 1), optional
            False-alarm rate to use instead of that of the fit, as in `predict`.
        tail : {None, "pareto"}, default=None
            P-values of rows beyond every held-out loss, as in `p_value`.
        segments : array-like of shape (n_samples,), or the name or number of a column of `X`, optional
            The segment of each row, as in `predict`.

        Returns
        -------
        dict of arrays
            NumPy arrays by name: ``"score"``, ``"p_value"`` (if the fit has held-out losses) and ``"label"``; with
            segments also ``"segment"``, which is empty for a segment without training rows.

        Examples
        --------
        >>> import numpy as np
        >>> from oneclass import KNNDetector
        >>> model = KNNDetector().fit(np.random.default_rng(0).normal(size=(99, 2)))
        >>> table = model.score_table([[0.0, 0.0], [6.0, 6.0]], delta=0.1)
        >>> list(table), table["label"]
        (['score', 'p_value', 'label'], array([ 1, -1]))
        """
        self._check_scoring(delta, tail)
        refuse_dask(f"{self._name}: score_table", X)
        return self._table(delta, tail, X, segments=segments)

    def _check_scoring(self, delta: float | None, tail: str | None) -> None:
        """Check the options of `score_table`."""
        self._check_fitted()
        if check_choice(self, "tail", (None, *TAILS), value=tail) is not None:
            self._calibrated()
        if delta is not None:
            check_number(self, "delta", 0, 1, value=delta, closed_low=True)

    def _table(self, delta: float | None, tail: str | None, X: Rows, *, segments: Labels | Name | None) -> Columns:
        rows, known = self._segmented(X, segments)
        offset, calibration = self._offset_for(delta, known), self.calibration_
        ranks = calibration if known is None else known

        def columns(scores: Array) -> Array:
            xp = namespace(scores)
            p = [] if ranks is None else [ranks.p_value(-scores, tail)]
            label = labels_of(scores >= beside(offset, scores))
            return xp.stack([xp.astype(x, xp.float64) for x in (scores, *p, label)], axis=1)

        score, *p, label = to_numpy(self._answer(rows, columns, recognise=True)).T
        self._warn_of_alarms(rows, label, delta, known)
        found: Columns = {"score": score} | ({"p_value": p[0]} if p else {}) | {"label": label.astype(np.int64)}
        return found if known is None else {"segment": known.labels} | found

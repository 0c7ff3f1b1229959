"""Section: traps that anyone who compares with the paper should know."""

from __future__ import annotations

import numpy as np

from .. import published
from ..results import Results
from .markdown import number, table
from .naming import SMALL, title

__all__ = ["traps"]

_LEAK = ("cardiotocography", "cardiotocography_21")
_SHOWN = ("Autoencoder", "OCSVM", "OCKELM", "VOCKELM", "AAKELM", "VAAKELM")


def traps(results: Results) -> str:
    """The section.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    return f"""## Traps

**Cardiotocography gives its label away.** Its 22nd feature is CLASS, the expert's own ten-way diagnosis; 175 of the 176
targets have CLASS 8 or 9 and all other rows but one do not. F1 with and without that column, recipe `paper`:

{_leak(results)}

**Split sizes.** The text says 80/20 for all datasets. Biomed's released file is 64/63 targets, and the printed F1
values of Biomed, Colposcopy, Sonar and Waveform cannot come from test sets of 20 % but can from 50 %: with few test
rows an F1 of two decimals gives its counts away. Everything here uses 80/20 but the released splits.

**Test sets of ten targets.** The smallest test sets hold {_smallest(results)}. One more target accepted moves F1 by
several points, so that a table of one split ranks classifiers by luck. The standard deviation of VAAKELM's F1 over
splits is {_noise(results)} points (median over the small datasets); the published gap between VAAKELM and AAKELM is
{_published_gap()} points (median).

**Parameters chosen with outliers.** C, k and delta are chosen on folds that contain outliers, which a one-class problem
does not have. Recipe `honest` shows what is left without them.

**The rank-one defect.** The released VAAKELM and VOCKELM shrink the variance of one row; see "Row order".

**Rounding errors as features.** The published values of Ecoli and Concordia depend on dividing rounding errors of 1e-16
by their own deviation; see "What reproduces to the digit".

**A g-mean of another name.** The paper's g-mean is sqrt(precision · recall); the usual one is sqrt(sensitivity ·
specificity). Rows hold both, as `gmean_paper` and `gmean`.

**Rows that are not independent.** Heart Statlog's 270 rows are among Heart Cleveland's 297, with the classes swapped;
the ten Concordia tasks share 4000 rows; Biomed has several visits of the same person and Vowel six takes of every
speaker, which random splits put on both sides."""


def _leak(results: Results) -> str:
    body = []
    for method in _SHOWN:
        means = [100 * results.values("f1", "paper", d, method) for d in _LEAK]
        cells = [f"{number(v.mean())} ± {number(v.std())}" if len(v) else "–" for v in means]
        body.append([method, number(published.f1("cardiotocography", method), 2), *cells])
    return table(["method", "published", "22 features (with CLASS)", "21 features"], body)


def _smallest(results: Results) -> str:
    sizes = {d: row["n_test_target"] for d in SMALL for row in results.rows("paper", d, "VAAKELM").values()}
    few = sorted(sizes, key=lambda d: sizes[d])[:3]
    return ", ".join(f"{sizes[d]} targets ({title(d)})" for d in few)


def _noise(results: Results) -> str:
    return number(float(np.median(100 * results.spread("f1", "paper", SMALL, ["VAAKELM"]))))


def _published_gap() -> str:
    printed = np.array([[published.f1(d, m) for m in ("VAAKELM", "AAKELM")] for d in SMALL], dtype=float)
    return number(float(np.median(printed[:, 0] - printed[:, 1])))

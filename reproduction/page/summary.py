"""Sections: the page's opening and its notes on method, with numbers from the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import published
from ..methods import METHODS
from ..protocol import RECIPES, Row, Task
from ..results import Results
from ..statistics import ranks
from .claims import is_clear, runner_up
from .exact import score, software_score
from .findings import LIKE_WITH_LIKE, added
from .markdown import number, percent, signed, table
from .naming import MEDIUM, SMALL, title

__all__ = ["absent", "figures", "method_notes", "opening"]

#: Where the paper, its code and its data are.
_LINKS = (
    "Paper: [arXiv:2011.12208](https://arxiv.org/abs/2011.12208), "
    "[doi:10.48550/arXiv.2011.12208](https://doi.org/10.48550/arXiv.2011.12208). Released code and seven of its "
    "splits: [PratikMishra/VAAKELM](https://github.com/PratikMishra/VAAKELM). The software it cites: dd_tools and "
    '[LIBSVM](https://www.csie.ntu.edu.tw/~cjlin/libsvm/). Every dataset\'s source is listed under "Datasets".'
)


def opening(results: Results, rows: list[Row], missing: Sequence[Task] = ()) -> str:
    """Title, findings in short, recipes.

    Parameters
    ----------
    results : Results
        Stored rows, looked up.
    rows : list of dict
        The same rows.
    missing : sequence of Task
        Planned tasks without rows.

    Returns
    -------
    str
    """
    tasks = {(r["recipe"], r["dataset"], r["method"], r["seed"]): r["task_seconds"] for r in rows}
    minutes = sum(tasks.values()) / 60
    versions = ", ".join(f"{name} {version}" for name, version in results.versions().items())
    recipes = table(["recipe", "what it does"], [[f"`{name}`", text] for name, text in RECIPES.items()], left=2)
    parts = [
        f"""# Reproduction of the VAAKELM paper

<!-- Written by `python -m reproduction report` from stored rows. Do not edit. -->

Fourteen classifiers on {len(results.all)} datasets, from {len(rows):,} rows of results ({len(tasks):,} tasks, all of
them timed: {minutes:.0f} minutes of one core; {versions}). `make reproduce` runs whatever is missing and writes this
page.

{_LINKS}

In short:

{_findings(results)}""",
        recipes,
    ]
    if missing:
        parts.insert(1, f"{len(missing)} tasks have no rows, for want of data or time:\n\n{absent(missing)}")
    return "\n\n".join(parts)


def absent(missing: Sequence[Task]) -> str:
    """What has no rows, recipe by recipe.

    Parameters
    ----------
    missing : sequence of Task
        Planned tasks without rows.

    Returns
    -------
    str

    Examples
    --------
    >>> absent([Task("equation", "vowel", "AAKELM", 0), Task("equation", "vowel", "VAAKELM", 0)])
    '- `equation`: Vowel'
    """
    lines = []
    for recipe in dict.fromkeys(task.recipe for task in missing):
        names = dict.fromkeys(title(task.dataset) for task in missing if task.recipe == recipe)
        lines.append(f"- `{recipe}`: {', '.join(names)}")
    return "\n".join(lines)


def _findings(results: Results) -> str:
    found = [*_released(results), *_repeated(results), *_embedding(results), *_order(results), *_alarms(results)]
    if results.all:
        found.append(
            "With the library's defaults, which see no outlier, the best mean ranks are "
            f"{_leaders(results, 'auroc')} by AUROC and {_leaders(results, 'f1')} by F1."
        )
    if results.medium:
        found.append(
            "Of Concordia's 4,000 labels 904 are inferred; the tasks 0, 1 and 5 are exact, the other seven nearly so."
        )
    return "\n".join(f"- {line}" for line in found)


def _released(results: Results) -> list[str]:
    two, every, cells = score(results)
    if not cells:
        return []
    rest = f"; every digit that is printed agrees on {every}" if every > two else ""
    lines = [
        f"{two} of {cells} published F1 values of the kernel machines come out of the released recipe on the released "
        f"splits to two decimals{rest}."
    ]
    hits, of = software_score(results, ["OCSVM", "SVDD"])
    if of:
        lines.append(
            f"So do {hits} of {of} of OCSVM and SVDD once rows are left unscaled, against "
            f"{software_score(results, ['OCSVM', 'SVDD'], 'equation')[0]} with z-scores as printed: these two, at "
            "least, were not run on z-scores."
        )
    return lines


def _repeated(results: Results) -> list[str]:
    """Mean F1 as printed, with what a lead is worth."""
    lines = []
    rivals = list(METHODS)[:-1]
    for names, complete, what in ((results.small, SMALL, "small"), (results.medium, MEDIUM, "Concordia")):
        if list(names) != list(complete):
            continue
        mean = 100 * results.compared("f1", "paper", names, list(METHODS)).mean(axis=0)
        place = 1 + int((mean > mean[-1]).sum())
        second = runner_up(results, names, rivals)
        lead = results.lead("f1", "paper", names, "VAAKELM", second)
        gap = f"{signed(100 * lead.difference, 2)} ± {number(100 * lead.error, 2)} points against {second}"
        sure = "" if is_clear(lead) or lead.difference < 0 else ", no more than splits make by chance"
        printed = number(float(np.mean([published.f1(name, "VAAKELM") or 0.0 for name in names])), 2)
        lines.append(
            f"Under repeated splits, with equation, threshold and protocol as printed, VAAKELM's mean F1 on the {what} "
            f"datasets is {number(mean[-1])} (published {printed}), place {place} of {len(METHODS)}: {gap}{sure}."
        )
    return lines


def _embedding(results: Results) -> list[str]:
    printed, default = ("paper", "global"), ("honest", "own")
    if not results.all or not all(results.count(r, d, "AAKELM") for r in ("paper", "honest") for d in results.all):
        return []
    pairs = [added(results, "f1", recipe, "VAAKELM", embedding) for recipe, embedding in (printed, default)]
    said = [f"{signed(100 * pair.difference, 2)} points (p = {pair.p:.2g})" for pair in pairs]
    return [
        f"The variance embedding changes AAKELM's F1 by {said[0]} as printed, and by {said[1]} with the library's "
        "defaults."
    ]


def _order(results: Results) -> list[str]:
    release = 100 * results.values("f1", "authors_code", "vowel", "VAAKELM")[1:]
    if not len(release):
        return []
    return [
        "The released VAAKELM depends on the order of its training rows: F1 on Vowel runs from "
        f"{number(release.min())} to {number(release.max())} over {len(release)} orders; the library's stays put."
    ]


def _alarms(results: Results) -> list[str]:
    if not results.all:
        return []
    train, held = (results.mean(metric, "paper", results.all, ["VAAKELM"]).mean() for metric in LIKE_WITH_LIKE)
    if np.isnan(held):
        return []
    deltas = [row["params"]["delta"] for d in results.all for row in results.rows("paper", d, "VAAKELM").values()]
    return [
        f"One and the same VAAKELM, asked for {percent(float(np.mean(deltas)))} % false alarms, rejects "
        f"{percent(train)} % of fresh targets with its threshold on training scores, as printed, and {percent(held)} % "
        "with it on held-out scores."
    ]


def _leaders(results: Results, metric: str) -> str:
    """The three best mean ranks."""
    mean = ranks(results.compared(metric, "honest", results.all, list(METHODS))).mean(axis=0)
    return ", ".join(f"{list(METHODS)[i]} {mean[i]:.1f}" for i in np.argsort(mean)[:3])


def figures(results: Results) -> str:
    """The paper's figures.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    there = [(name, what) for name, what, names in _PANELS if getattr(results, names)]
    if not there:
        return ""
    bars, deltas = (
        "\n\n".join(f"![{text} on the {what}](reproduction/{kind}_{name}.png)" for name, what in there)
        for kind, text in (("metrics", "Accuracy, g-mean, precision and recall"), ("delta", "F1 against delta"))
    )
    return f"""## Accuracy, g-mean, precision, recall

Means over the splits, recipe `paper`; lines are standard deviations. The paper shows bars without values; its counts of
"highest" are under "The paper's claims". The values behind the bars, both g-means among them, are in
[metrics.md](reproduction/metrics.md) and, for both recipes, in [metrics.csv](reproduction/metrics.csv).

{bars}

## F1 against the fraction of dismissal

The kernel machines at delta = 1, 5 and 10 %, C and k chosen for that delta; mean and standard deviation over
the splits.

{deltas}"""


_PANELS = (("small", "small datasets", "small"), ("medium", "Concordia digits", "medium"))


def method_notes(results: Results) -> str:
    """How the recipes read the paper where it leaves a choice.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    return """## How it was run

- Splits: `round(0.8 n)` rows of either class for training and validation, drawn anew for every split; five folds of
  that part; the same splits for all methods and for both recipes.
- Recipe `paper`, kernel machines: z-scores by training targets, sigma the mean distance, lambda = 1; C in 2^-5..2^5, k
  in 1..10, delta in 1, 5, 10 % by the mean over folds of sqrt(P R), first maximum. VAAKELM and VOCKELM embed the
  variance inside clusters about the mean of all rows, as printed. Threshold: s_dec(floor(delta n)) of the training
  scores; VOCKELM's is delta times the mean output.
- Recipe `paper`, the others: z-scores too, as the text says. It names no further parameter, so they search delta, and
  k-means its number of clusters (1..10). OCSVM has LIBSVM's rho for its threshold and SVDD its ball's radius, and
  SVDD's kernel is dd_tools', exp(-d²/sigma²). All others put dd_tools' threshold on training scores, but OCRF, which
  takes the majority of its trees, so that delta has no part in it.
- What is dd_tools' default: the autoencoder's five tanh units, 90 % of the variance for PCA, five k-centres with 25
  starts, the whole tree of MST, and the Parzen widths by leave-one-out likelihood. What is not: the autoencoder is
  trained by scikit-learn's L-BFGS (dd_tools: MATLAB's `trainbfg`); k-NN chooses k of 2 or more; PCA leaves out at least
  one direction; k-means starts by k-means++, three times; OCRF grows scikit-learn's trees; and where dd_tools rejects 5
  or 10 % by default, delta is searched.
- Recipe `honest`: constructor defaults, delta = 5 %.
- The kernel machines are searched by the library's `OneClassSearchCV`, which decomposes one matrix for each fold and
  number of clusters; every C and every delta follow from it. The chosen parameters are then fitted by the estimator
  itself, which is what is timed and tested."""

"""The front page: what was run, the findings, one table and one picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import published
from ..methods import METHODS
from ..protocol import Row, Task
from ..results import Results
from ..statistics import ranks
from .claims import is_clear, runner_up
from .contents import PAGES
from .false_alarms import SAME_MACHINE, asked
from .markdown import number, percent, signed, table
from .method import recipes
from .naming import MEDIUM, SMALL, title
from .released import score, software_score
from .variance import embedding_effect

__all__ = ["absent", "front"]

_METHODS = list(METHODS)

#: The test of the variance embedding finds an effect below this p-value.
LEVEL = 0.05


def front(results: Results, rows: list[Row], missing: Sequence[Task], others: Sequence[str]) -> str:
    """The page.

    Parameters
    ----------
    results : Results
        Stored rows, looked up.
    rows : list of dict
        The same rows.
    missing : sequence of Task
        Planned tasks without rows.
    others : sequence of str
        File names of the other pages that are there.

    Returns
    -------
    str
    """
    parts = [_opening(results, rows), _absent(missing), _findings(results), _main_table(results), _picture(results)]
    return "\n\n".join(filter(None, [*parts, _how(), _list(others)])) + "\n"


def _opening(results: Results, rows: list[Row]) -> str:
    tasks = {(r["recipe"], r["dataset"], r["method"], r["seed"]): r["task_seconds"] for r in rows}
    minutes = sum(tasks.values()) / 60
    versions = ", ".join(f"{name} {version}" for name, version in results.versions().items())
    return f"""\
# Reproduction of the VAAKELM paper

<!-- Written by `python -m reproduction report` from stored rows. Do not edit. -->

The paper ([arXiv:2011.12208](https://arxiv.org/abs/2011.12208),
[doi:10.48550/arXiv.2011.12208](https://doi.org/10.48550/arXiv.2011.12208)) proposes VAAKELM, a one-class kernel
machine, and compares it with thirteen classifiers. This page says which of its numbers and claims can be reproduced.
Three things were run: the authors' [released code](https://github.com/PratikMishra/VAAKELM) on the seven splits that
they released; the methods as printed, on repeated random splits; and this library's defaults on the same random
splits.

Fourteen classifiers on {len(results.all)} datasets gave {len(rows):,} rows of results: {len(tasks):,} tasks,
{minutes:.0f} minutes on one core ({versions}). `make reproduce` runs the tasks that are missing and writes these
pages."""


def _absent(missing: Sequence[Task]) -> str:
    return f"{len(missing)} tasks have no rows yet:\n\n{absent(missing)}" if missing else ""


def absent(missing: Sequence[Task]) -> str:
    """The datasets that have no rows, by recipe.

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
    found = [
        *_released(results),
        *_repeated(results),
        *_embedding(results),
        *_order(results),
        *_alarms(results),
        *_defaults(results),
    ]
    head = "## Findings\n\n± is the standard error over the splits.\n"
    return "\n".join([head, *(f"- {line}" for line in found)]) if found else ""


def _released(results: Results) -> list[str]:
    two, every, cells = score(results)
    if not cells:
        return []
    rest = f", and {every} to every printed digit" if every > two else ""
    lines = [
        f"**Released code, released splits.** {two} of {cells} published F1 values of the kernel machines come out to "
        f"two decimals{rest}. The release holds VAAKELM only; the other machines use its code by analogy."
    ]
    hits, of = software_score(results, ["OCSVM", "SVDD"])
    if of:
        scaled = software_score(results, ["OCSVM", "SVDD"], "equation")[0]
        lines.append(
            f"**OCSVM and SVDD, released splits.** On unscaled rows, with the root mean squared distance as kernel "
            f"width, {hits} of {of} published values come out to two decimals. With z-scores and the mean distance, as "
            f"the paper says, {scaled} come out."
        )
    return lines


def _repeated(results: Results) -> list[str]:
    """Mean F1 as printed, and the lead over the next best."""
    lines = []
    for names, complete, what in ((results.small, SMALL, "small"), (results.medium, MEDIUM, "Concordia")):
        if list(names) != list(complete):
            continue
        mean = 100 * results.mean("f1", "paper", names, _METHODS).mean(axis=0)
        place = 1 + int((mean > mean[-1]).sum())
        second = runner_up(results, names, _METHODS[:-1])
        lead = results.lead("f1", "paper", names, "VAAKELM", second)
        gap = f"{signed(100 * lead.difference, 2)} ± {number(100 * lead.error, 2)} points against {second}"
        clear = "" if is_clear(lead) or lead.difference < 0 else ", which chance can explain"
        printed = number(float(np.mean([published.f1(name, "VAAKELM") or 0.0 for name in names])), 2)
        lines.append(
            f"**As printed, repeated splits, {what} datasets.** VAAKELM's mean F1 is {number(mean[-1])} (published "
            f"{printed}), rank {place} of {len(METHODS)}: {gap}{clear}."
        )
    return lines


def _embedding(results: Results) -> list[str]:
    printed, default = ("paper", "global"), ("honest", "own")
    if not results.all or not all(results.count(r, d, "AAKELM") for r in ("paper", "honest") for d in results.all):
        return []
    pairs = [embedding_effect(results, "f1", recipe, "VAAKELM", embedding) for recipe, embedding in (printed, default)]
    changes = [f"{signed(100 * pair.difference, 2)} points (p = {pair.p:.2g})" for pair in pairs]
    effect = "a" if min(pair.p for pair in pairs) < LEVEL else "no significant"
    return [
        f"**Variance embedding.** It has {effect} effect. VAAKELM is AAKELM with this embedding, which changes F1 by "
        f"{changes[0]} as printed, and by {changes[1]} with the library's defaults. It does reduce the "
        "[variance of the outputs](output_variance.md), as the paper says."
    ]


def _order(results: Results) -> list[str]:
    release = 100 * results.values("f1", "authors_code", "vowel", "VAAKELM")[1:]
    if not len(release):
        return []
    return [
        "**Order of the training rows.** The F1 of the released VAAKELM on Vowel is between "
        f"{number(release.min())} and {number(release.max())} over {len(release)} orders. The library's result does "
        "not depend on the order."
    ]


def _alarms(results: Results) -> list[str]:
    if not results.all:
        return []
    train, held = (results.mean(metric, "paper", results.all, ["VAAKELM"]).mean() for metric in SAME_MACHINE)
    if np.isnan(held):
        return []
    return [
        f"**False alarms.** Asked for {percent(asked(results, 'paper', 'VAAKELM'))} %, the same fitted VAAKELM rejects "
        f"{percent(train)} % of new targets by the printed threshold, which is a quantile of training scores, and "
        f"{percent(held)} % by the same quantile of held-out scores."
    ]


def _defaults(results: Results) -> list[str]:
    if not results.all:
        return []
    return [
        "**The library's defaults**, fitted without outliers. The best mean ranks are "
        f"{_leaders(results, 'auroc')} by AUROC, and {_leaders(results, 'f1')} by F1."
    ]


def _leaders(results: Results, metric: str) -> str:
    """The three best mean ranks."""
    mean = ranks(results.compared(metric, "honest", results.all, _METHODS)).mean(axis=0)
    return ", ".join(f"{_METHODS[i]} {mean[i]:.1f}" for i in np.argsort(mean)[:3])


def _main_table(results: Results) -> str:
    """Means over the small datasets and over the Concordia digits, a table each."""
    tables = [
        f"### {len(names)} {what}\n\n{_means(results, names)}"
        for names, what in ((results.small, "small datasets"), (results.medium, "Concordia digits"))
        if names
    ]
    if not tables:
        return ""
    how = """\
## Mean F1 and AUROC

Per cent, means over the datasets and over all splits of a classifier. "As printed" is recipe `paper`, which chooses
parameters and delta with the help of outliers. "Defaults" is recipe `honest`, at delta = 5 %. Its fits use no outliers,
but the defaults were chosen on tasks that include these datasets."""
    return "\n\n".join([how, *tables])


def _means(results: Results, names: Sequence[str]) -> str:
    theirs = np.array([[published.f1(d, m) for m in _METHODS] for d in names], dtype=float).mean(axis=0)
    columns = {"F1 published": [number(value) for value in theirs]}
    for head, recipe, metric in (
        ("F1 as printed", "paper", "f1"),
        ("F1 defaults", "honest", "f1"),
        ("AUROC defaults", "honest", "auroc"),
    ):
        columns[head] = [percent(value) for value in results.mean(metric, recipe, names, _METHODS).mean(axis=0)]
    return table(["classifier", *columns], [list(line) for line in zip(_METHODS, *columns.values(), strict=True)])


def _picture(results: Results) -> str:
    if len(results.all) < 3:
        return ""
    return """\
## Mean ranks by F1

![Mean ranks of the fourteen classifiers under two recipes, with critical differences](reproduction/ranks.png)

Bars join classifiers whose mean ranks do not differ significantly (Nemenyi's test, 5 %)."""


def _how() -> str:
    return f"""\
## What was run

Every row of results belongs to a recipe:

{recipes()}

## Before you compare

- The smallest test sets hold ten targets, so one split says little about the order of the classifiers.
- Of the 4,000 labels of Concordia, 904 are inferred. The tasks 0, 1 and 5 are exact, the seven others nearly so.
- Waveform's rows are not those of the paper, which are not published.
- One feature of Cardiotocography reveals the label."""


def _list(others: Sequence[str]) -> str:
    if not others:
        return ""
    lines = [f"- [{PAGES[name].title}](reproduction/{name}.md): {PAGES[name].about}." for name in others]
    return "\n".join(
        [
            "## All results\n",
            *lines,
            "\n```{toctree}\n:hidden:\n",
            *(f"reproduction/{name}" for name in others),
            "```",
        ]
    )

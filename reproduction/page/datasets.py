"""Page: the datasets, their origin, and how to load them."""

from __future__ import annotations

from collections import defaultdict

from .. import published
from ..datasets import Card, card, cards
from ..methods import METHODS
from ..results import Results
from .markdown import table
from .naming import title

__all__ = ["datasets"]

_HEAD = [
    "name",
    "rows",
    "targets",
    "outliers",
    "features",
    "target class",
    "how made",
    "groups",
    "from",
    "licence",
]


def datasets(results: Results) -> str:
    """The page; it needs no rows but for the sizes of the test sets.

    Parameters
    ----------
    results : Results
        Stored rows.

    Returns
    -------
    str
    """
    return f"""\
`reproduction.datasets` loads the 25 datasets of the paper, which are 15 small ones and ten Concordia digit tasks, and
some more: USPS, Semeion, scikit-learn's digits, and Cardiotocography without the column that reveals its label. It is
part of a clone and not of the installed library. `pip install '.[reproduction]'` installs what it needs (pandas,
pooch, tqdm, xlrd, openpyxl). Run Python in the root of the clone:

```python
from reproduction.datasets import load, names

X, y = load("wine")  # X: DataFrame; y: +1 for targets, -1 for outliers
names("small", "concordia")  # the paper's 25 datasets
```

<!-- not run: downloads the dataset -->
```python
vowel = load("vowel")
vowel.groups  # speaker of every row, for grouped cross-validation
vowel.card.notes               # known problems
```

In a shell, `python -m reproduction.datasets list` lists the datasets, and
`python -m reproduction.datasets fetch wine -o normal.csv --outliers odd.csv` writes the rows of one.

## Where rows come from

The column "from" of the table below has one of three words:

- **bundled**: the rows are part of scikit-learn.
- **download**: the file is downloaded once from UCI or StatLib into the user's cache. A failed or wrong download
  leaves no file. An archive is unpacked to at most 64 MiB.
- **local**: the file is published only in its authors' repository. Save it in a data folder.

A data folder is read before the cache and the network. It has one folder for each dataset:

```
data/
  ecoli/ecoli.data
  cardiotocography/CTG.xls
  concordia/Concordia_0.mat
  concordia/concordia_digits.csv    (or ../tidy/concordia_digits.csv)
  usps/usps_all.mat
  author_splits/biomed.npz          (or ../author_splits/biomed.npz)
```

Name the folder in the environment, `export ONECLASS_DATA=/path/to/data`, or in the call,
`load("ecoli", data_home="/path/to/data")`. `load(name, download=False)` does not use the network.

Every load compares rows, labels and groups with a registered fingerprint, a sha256 of their values. Copies with other
separators, decimals or line ends have the same fingerprint. Edited copies, of which there are many, are refused.

## The authors' splits

`reproduction.author_splits.load_author_split("vowel")` returns a split as the authors published it: targets to
`train` on, training `outliers`, test `rows` with labels `y`, and five `folds`. `author_split_names()` lists all
splits. `path=` accepts a folder of `.npz` files, one such file, or an original `.mat` file. Note:

- Biomed's split is 50/50 and not 80/20. The values of Imports are already z-scored over all rows.
- Splits whose names begin with `dkrlvoc_` are from the group's earlier paper; all are 50/50. The targets of
  `dkrlvoc_biomed` are the carriers, and those of `dkrlvoc_breast_cancer` the benign rows: the opposite of the
  datasets here.

## Known problems

{_problems()}

{_counts(results)}

## All datasets

{_table()}"""


def _problems() -> str:
    owners = defaultdict(list)
    for each in cards():
        for note in each.notes:
            owners[note].append(f"`{each.name}`")
    return "\n".join(f"- {_span(names)}: {note}" for note, names in owners.items())


def _span(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} ... {names[-1]} ({len(names)} tasks)"


def _counts(results: Results) -> str:
    """Counts of the paper's datasets beside the published ones."""
    fields = ("rows", "targets", "outliers", "features")
    body, equal = [], 0
    for name, printed in published.datasets().items():
        ours = [getattr(card(name), field) for field in fields]
        theirs = [int(printed[field]) for field in fields]
        equal += ours == theirs
        difference = "0" if ours == theirs else " / ".join(str(a - b) for a, b in zip(ours, theirs, strict=True))
        counts = [" / ".join(map(str, side)) for side in (ours, theirs)]
        body.append([title(name), *counts, difference, _sizes(results, name)])
    head = ["dataset", "ours (rows / targets / outliers / features)", "published", "difference"]
    return f"""\
## Counts, and those of the paper

{equal} of {len(body)} datasets have the published counts.

{table([*head, "test targets / outliers"], body)}"""


def _sizes(results: Results, dataset: str) -> str:
    for method in METHODS:
        for row in results.rows("paper", dataset, method).values():
            return f"{row['n_test_target']} / {row['n_test_outlier']}"
    return "–"


def _table() -> str:
    rule = "|---|--:|--:|--:|--:|---|---|---|---|---|"
    return "\n".join([f"| {' | '.join(_HEAD)} |", rule, *map(_line, cards())])


def _line(each: Card) -> str:
    counts = (each.rows, each.targets, each.outliers, each.features)
    words = (each.target, each.recipe, each.groups or "", f"[{each.access}]({each.source})", each.licence)
    return f"| `{each.name}` | {' | '.join(map(str, counts))} | {' | '.join(words)} |"

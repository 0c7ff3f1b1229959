"""The generated parts of docs/datasets.md; ``python -m reproduction.datasets_page docs/datasets.md`` renews them."""

import re
import sys
from collections import defaultdict
from pathlib import Path

from .datasets import Card, cards

__all__ = ["render"]

HEADER = (
    "| name | rows | target | outlier | features | target is | raw becomes rows | groups | from | licence |\n"
    "|---|--:|--:|--:|--:|---|---|---|---|---|"
)


def render(page: str) -> str:
    """Renew the generated blocks of the page, the rest left as it is.

    Parameters
    ----------
    page : str
        Markdown with ``<!-- begin: table -->`` ... ``<!-- end: table -->`` and the same for ``traps``.

    Returns
    -------
    str

    Examples
    --------
    >>> page = render("<!-- begin: traps --><!-- end: traps -->")
    >>> page == render(page), "label away" in page
    (True, True)
    """
    return _fill("traps", _traps(), _fill("table", _table(), page))


def _fill(block: str, text: str, page: str) -> str:
    pattern = rf"(?<=<!-- begin: {block} -->).*?(?=<!-- end: {block} -->)"
    return re.sub(pattern, lambda _: f"\n{text}\n", page, flags=re.DOTALL)


def _table() -> str:
    return "\n".join([HEADER, *map(_line, cards())])


def _line(card: Card) -> str:
    counts = (card.rows, card.targets, card.outliers, card.features)
    words = (card.target, card.recipe, card.groups or "", f"[{card.access}]({card.source})", card.licence)
    return f"| `{card.name}` | {' | '.join(map(str, counts))} | {' | '.join(words)} |"


def _traps() -> str:
    owners = defaultdict(list)
    for card in cards():
        for note in card.notes:
            owners[note].append(f"`{card.name}`")
    return "\n".join(f"- {_span(names)}: {note}" for note, names in owners.items())


def _span(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} ... {names[-1]} ({len(names)} tasks)"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(render(path.read_text(encoding="utf-8")), encoding="utf-8")

"""Hatchling's hook for the README of the package: on the package index, links need addresses.

`[project.urls]` of pyproject.toml is the only place with the address of the repository. Without it, links stay as they
are, and `make release` says so.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["ReadmeHook", "absolute"]

#: A relative target of a link or of a picture, in Markdown or HTML.
_LINK = re.compile(r"(?P<before>(?P<image>!?)\[[^\]]*\]\()(?!https?:|#|mailto:)(?P<target>[^)\s]+)(?P<after>\))")
_TAG = re.compile(r'(?P<before>\b(?P<kind>src|srcset|href)=")(?!https?:|#|mailto:)(?P<target>[^"\s]+)(?P<after>")')


def absolute(text: str, repository: str, version: str) -> str:
    """The README with links to the files of this version in the repository; pictures are given as raw files."""

    def link(found: re.Match[str]) -> str:
        raw = found["image"] if "image" in found.groupdict() else found["kind"] != "href"
        place = f"{repository.rstrip('/')}/{'raw' if raw else 'blob'}/v{version}/{found['target']}"
        return found["before"] + place + found["after"]

    return _TAG.sub(link, _LINK.sub(link, text))


class ReadmeHook(MetadataHookInterface):
    """Fills in the field `readme`."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README of the package."""
        root = Path(self.root)
        text = (root / "README.md").read_text(encoding="utf-8")
        version = re.search(r'__version__ = "(.*?)"', (root / "src/oneclass/__init__.py").read_text(encoding="utf-8"))
        repository = metadata.get("urls", {}).get("Repository")
        if repository and version:
            text = absolute(text, repository, version[1])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}

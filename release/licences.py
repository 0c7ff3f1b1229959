"""Licences of the packages of an environment, and their list as CycloneDX JSON (an SBOM)."""

from __future__ import annotations

import json
import re
import sys
from email.message import Message
from importlib.metadata import Distribution, distributions
from typing import cast

__all__ = ["licence_of", "main", "parts", "refused"]

#: Licences that ask more of users than to keep a notice. Packages that offer another licence, too, name both.
_REFUSED = re.compile(r"\b(?:[AL]?GPL|GNU|BUSL|BSL-1\.1|Business Source|SSPL|Commons Clause|CC-BY-NC)", re.IGNORECASE)
_OFFERED = re.compile(r"\b(?:MIT|BSD|Apache|PSF|MPL|ISC|HPND|Zlib|Unlicense|CC0|0BSD)", re.IGNORECASE)
#: Tools of the environment itself.
_TOOLS = {"pip", "setuptools", "wheel", "oneclass"}
_LONGEST = 60


def licence_of(package: Distribution) -> str:
    """The licence that a package names: its expression, its classifiers, or the first line of its licence field."""
    about = cast(Message, package.metadata)
    if expression := about.get("License-Expression"):
        return str(expression)
    classified = [text.split(" :: ")[-1] for text in about.get_all("Classifier", []) if text.startswith("License ::")]
    if named := [text for text in classified if text != "OSI Approved"]:
        return "; ".join(named)
    return (str(about.get("License") or "unknown").strip().splitlines() or ["unknown"])[0][:_LONGEST]


def refused(licence: str) -> bool:
    """Whether a licence is not among those that the project allows."""
    return bool(_REFUSED.search(licence)) and not _OFFERED.search(licence)


def parts() -> list[dict[str, str]]:
    """Name, version and licence of each package of this environment, sorted by name."""
    found = {
        package.metadata["Name"].lower(): {
            "name": package.metadata["Name"],
            "version": package.version,
            "licence": licence_of(package),
        }
        for package in distributions()
    }
    return [found[name] for name in sorted(found) if name not in _TOOLS]


def bill(found: list[dict[str, str]]) -> str:
    """The packages as CycloneDX JSON."""
    components = [
        {
            "type": "library",
            "name": part["name"],
            "version": part["version"],
            "purl": f"pkg:pypi/{part['name'].lower()}@{part['version']}",
            "licenses": [{"license": {"name": part["licence"]}}],
        }
        for part in found
    ]
    return json.dumps(
        {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components}, indent=1
    )


def main(arguments: list[str]) -> int:
    """Print a table of the licences, or with `--sbom` the CycloneDX JSON; 1 if a licence is refused."""
    found = parts()
    if "--sbom" in arguments:
        print(bill(found))
        return 0
    for part in found:
        print(f"{part['name']:28} {part['version']:14} {part['licence']}")
    wrong = [part["name"] for part in found if refused(part["licence"])]
    if wrong:
        print(f"licences that the project does not allow: {', '.join(wrong)}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

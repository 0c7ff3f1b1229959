"""Prepare a release: build twice and compare, check the metadata, install in an empty environment, try the README.

`--dry` tells what the release lacks, where the release itself would stop.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
#: Largest number of bytes of the source distribution: code, tests and pages, without results and pictures.
_LARGEST = 3_000_000


def run(*command: str | Path, folder: Path = ROOT, **extra: str) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run([*map(str, command)], cwd=folder, env=os.environ | extra, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def hashes(folder: Path) -> dict[str, str]:
    """The checksum of each file of a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def lacking() -> Iterator[str]:
    """What a release needs and this tree does not have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    if not project.get("urls", {}).get("Repository"):
        yield "pyproject.toml: [project.urls] must name the Repository; the owner of it fills in the address"
    version = re.search(r'__version__ = "(.*?)"', (ROOT / "src" / "oneclass" / "__init__.py").read_text())
    number = version[1] if version else ""
    if f"\nversion: {number}\n" not in (ROOT / "CITATION.cff").read_text():
        yield f"CITATION.cff: version must be {number}, as in src/oneclass/__init__.py"
    if not re.search(rf"^## \[{re.escape(number)}\] - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M):
        yield f"CHANGELOG.md: there must be a section '## [{number}] - date'"


def ready() -> str:
    """Check that the tree is one of a release."""
    found = list(lacking())
    if found and "--dry" not in sys.argv:
        raise SystemExit("\n".join(found))
    return "; ".join(f"LACKING {what}" for what in found) or "version, changelog, citation and address agree"


def built() -> str:
    """Build wheel and source distribution twice; both builds must be equal in every byte."""
    again = ROOT / "build" / "again"
    at = run("git", "log", "-1", "--format=%ct").strip()
    for folder in (DIST, again):
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "build", "--outdir", folder, SOURCE_DATE_EPOCH=at)
    if hashes(DIST) != hashes(again):
        raise SystemExit("two builds differ")
    return "; ".join(f"{name} {digest[:12]}" for name, digest in hashes(DIST).items())


def checked() -> str:
    """Check the metadata, and the content of the source distribution."""
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    (source,) = DIST.glob("*.tar.gz")
    if (size := source.stat().st_size) > _LARGEST:
        raise SystemExit(f"{source.name} has {size:,} bytes, more than {_LARGEST:,}")
    with tarfile.open(source) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    lacking = {"LICENSE", "README.md", "pyproject.toml", "src/oneclass/__init__.py"} - names
    if lacking:
        raise SystemExit(f"{source.name} lacks {min(lacking)}")
    return f"metadata are valid; {source.name} has {size:,} bytes"


def installed() -> str:
    """Install the wheel in an empty environment; list licences and parts; run the README and `oneclass demo`."""
    place = ROOT / "build" / "empty"
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    (wheel,) = DIST.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[cli]")
    licences = run(python, ROOT / "release" / "licences.py", folder=place)
    (DIST.parent / "build" / "licences.txt").write_text(licences)
    (DIST.parent / "build" / "sbom.json").write_text(
        run(python, ROOT / "release" / "licences.py", "--sbom", folder=place)
    )
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    (place / "readme.txt").write_text("\n".join(blocks))
    lines = run(python, "-m", "doctest", "readme.txt", folder=place)
    demo = run(python, "-m", "oneclass", "demo", folder=place)
    if lines or " of 200 rows are outliers" not in demo:
        raise SystemExit(f"README or demo:\n{lines}{demo}")
    return (
        f"README and demo run; {len(licences.splitlines())} packages, listed in build/licences.txt and build/sbom.json"
    )


def steps() -> Iterator[tuple[str, Callable[[], str]]]:
    """The steps by name."""
    yield "ready", ready
    yield "build", built
    yield "check", checked
    yield "install", installed


if __name__ == "__main__":
    for name, step in steps():
        print(f"{name:8} {step()}", flush=True)
    print("to publish: push a tag v<version>; the workflow `release` uploads what it builds")

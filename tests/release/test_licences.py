"""Licences that the project allows, and the list of the packages of an environment."""

import json

import pytest

from release.licences import bill, parts, refused


@pytest.mark.parametrize("licence", ["MIT", "BSD License", "Apache-2.0 OR GPL-3.0", "MPL-2.0", "unknown", "PSF-2.0"])
def test_permissive_licences_are_allowed(licence):
    assert not refused(licence)


@pytest.mark.parametrize(
    "licence", ["GPL-3.0-only", "GNU Lesser General Public License v3", "AGPL-3.0", "BUSL-1.1", "LGPL-2.1-or-later"]
)
def test_other_licences_are_refused(licence):
    assert refused(licence)


def test_every_package_is_listed_with_version_and_licence():
    found = parts()
    names = {part["name"].lower() for part in found}
    assert {"numpy", "scipy", "scikit-learn"} <= names
    assert all(part["version"] and part["licence"] for part in found)
    listed = json.loads(bill(found))["components"]
    assert len(listed) == len(found)
    assert all(part["purl"].startswith("pkg:pypi/") for part in listed)

"""Descriptions of parameters that classes share stand in the docstrings of all of them."""

import inspect
import re
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

import oneclass
from oneclass import baselines, machines
from oneclass.base.parameter_docs import _DESCRIPTIONS
from oneclass.baselines._base import Baseline

CLASSES = [getattr(package, name) for package in (machines, baselines) for name in package.__all__]
ALL_CLASSES = pytest.mark.parametrize("classifier", CLASSES, ids=lambda classifier: classifier.__name__)


def described_parameters(docstring):
    """Names of the parameters in a docstring, and the default that it gives for each."""
    section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    return dict(re.findall(r"^(\w+) : .*?(?:, default=(.*)|, optional)?$", section, flags=re.M))


@ALL_CLASSES
def test_the_described_defaults_are_those_of_the_signature(classifier):
    signature = inspect.signature(classifier).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in signature}
    described = described_parameters(classifier.__doc__)
    assert list(described) == list(defaults)
    assert {name: literal_eval(text or "None") for name, text in described.items()} == defaults


@ALL_CLASSES
def test_no_docstring_is_left_with_the_name_of_a_shared_description(classifier):
    for documented in (classifier, classifier.fit, getattr(classifier, "reconstruct", classifier.fit)):
        assert not re.search(r"^\s*\{\w+\}$", inspect.getdoc(documented), flags=re.M)


@pytest.mark.parametrize("name", _DESCRIPTIONS)
def test_a_shared_description_is_used_more_than_once(name):
    sources = "".join(path.read_text() for path in Path(oneclass.__file__).parent.glob("[mb]a*/*.py"))
    assert len(re.findall(rf"^ +{{{name}}}$", sources, flags=re.M)) > 1


def test_an_unknown_name_of_a_shared_description_is_an_error():
    with pytest.raises(LookupError, match=r"Detector: .* line \{no_such_text\}, but no shared description has this"):

        class Detector(Baseline):
            """Reject rows.

            {no_such_text}
            """


def test_a_class_without_a_docstring_stays_without():
    class Detector(Baseline):
        pass

    assert Detector.__doc__ is None


def test_classes_can_be_imported_without_docstrings():
    code = "import oneclass.baselines; print(oneclass.VAAKELM.__doc__)"
    run = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "None\n"

"""What `import oneclass` brings along."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import oneclass

HEAVY = {
    *("onnx", "onnxruntime", "torch", "dask", "matplotlib", "clarabel", "polars", "click", "river", "numba", "jinja2")
}


def loaded_by(code):
    """Packages that a fresh process has loaded after some code."""
    code = f"import sys; sys.path.insert(0, {str(Path(oneclass.__file__).parents[1])!r})\n{code}\n"
    code += "print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_nothing_is_imported_before_it_is_asked_for():
    assert loaded_by("import oneclass") & (HEAVY | {"numpy", "scipy", "sklearn", "pandas", "pyarrow"}) == set()


def test_no_public_name_imports_what_an_extra_installs():
    # But for pandas and PyArrow, which scikit-learn imports where they are.
    assert loaded_by("from oneclass import *") & HEAVY == set()


def test_help_and_completion_wait_for_no_library():
    assert loaded_by("import oneclass.cli.commands") & {"scipy", "sklearn", "pandas", "pyarrow"} == set()


def test_every_public_name_is_there_and_others_are_not():
    stub = ast.parse(Path(oneclass.__file__).with_suffix(".pyi").read_text()).body
    listed = next(ast.literal_eval(node.value) for node in stub if isinstance(node, ast.Assign))
    assert sorted(listed) == sorted(oneclass.__all__)
    assert all(getattr(oneclass, name).__name__ in (name, f"oneclass.{name}") for name in oneclass.__all__)
    assert oneclass.selection.OneClassSearchCV is oneclass.OneClassSearchCV
    assert set(oneclass.__all__) <= set(dir(oneclass))
    with pytest.raises(AttributeError, match="VAAKEML"):
        oneclass.VAAKEML  # noqa: B018

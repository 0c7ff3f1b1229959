"""What `import oneclass` brings along."""

import subprocess
import sys
from pathlib import Path

import oneclass


def test_nothing_is_imported_that_an_extra_installs():
    code = f"import sys; sys.path.insert(0, {str(Path(oneclass.__file__).parents[1])!r}); import oneclass\n"
    code += "print(*(name for name in sys.modules if '.' not in name))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Not pandas and PyArrow, which scikit-learn imports where they are.
    heavy = {"onnx", "onnxruntime", "torch", "dask", "matplotlib", "clarabel", "polars", "click"}
    assert heavy & set(done.stdout.split()) == set()

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("resource")

D, CHUNK, CHUNKS = 20, 50_000, 40
BUDGET = 150 << 20

FIT = """
import json, resource, sys
import numpy as np
from oneclass import VAAKELM, Nystrom

printed = {"kernel": "rbf", "sigma": 4.0, "scale": "zscore", "loss": "reconstruction"}
machine = VAAKELM(C=2.0, approximation=Nystrom(50, "uniform"), **printed)
machine.fit_chunks(np.random.default_rng(0).random((100, 20)))  # whatever is loaded at first use
path, budget = sys.argv[1], int(sys.argv[2])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + budget, used + budget))
try:
    np.load(path)
    loaded = True
except MemoryError:
    loaded = False
machine.fit_chunks(path)
fresh = np.random.default_rng(1).random((2000, 20))
rejected = float(np.mean(machine.predict(fresh) == -1))
far = machine.p_value(fresh[:1] + 9.0)
print(json.dumps({"loaded": loaded, "rejected": rejected, "far": float(far[0])}))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs the size of the process from /proc")
def test_a_file_larger_than_the_memory_limit_is_fitted_from_disk(tmp_path):
    path = tmp_path / "rows.npy"
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (CHUNKS * CHUNK, D)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(CHUNKS):
            rng.random((CHUNK, D)).tofile(file)
    assert path.stat().st_size > 2 * BUDGET
    command = [sys.executable, "-c", FIT, str(path), str(BUDGET)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    path.unlink()
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert not report["loaded"]
    # A rate of 5 % on 2,000 fresh rows, within four standard errors; a row far away has the smallest p-value.
    assert abs(report["rejected"] - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 2000)
    assert report["far"] == pytest.approx(1 / (CHUNKS * CHUNK + 1))

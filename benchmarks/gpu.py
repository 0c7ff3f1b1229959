"""Exact and approximate fits on one GPU, against the machine's own matrix-product rate. Needs PyTorch with CUDA.

Writes a table of docs/scale_measured.md. `python benchmarks/gpu.py [rows]` sets the rows of the large fit (default 100
million).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict, TypeVar

import torch

from _table import markdown, write_between_markers
from oneclass import AAKELM, VAAKELM, Nystrom
from oneclass.base.rates import decision_of
from oneclass.core.block import Block
from oneclass.engines import InMemory
from oneclass.machines.approximate import fit_through
from oneclass.machines.exact import Fit, losses_of
from oneclass.machines.parameters import recipe_of

S = TypeVar("S")
PAGE = Path(__file__).parents[1] / "docs" / "scale_measured.md"


class Settings(TypedDict, total=False):
    """Parameters of the kernel of each machine."""

    kernel: str
    sigma: str
    scale: str


KERNELS: dict[str, Settings] = {
    "RBF, z-scores": {"kernel": "rbf", "sigma": "local", "scale": "zscore"},
    "the default": {},
}


def seconds(run: Callable[[], object], repeats: int = 1) -> float:
    best = float("inf")
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def gemm_rate(n: int = 12288) -> float:
    """Twice the multiply-adds per second of a large float64 matrix product."""
    A = torch.randn(n, n, dtype=torch.float64, device="cuda")
    A @ A
    return 2 * n**3 / seconds(lambda: A @ A, 5)


def exact(n: int, rate: float, params: Settings, threshold: str = "held_out") -> list[str]:
    torch.cuda.reset_peak_memory_stats()
    X = torch.randn(n, 20, dtype=torch.float64, device="cuda")
    machine = AAKELM(loss="reconstruction", approximation=None, threshold=threshold, **params)
    machine.fit(X[:8192])
    t = seconds(lambda: machine.fit(X), 2 if n <= 60_000 else 1)
    alarms = float((machine.predict(torch.randn(20_000, 20, dtype=torch.float64, device="cuda")) < 0).double().mean())
    peak = torch.cuda.max_memory_allocated() / 1e9
    flops = n**3 / 3 * (2 if machine.threshold == "held_out" else 1)
    what = f"AAKELM exact, n = {n:,}, threshold={machine.threshold}"
    return [what, f"{t:.2f}", f"{flops / t / rate:.0%}", f"{peak:.0f}", f"{100 * alarms:.2f}"]


class Timed:
    """An engine that records the time of each pass."""

    def __init__(self, X: torch.Tensor) -> None:
        self.engine, self.passes = InMemory(X, None), dict[str, float]()
        self.loss_limit = self.engine.loss_limit

    def total(self, step: Callable[[Block], S], label: str) -> S:
        """As in the engine."""
        result: list[S] = []
        self.passes[label] = seconds(lambda: result.append(self.engine.total(step, label)))
        return result[0]


def large(n: int, m: int, rate: float, machine: AAKELM | VAAKELM) -> list[list[str]]:
    torch.cuda.reset_peak_memory_stats()
    X = torch.randn(n, 32, dtype=torch.float64, device="cuda")
    machine.fit(X[:200_000])
    engine = Timed(X)
    name = f"{type(machine).__name__}, {machine.loss}"
    decision, fits = decision_of(machine), list[Fit]()

    def fit() -> None:
        recipe, way = recipe_of(machine, None), machine.approximation
        fits.append(fit_through(recipe, engine, way, decision=decision, seed=0, check=lambda columns, n_rows: None))

    t = seconds(fit)
    losses = losses_of(fits[0].machine, torch.randn(100_000, 32, dtype=torch.float64, device="cuda"))
    alarms = float((losses > fits[0].threshold(decision)).double().mean())
    peak = torch.cuda.max_memory_allocated() / 1e9
    rows = [[f"{name}, n = {n:,}, d = 32, m = {m:,}", f"{t:.2f}", "", f"{peak:.0f}", f"{100 * alarms:.2f}"]]
    for label, s in engine.passes.items():
        share = f"{2 * n * m**2 / s / rate:.0%}" if label == "moments" else ""
        rows.append([f"- {label}", f"{s:.2f}", share, "", ""])
    return rows


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
    rate = gemm_rate()
    print(f"{torch.cuda.get_device_name()}: float64 matrix product {rate / 1e12:.1f} TFLOP/s", flush=True)
    made = []
    for kernel, params in KERNELS.items():
        rows = []
        for size in (20_000, 50_000):
            rows.append(exact(size, rate, params))
            rows.append(exact(size, rate, params, threshold="train"))
            print(rows[-2:], flush=True)
        torch.cuda.empty_cache()
        for machine in (
            AAKELM(approximation=Nystrom(2048), loss="reconstruction", **params),
            AAKELM(approximation=Nystrom(2048), loss="predictive", **params),
            VAAKELM(approximation=Nystrom(2048), loss="reconstruction", **params),
        ):
            rows += large(n, 2048, rate, machine)
            torch.cuda.empty_cache()
            print(rows[-5:], flush=True)
        rows.append(exact(100_000, rate, params))
        heads = [f"{kernel}, float64", "seconds", "of the product rate", "peak GB", "false alarms at 5 %"]
        made.append(markdown(heads, rows))
        print(made[-1], flush=True)
        torch.cuda.empty_cache()
    beside = f", one {torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    write_between_markers(PAGE, "gpu", "\n\n".join(made), beside=beside)


if __name__ == "__main__":
    main()

"""Machines with a random hidden layer instead of a kernel."""

from __future__ import annotations

from typing import ClassVar

from ..base.checks import check_choice, check_integer
from ..base.kernels import KernelChoice
from ..core.approximation import HiddenLayer
from ..core.features import ACTIVATIONS
from .kernel_machine import KernelMachine

__all__ = ["HiddenLayerMachine"]


class HiddenLayerMachine(KernelMachine):
    """Machine that solves ``(H'H + I/C) B = H'T``: the equation of `KernelMachine` with ``K = HH'``."""

    n_hidden: int
    activation: str

    #: The kernel is linear in the outputs of the hidden units.
    kernel: KernelChoice = "linear"
    sigma: float | str = "mean"
    _cost_by_rule: ClassVar[bool] = False

    @property
    def approximation(self) -> HiddenLayer:
        """The hidden layer, whose units are the explicit features of the fit."""
        return HiddenLayer(check_integer(self, "n_hidden", 1), check_choice(self, "activation", tuple(ACTIVATIONS)))

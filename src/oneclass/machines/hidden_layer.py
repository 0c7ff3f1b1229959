"""Machines with a random hidden layer in the place of a kernel."""

from __future__ import annotations

from typing import ClassVar

from ..base.checks import check_choice, check_integer
from ..base.kernels import KernelChoice
from ..core.approximation import HiddenLayer
from ..core.features import ACTIVATIONS
from .kernel_machine import KernelMachine

__all__ = ["HiddenLayerMachine"]


class HiddenLayerMachine(KernelMachine):
    """``(H'H + I/C) B = H'T``: the family's equation with ``K = HH'``, solved for the weights of the hidden units."""

    n_hidden: int
    activation: str

    #: The kernel is linear in what the hidden units say.
    kernel: KernelChoice = "linear"
    sigma: float | str = "mean"
    _cost_by_rule: ClassVar[bool] = False

    @property
    def approximation(self) -> HiddenLayer:
        """The layer to draw: its units are the explicit features of a fit."""
        return HiddenLayer(check_integer(self, "n_hidden", 1), check_choice(self, "activation", tuple(ACTIVATIONS)))

"""Symbolic tensors: an operation on a tensor adds a node to the ONNX graph, so that formulas look like NumPy code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.arrays import library_of, to_numpy

__all__ = ["Graph", "Tensor", "concatenate", "maximum", "minimum", "where"]

#: A tensor, or a value that becomes a constant of the graph.
Operand = Any


@dataclass
class Graph:
    """Nodes and constants of a graph, in double precision; their names begin with a slash, unlike those of inputs."""

    helper: Any  # onnx.helper
    nodes: list[Any] = field(default_factory=list)
    constants: list[tuple[str, np.ndarray[Any, Any]]] = field(default_factory=list)

    def constant(self, value: Operand) -> Tensor:
        """Add a constant: 64-bit integers for whole numbers, doubles for other numbers."""
        array = np.asarray(value if library_of(value) in (None, "numpy") else to_numpy(value))
        name = f"/c{len(self.constants)}"
        self.constants.append((name, array.astype(np.int64 if array.dtype.kind in "iu" else np.float64, order="C")))
        return Tensor(self, name)

    def apply(self, operator: str, *operands: Operand, **attributes: object) -> Tensor:
        """The (first) result of an operator."""
        return self.results(1, operator, *operands, **attributes)[0]

    def results(self, number: int, operator: str, *operands: Operand, **attributes: object) -> list[Tensor]:
        """The results of an operator that has several."""
        inputs = [x if isinstance(x, Tensor) else self.constant(x) for x in operands]
        made = [Tensor(self, f"/t{len(self.nodes)}_{i}") for i in range(number)]
        names = [[x.name for x in tensors] for tensors in (inputs, made)]
        self.nodes.append(self.helper.make_node(operator, *names, **attributes))
        return made


@dataclass(frozen=True)
class Tensor:
    """A tensor of a graph by its name."""

    graph: Graph
    name: str

    def __add__(self, other: Operand) -> Tensor:
        return self.graph.apply("Add", self, other)

    def __sub__(self, other: Operand) -> Tensor:
        return self.graph.apply("Sub", self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return self.graph.apply("Sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return self.graph.apply("Mul", self, other)

    def __truediv__(self, other: Operand) -> Tensor:
        return self.graph.apply("Div", self, other)

    def __matmul__(self, other: Operand) -> Tensor:
        return self.graph.apply("MatMul", self, other)

    def __pow__(self, other: float) -> Tensor:
        return self.graph.apply("Pow", self, float(other))

    def __neg__(self) -> Tensor:
        return self.graph.apply("Neg", self)

    def __abs__(self) -> Tensor:
        return self.graph.apply("Abs", self)

    def __lt__(self, other: Operand) -> Tensor:
        return self.graph.apply("Less", self, other)

    def __gt__(self, other: Operand) -> Tensor:
        return self.graph.apply("Greater", self, other)

    def __ge__(self, other: Operand) -> Tensor:
        return self.graph.apply("GreaterOrEqual", self, other)

    def do(self, operator: str, *operands: Operand, **attributes: object) -> Tensor:
        """The result of any other operator."""
        return self.graph.apply(operator, self, *operands, **attributes)

    def reduced(self, operator: str, axis: int, *, keep: bool = False) -> Tensor:
        """The result of an operator along an axis: ``ReduceSum``, ``ReduceMax``..."""
        return self.graph.apply(operator, self, [axis], keepdims=int(keep))

    def sum(self, axis: int = 1, *, keep: bool = False) -> Tensor:
        """The sum along an axis."""
        return self.reduced("ReduceSum", axis, keep=keep)

    def sum_squares(self, axis: int = 1, *, keep: bool = False) -> Tensor:
        """The sum of squares along an axis."""
        return self.reduced("ReduceSumSquare", axis, keep=keep)

    def expanded(self, axis: int) -> Tensor:
        """The tensor with a further axis of length 1."""
        return self.graph.apply("Unsqueeze", self, [axis])

    def cast(self, kind: type) -> Tensor:
        """The tensor in another type."""
        return self.graph.apply("Cast", self, to=self.graph.helper.np_dtype_to_tensor_dtype(np.dtype(kind)))


def maximum(x: Tensor, bound: Operand) -> Tensor:
    """The elementwise maximum."""
    return x.do("Max", bound)


def minimum(x: Tensor, bound: Operand) -> Tensor:
    """The elementwise minimum."""
    return x.do("Min", bound)


def where(condition: Tensor, yes: Operand, no: Operand) -> Tensor:
    """`yes` where the condition holds, else `no`, elementwise."""
    return condition.do("Where", yes, no)


def concatenate(*parts: Tensor) -> Tensor:
    """Concatenate tensors along the columns."""
    return parts[0].do("Concat", *parts[1:], axis=1)

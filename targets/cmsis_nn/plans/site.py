"""
A pattern whose plan is made: its numbers, and where its ops are written.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, i8, i32
from xdsl.ir import Operation, SSAValue

from transom.dialects import graph
from transom.dialects.graph.operation import tensor_type
from transom.dialects.graph.shapes import DYNAMIC
from transom.passes.weight_expressions import Expression
from transom.targets.cmsis_nn.arithmetic import Array
from transom.targets.cmsis_nn.cores import Core
from transom.targets.cmsis_nn.known import Known, Quantization, refuse
from transom.targets.cmsis_nn.matching import Found

TO_NHWC, TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


class Builder(ABC):
    """Adds ops in the place of a composite."""

    @abstractmethod
    def __call__(self, op: Operation) -> SSAValue:
        """Add an op and give its first result."""

    @abstractmethod
    def value(self, value: SSAValue) -> SSAValue:
        """A value that the pattern reads, outside of it."""

    @abstractmethod
    def derived(self, stem: str, build: Callable[[Expression], SSAValue]) -> SSAValue:
        """A weight that is computed once, by an expression over weights."""

    def to_nhwc(self, value: SSAValue) -> SSAValue:
        return self(graph.TransposeOp(value, TO_NHWC))

    def to_nchw(self, value: SSAValue) -> SSAValue:
        return self(graph.TransposeOp(value, TO_NCHW))

    def table(self, values: Array) -> SSAValue:
        """A row of i32."""
        type = graph.tensor([values.size], i32)
        data = values.astype(np.int32).tobytes()
        return self(graph.ConstantOp.from_bytes(type, data))


Plan = Callable[[Builder], SSAValue]


class Site:
    """A pattern, its types, and the numbers of its ends. Raises `RefusalError`."""

    def __init__(self, found: Found, core: Core, known: Known) -> None:
        self.found = found
        self.core = core
        self.known = known
        for value in (*(op.input for op in found.inputs), found.root.result):
            type = tensor_type(value)
            if type.element_type != i8:
                raise refuse(f"expected activations of i8, but got '{type}'")
            if DYNAMIC in type.get_shape():
                raise refuse(f"expected a static shape, but got '{type}'")
        self.inputs = [known.quantization(op) for op in found.inputs]
        self.output = known.quantization(found.root)

    @property
    def result_shape(self) -> tuple[int, ...]:
        return tensor_type(self.found.root.result).get_shape()

    def input_shape(self, number: int = 0) -> tuple[int, ...]:
        return tensor_type(self.found.inputs[number].input).get_shape()

    def input(self, b: Builder, number: int = 0) -> SSAValue:
        """The integers of an input."""
        return b.value(self.found.inputs[number].input)

    def activation(self) -> tuple[int, int]:
        """The least and the greatest result, as integers."""
        least, most = -128, 127
        for op in self.found.activations:
            if isinstance(op, graph.ReluOp):
                bounds = (0.0, None)
            else:
                bounds = (_float(op.min), _float(op.max))
            lower, upper = (None if b is None else self._quantized(b) for b in bounds)
            least = least if lower is None else max(least, lower)
            most = most if upper is None else min(most, upper)
        if least > most:
            raise refuse("expected an activation that leaves some results")
        return least, most

    def _quantized(self, bound: float) -> int:
        """What `graph.quantize` makes of a bound."""
        steps = np.rint(np.float32(bound) / np.float32(self.output.scale))
        return int(np.clip(steps + self.output.zero_point, -128, 127))

    def same_quantization(self) -> None:
        """Refuse results whose scale or zero point is not that of the input."""
        (given,) = self.inputs
        if given != self.output:
            raise refuse(
                "expected the scale and zero point of the input for the result too, "
                f"but got {text_of(given)} and {text_of(self.output)}"
            )


def _float(bound: object) -> float | None:
    return None if bound is None else float(cast("FloatAttr[Any]", bound).value.data)


def text_of(q: Quantization) -> str:
    return f"{q.scale:.6g} with {q.zero_point}"


def retyped(op: Operation) -> Operation:
    """A new op with results of what its operands are now."""
    assert isinstance(op, graph.ReshapeOp | graph.TransposeOp), "what moves elements"
    element = tensor_type(op.input).element_type
    shape = tensor_type(op.result).get_shape()
    op.retype(graph.tensor(shape, element))
    return op

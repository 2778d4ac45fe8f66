"""
Reading scales and zero points: values that are known when a module is compiled.
"""

from typing import Any, NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.graph.weights import weight_of
from transom.dialects.weight_files import base_folder
from transom.interpreters.evaluators import Array
from transom.interpreters.weights import WeightStore
from transom.lowering.conversion import Refusal
from transom.lowering.conversion.pattern import RefusalError
from transom.passes.constant_evaluation import array_of, evaluate


def refuse(reason: str) -> RefusalError:
    """A refusal to raise."""
    return RefusalError(Refusal(reason))


def module_of(op: Operation) -> ModuleOp:
    """The outermost module around an op."""
    while (parent := op.parent_op()) is not None:
        op = parent
    assert isinstance(op, ModuleOp), "ops that are claimed are in a module"
    return op


class Quantization(NamedTuple):
    """A scale and a zero point of a whole tensor."""

    scale: float
    zero_point: int


class Known:
    """
    What is known of values, while weights do not change: files stay open meanwhile.
    """

    def __init__(self) -> None:
        self._stores: dict[ModuleOp, WeightStore] = {}

    def elements(self, value: SSAValue) -> Array:
        """
        The elements of a known value (`weight_expressions.is_known`).

        Raises `RefusalError` if they cannot be read.
        """
        op = value.owner
        assert isinstance(op, Operation), "arguments are not known"
        if isinstance(op, graph.ConstantOp):
            return array_of(cast(Any, op.value))
        if isinstance(op, graph.WeightRefOp):
            return self._weight(op)
        made = evaluate(op, [self.elements(operand) for operand in op.operands])
        if made is None:
            raise refuse(f"cannot evaluate '{op.name}' of a weight")
        return made

    def _weight(self, op: graph.WeightRefOp) -> Array:
        weight = weight_of(op)
        assert weight is not None, "the verifier has looked"
        module = module_of(op)
        if module not in self._stores:
            self._stores[module] = WeightStore(module, base_folder(module))
        try:
            return self._stores[module](weight)
        except OpError as e:
            raise refuse(f"cannot read the weight: {e.message}") from None

    def quantization(self, op: graph.DequantizeOp | graph.QuantizeOp) -> Quantization:
        """
        The scale and zero point of an op on activations.

        Raises `RefusalError` if there are several, or they make no sense.
        """
        scales, zeros = self.scales(op), self.elements(op.zero_point)
        if scales.size != 1 or zeros.size != 1:
            raise refuse(
                "expected one scale and zero point of activations, but got "
                f"{max(scales.size, zeros.size)}"
            )
        return Quantization(float(scales.reshape(-1)[0]), int(zeros.reshape(-1)[0]))

    def scales(self, op: graph.DequantizeOp | graph.QuantizeOp) -> Array:
        """The scales of an op. Raises `RefusalError` unless they are positive."""
        scales = self.elements(op.scale).astype(np.float64)
        if not (np.isfinite(scales) & (scales > 0)).all():
            raise refuse("expected scales that are positive numbers")
        return scales

"""
Weights that all calls of a kernel hand over, and others in their place.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from transom.dialects import graph, tir
from transom.dialects.tir.types import memref_type_of


class KernelWeights:
    """What the calls of the kernels of a module hand over."""

    def __init__(self, module: ModuleOp) -> None:
        self.calls: dict[str, list[tir.CallOp]] = {}
        for op in module.walk():
            if isinstance(op, tir.CallOp):
                self.calls.setdefault(op.callee_name, []).append(op)

    def handed_over(
        self, kernel: tir.FuncOp, value: SSAValue
    ) -> list[graph.WeightOp] | None:
        """
        The weights that the calls of a kernel hand over as a value; None if it is no
        argument, or something else is handed over.
        """
        calls = self.calls.get(kernel.sym_name.data, [])
        if not isinstance(value, BlockArgument) or value.block is not kernel.body.block:
            return None
        shape = memref_type_of(value).get_shape()
        found = [_weight_at(call, value.index, shape) for call in calls]
        weights = [weight for weight in found if weight is not None]
        return weights if weights and len(weights) == len(calls) else None

    def replace(
        self,
        kernel: tir.FuncOp,
        value: SSAValue,
        weights: Sequence[graph.WeightOp],
        type: MemRefType,
    ) -> SSAValue:
        """
        Let the calls hand over other weights, one for each call; gives the argument,
        which is of another type now.
        """
        assert isinstance(value, BlockArgument), "handed_over() says so"
        calls = self.calls[kernel.sym_name.data]
        for call, weight in zip(calls, weights, strict=True):
            ref = graph.WeightRefOp(weight)
            ref.location = call.location
            assert call.parent is not None, "calls are in functions"
            call.parent.insert_op_before(ref, call)
            call.operands[value.index] = ref.result
        argument = Rewriter.replace_value_with_new_type(value, type)
        kernel.update_function_type()
        return argument


def _weight_at(
    call: tir.CallOp, number: int, shape: Sequence[int]
) -> graph.WeightOp | None:
    """The weight of this shape that a call hands over as an argument, if it is one."""
    value = call.operands[number]
    if not isinstance(value, OpResult) or not isinstance(value.op, graph.WeightRefOp):
        return None
    weight = graph.weight_of(value.op)
    if weight is None or not isinstance(weight.parent_op(), ModuleOp):
        return None
    is_plain = graph.layout_of(weight.type) is None
    return weight if is_plain and weight.type.get_shape() == tuple(shape) else None


def kernel_around(op: tir.NestOp) -> tir.FuncOp | None:
    """The kernel that a nest is in, maybe in blocks; None if it is elsewhere."""
    around = op.parent_op()
    while isinstance(around, tir.BlockOp):
        around = around.parent_op()
    return around if isinstance(around, tir.FuncOp) else None

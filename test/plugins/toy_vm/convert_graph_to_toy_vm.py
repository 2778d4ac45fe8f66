"""
Convert functions of graph ops to programs of the virtual machine, constants included.

```mlir
func.func private @main_region_0(%x: …) {       executor.artifact @add_0123abcd {
  %w = graph.weight_ref @w : …             ==>    format = "toy_vm.program",
  %y = graph.add %x, %w : …                       payload = #executor.bytes<…>, … }
```
"""

from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from toy_vm.program import ALIGNMENT, ENTRY, FORMAT, Program, Step
from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import lookup
from transom.dialects.target import TargetAttr
from transom.dialects.weight_files import base_folder
from transom.interpreters.weights import WeightStore
from transom.lowering.artifact_lowering import ArtifactLowering, Compiled

NAMES: dict[type[Operation], str] = {
    graph.AddOp: "add",
    graph.MatmulOp: "matmul",
    graph.MulOp: "mul",
    graph.ReduceOp: "sum",
    graph.ReluOp: "relu",
}
"""What the steps for ops are called."""


def reason_against(op: Operation) -> str | None:
    """Why the machine can not run an op, if it can not."""
    if type(op) not in NAMES:
        return f"no step of the machine computes '{op.name}'"
    for value in (*op.operands, *op.results):
        type_ = cast("TensorType[Any]", value.type)
        if type_.element_type != f32:
            return f"expected elements of f32, but got '{type_}'"
    if isinstance(op, graph.ReduceOp) and op.kind.data is not graph.ReduceKind.SUM:
        return f"expected a sum, but got '{op.kind.data}'"
    return None


class Builder:
    """Numbers values, and gives them places."""

    def __init__(self, func: FuncOp, weights: WeightStore) -> None:
        self.weights = weights
        self.numbers: dict[SSAValue, int] = {}
        self.constants: list[Any] = []
        self.steps: list[Step] = []
        self.workspace = 0
        for argument in func.args:
            self.number(argument)
        computed: list[Operation] = []
        for op in func.body.block.ops:
            if isinstance(op, graph.ConstantOp | graph.WeightRefOp):
                self.number(op.results[0])
                self.constants.append(self.elements(op))
            elif not isinstance(op, ReturnOp):
                computed.append(op)
        for op in computed:
            self.compute(op)

    def number(self, value: SSAValue) -> None:
        self.numbers[value] = len(self.numbers)

    def elements(self, op: graph.ConstantOp | graph.WeightRefOp) -> Any:
        if isinstance(op, graph.WeightRefOp):
            weight = lookup(op, op.weight.string_value())
            assert isinstance(weight, graph.WeightOp), "the verifier has looked"
            return np.asarray(self.weights(weight), np.float32)
        dense = cast("DenseIntOrFPElementsAttr", op.value)
        shape = cast("TensorType[Any]", op.result.type).get_shape()
        return np.array(dense.get_values(), np.float32).reshape(shape)

    def compute(self, op: Operation) -> None:
        if (reason := reason_against(op)) is not None:
            raise OpError(op, reason)
        (result,) = op.results
        type_ = cast("TensorType[Any]", result.type)
        place = None
        if type_.has_static_shape():
            place = self.workspace
            size = 4 * prod(type_.get_shape())
            self.workspace += -(-size // ALIGNMENT) * ALIGNMENT
        attributes: dict[str, Any] = {}
        if isinstance(op, graph.ReduceOp):
            attributes["axes"] = op.axes.get_values()
            attributes["keepdims"] = op.keepdims is not None
        values = tuple(self.numbers[operand] for operand in op.operands)
        shape = type_.get_shape()
        self.steps.append(Step(NAMES[type(op)], values, attributes, place, shape))
        self.number(result)


@dataclass(frozen=True)
class ConvertGraphToToyVmPass(ArtifactLowering):
    name = "convert-graph-to-toy-vm"

    def compile_function(
        self, ctx: Context, func: FuncOp, target: TargetAttr
    ) -> Compiled:
        module = func.parent_op()
        assert isinstance(module, ModuleOp), "functions are in a module"
        built = Builder(func, WeightStore(module, base_folder(module)))
        last = func.body.block.last_op
        assert isinstance(last, ReturnOp), "functions return"
        program = Program(
            len(func.args),
            tuple(built.constants),
            tuple(built.steps),
            tuple(built.numbers[value] for value in last.operands),
            built.workspace,
        )
        return Compiled(FORMAT, program.to_text(), program.workspace, ENTRY)

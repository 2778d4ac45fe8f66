"""
Convert graph functions to kernels of the accelerator: inputs are copied to its
scratchpad, computed on there, and results copied back.

```mlir
%y = graph.relu %x : tensor<4xf32>  ==>  tir.func @relu_…(read %x, write %y) {
                                           %a = tir.alloc {memory = @toy_sram} : …
                                           tir.copy %x, %a : …
                                           %b = tir.alloc {memory = @toy_sram} : …
                                           toy_npu.compute "relu"(%a) to %b : …
                                           tir.copy %b, %y : …
```
"""

from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from toy_npu.ops import ComputeOp
from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.target import TargetAttr
from transom.lowering.function_lowering import FunctionLowering

SRAM = "toy_sram"
"""The memory that is the scratchpad."""

KINDS: dict[type[Operation], str] = {
    graph.AddOp: "add",
    graph.GeluOp: "gelu",
    graph.MatmulOp: "matmul",
    graph.MulOp: "mul",
    graph.ReduceOp: "sum",
    graph.ReluOp: "relu",
}
"""What computes each op."""


def buffer_type(type: Any) -> MemRefType:
    """The buffer in the scratchpad for a tensor or a memref."""
    return MemRefType(
        type.element_type, type.get_shape(), NoneAttr(), SymbolRefAttr(SRAM)
    )


def check(op: Operation) -> None:
    """Raise `OpError` at an op that the accelerator can not compute."""
    if type(op) not in KINDS:
        raise OpError(op, f"no engine of the accelerator computes '{op.name}'")
    for value in (*op.operands, *op.results):
        type_ = cast("TensorType[Any]", value.type)
        if not type_.has_static_shape():
            raise OpError(op, f"expected a static shape, but got '{type_}'")
    if isinstance(op, graph.ReduceOp) and op.kind.data is not graph.ReduceKind.SUM:
        raise OpError(op, f"expected a sum, but got '{op.kind.data}'")


class KernelBuilder:
    """The kernel of one graph function."""

    def __init__(self, func: FuncOp) -> None:
        self.block = Block()
        self.buffers: dict[SSAValue, SSAValue] = {}
        types = (*func.function_type.inputs, *func.function_type.outputs)
        for type_ in types:
            tensor = cast("TensorType[Any]", type_)
            memref = MemRefType(tensor.element_type, tensor.get_shape())
            self.block.insert_arg(memref, len(self.block.args))
        for argument, memory in zip(func.args, self.block.args, strict=False):
            buffer = self.buffers[argument] = self.buffer(argument)
            self.block.add_op(tir.CopyOp(memory, buffer))
        for op in func.body.block.ops:
            self.add(op)
        effects = [tir.Effect.READ] * len(func.args)
        effects += [tir.Effect.WRITE] * len(func.function_type.outputs)
        self.kernel = tir.FuncOp(
            func.sym_name.data,
            list(zip(effects, self.block.arg_types, strict=True)),
            Region(self.block),
        )

    def buffer(self, value: SSAValue) -> SSAValue:
        """New memory in the scratchpad for a tensor."""
        alloc = tir.AllocOp(buffer_type(value.type), memory=SRAM)
        self.block.add_op(alloc)
        return alloc.result

    def add(self, op: Operation) -> None:
        """What is in the place of an op."""
        if isinstance(op, ReturnOp):
            results = self.block.args[-len(op.operands) :]
            for value, memory in zip(op.operands, results, strict=True):
                self.block.add_op(tir.CopyOp(self.buffers[value], memory))
            self.block.add_op(tir.ReturnOp())
            return
        if isinstance(op, graph.ConstantOp):
            number: Any = cast("DenseIntOrFPElementsAttr", op.value).get_values()[0]
            element = cast("TensorType[Any]", op.result.type).element_type
            value = FloatAttr(float(number), element)
            compute = ComputeOp("fill", (), self.buffer(op.result), value=value)
        else:
            check(op)
            inputs = [self.buffers[value] for value in op.operands]
            axes = op.axes.get_values() if isinstance(op, graph.ReduceOp) else None
            output = self.buffer(op.results[0])
            compute = ComputeOp(KINDS[type(op)], inputs, output, axes=axes)
        self.block.add_op(compute)
        self.buffers[op.results[0]] = compute.output


@dataclass(frozen=True)
class ConvertGraphToToyNpuPass(FunctionLowering):
    name = "convert-graph-to-toy-npu"

    def lower_kernels(
        self, ctx: Context, module: ModuleOp, target: TargetAttr | None
    ) -> None:
        for func in tuple(module.body.block.ops):
            assert isinstance(func, FuncOp), "the module holds nothing else"
            module.body.block.insert_op_before(KernelBuilder(func).kernel, func)
            func.detach()
            func.erase()

"""
Lift large buffers of kernels into `scratch` arguments, for the plan of main to see.

A buffer of a kernel lives on the stack. One of more than `threshold` bytes, or of a
size that is not static, becomes an argument; each call passes memory that lives as long
as the call, which is planned together with all the other memory of main. A size that is
not static is computed from the sizes of the call's operands.

```mlir
tir.func @k(write %o: memref<4xf32>) {      tir.func @k(write %o: memref<4xf32>,
  %b = tir.alloc : memref<4096xf32>             scratch %b: memref<4096xf32>) {
  …                                           …
}                                      ==>  }
tir.call @k() outs(%d : …)                  %s = tir.alloc : memref<4096xf32>
                                            tir.call @k() outs(%d : …) scratch(%s : …)
```

Buffers inside loops that several threads run stay, as there each thread needs its own;
`tir-distribute-loops` has taken the large ones out. So do those of public kernels,
whose callers are not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    NoneAttr,
    TensorType,
)
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import tir
from transom.dialects.executor import element_bytes, static_bytes
from transom.dialects.tir import threads_of
from transom.dialects.walking import walk_ops

RUNS_ALONE = (scf.ForOp, scf.IfOp, scf.WhileOp)
"""Ops whose regions run one at a time."""


@dataclass(frozen=True)
class TirLiftScratchPass(ModulePass):
    name = "tir-lift-scratch"

    threshold: int = 4096
    """Buffers of a static size of up to so many bytes stay in the kernel."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        calls: dict[str, list[tir.CallOp]] = {}
        kernels: list[tir.FuncOp] = []
        for inner in walk_ops(op):
            if isinstance(inner, tir.CallOp):
                calls.setdefault(inner.callee_name, []).append(inner)
            elif isinstance(inner, tir.FuncOp) and not inner.is_declaration:
                kernels.append(inner)
        # A kernel that calls others gets their buffers, which are lifted in turn.
        work = kernels
        while work:
            changed: list[tir.FuncOp] = []
            for kernel in work:
                allocs = self.lifted(kernel)
                if not allocs:
                    continue
                for call in calls.pop(kernel.sym_name.data, []):
                    new = _pass_scratch(call, allocs)
                    calls.setdefault(new.callee_name, []).append(new)
                    caller = _kernel_around(new)
                    if caller is not None:
                        changed.append(caller)
                _make_arguments(kernel, allocs)
            work = changed

    def lifted(self, kernel: tir.FuncOp) -> list[tir.AllocOp]:
        """The buffers of a kernel that become arguments, in order."""
        if kernel.sym_visibility.data != "private":
            return []
        return [
            op
            for op in walk_ops(kernel)
            if isinstance(op, tir.AllocOp)
            and self._is_large(op)
            and all(is_known_at_calls(size, kernel) for size in op.dynamic_sizes)
            and _runs_alone(op, kernel)
        ]

    def _is_large(self, alloc: tir.AllocOp) -> bool:
        type = alloc.result.type
        if not isinstance(type.layout, NoneAttr):
            return False
        if element_bytes(type.element_type) is None:
            return False
        return not type.has_static_shape() or static_bytes(type) > self.threshold


def _runs_alone(op: Operation, kernel: tir.FuncOp) -> bool:
    """Whether no two executions of an op in one call of the kernel overlap."""
    around = op.parent_op()
    serial = threads_of(kernel) == 1
    while around is not kernel:
        if not isinstance(around, RUNS_ALONE) and not (
            serial and isinstance(around, scf.ParallelOp)
        ):
            return False
        around = around.parent_op()
    return True


def is_known_at_calls(value: SSAValue, kernel: tir.FuncOp) -> bool:
    """Whether index arithmetic depends on arguments and their sizes only."""
    if isinstance(value, BlockArgument):
        return value.block is kernel.body.blocks.first and value.type == IndexType()
    op = value.owner
    if isinstance(op, memref.DimOp):
        source = op.source
        return (
            isinstance(source, BlockArgument)
            and source.block is kernel.body.blocks.first
            and is_known_at_calls(op.index, kernel)
        )
    return (
        isinstance(op, Operation)
        and op.name.startswith("arith.")
        and all(is_known_at_calls(operand, kernel) for operand in op.operands)
    )


class SizesAtCall:
    """Index arithmetic of a kernel, done again in front of a call of it."""

    def __init__(self, call: tir.CallOp) -> None:
        self.operands = (*call.ins, *call.outs, *call.scratch)
        self.ops: list[Operation] = []
        self._values: dict[SSAValue, SSAValue] = {}

    def value(self, inner: SSAValue) -> SSAValue:
        """The value at the call of one that `is_known_at_calls`."""
        if isinstance(inner, BlockArgument):
            return self.operands[inner.index]
        if inner not in self._values:
            op = inner.owner
            assert isinstance(op, Operation), "no block argument"
            if isinstance(op, memref.DimOp):
                new = self._dim(op)
            else:
                new = op.clone(
                    {operand: self.value(operand) for operand in op.operands}
                )
            self.ops.append(new)
            self._values.update(zip(op.results, new.results, strict=True))
        return self._values[inner]

    def _dim(self, op: memref.DimOp) -> Operation:
        assert isinstance(op.source, BlockArgument), "is_known_at_calls() says so"
        source, index = self.operands[op.source.index], self.value(op.index)
        if isinstance(source.type, TensorType):
            return tensor.DimOp(source, index)
        return memref.DimOp(source, index)


def _kernel_around(call: tir.CallOp) -> tir.FuncOp | None:
    around = call.parent_op()
    while around is not None and not isinstance(around, tir.FuncOp):
        around = around.parent_op()
    return around


def _pass_scratch(call: tir.CallOp, allocs: Sequence[tir.AllocOp]) -> tir.CallOp:
    """Give a call the memory that its kernel does not have any more."""
    sizes = SizesAtCall(call)
    memory = [
        _like(alloc, [sizes.value(size) for size in alloc.dynamic_sizes])
        for alloc in allocs
    ]
    new = tir.CallOp(
        call.callee,
        call.ins,
        call.outs,
        [*call.scratch, *(alloc.result for alloc in memory)],
    )
    new.attributes = dict(call.attributes)
    for op in (*sizes.ops, *memory, new):
        op.location = call.location
    Rewriter.insert_op((*sizes.ops, *memory), InsertPoint.before(call))
    Rewriter.replace_op(call, new)
    return new


def _like(alloc: tir.AllocOp, sizes: Sequence[SSAValue]) -> tir.AllocOp:
    return tir.AllocOp.create(
        operands=sizes,
        properties=dict(alloc.properties),
        result_types=[alloc.result.type],
    )


def _make_arguments(kernel: tir.FuncOp, allocs: Sequence[tir.AllocOp]) -> None:
    """The kernel with its buffers as arguments."""
    block = kernel.body.blocks.first
    assert block is not None, "kernels without body have no buffers"
    for alloc in allocs:
        argument = block.insert_arg(alloc.result.type, len(block.args))
        argument.name_hint = alloc.result.name_hint
        argument.location = alloc.location
        alloc.result.replace_all_uses_with(argument)
        alloc.detach()
        alloc.erase()
    scratch = tir.EffectAttr(tir.Effect.SCRATCH)
    kernel.effects = ArrayAttr([*kernel.effects, *(scratch for _ in allocs)])
    kernel.function_type = FunctionType.from_lists(block.arg_types, [])
    if kernel.arg_attrs is not None:
        empty = [DictionaryAttr({})] * len(allocs)
        kernel.arg_attrs = ArrayAttr([*kernel.arg_attrs, *empty])

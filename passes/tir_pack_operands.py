"""
Copy the operands that schedules say are packed into the order in which loops read them.

A weight becomes a derived weight, an expression over the one that it was; it is made
once. Another operand is copied by a nest in front of the one that reads it.

```mlir
tir.nest dims [parallel 64, parallel 64, reduction 64]
    ins(%a[d0, d2] : …, %w[d2, d1] : memref<64x64xf32>) outs(%o[d0, d1] : …)
    schedule #tir.schedule<register = [d0 : 6, d1 : 16], vector = d1 : 8, pack = [in1]>
==>
tir.nest dims [parallel 64, parallel 64, reduction 64]
    ins(%a[d0, d2] : …, %p[d1 floordiv 16, d2, d1 mod 16] : memref<4x64x16xf32>) …
    schedule #tir.schedule<register = [d0 : 6, d1 : 16], vector = d1 : 8>
```

with `graph.weight @w.packed` as `%p`, or `%p` filled from `%w` by a nest. What does not
fill a tile is padded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    Region,
    SSAValue,
)
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from transom.dialects import graph, tir
from transom.dialects.diagnostics import OpError
from transom.dialects.symbols import fresh_symbol
from transom.dialects.tir.types import element_type_of
from transom.passes.kernel_weights import KernelWeights
from transom.passes.packed_forms import (
    PackedForm,
    Rearrangement,
    as_rearrangement,
    memref_shape,
    packed_form,
)
from transom.passes.rewrite_steps import may_rewrite


@dataclass(frozen=True)
class TirPackOperandsPass(ModulePass):
    name = "tir-pack-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        packer = _Packer(op)
        for kernel in op.body.block.ops:
            if isinstance(kernel, tir.FuncOp):
                packer.pack(kernel)


@dataclass
class _Packer:
    """Packs the operands of the kernels of a module."""

    module: ModuleOp
    kernel_weights: KernelWeights = field(init=False)
    weights: dict[tuple[str, Rearrangement], graph.WeightOp] = field(init=False)

    def __post_init__(self) -> None:
        self.kernel_weights = KernelWeights(self.module)
        self.weights = {}

    def pack(self, kernel: tir.FuncOp) -> None:
        for nest in [op for op in kernel.walk() if isinstance(op, tir.NestOp)]:
            schedule = nest.schedule
            if schedule is None or not schedule.packed_inputs:
                continue
            if not may_rewrite("pack operands", nest):
                continue
            for position in schedule.packed_inputs:
                form = packed_form(nest, position)
                if isinstance(form, str):
                    raise OpError(nest, form)
                if not self.derive(kernel, nest, position, form):
                    copy_before(nest, position, form)
            nest.schedule = schedule.without_packing()

    def derive(
        self, kernel: tir.FuncOp, nest: tir.NestOp, position: int, form: PackedForm
    ) -> bool:
        """Let the callers hand over a packed weight, if a weight is what they do."""
        argument = nest.ins[position]
        sources = self.kernel_weights.handed_over(kernel, argument)
        rearrangement = as_rearrangement(form, memref_shape(argument))
        if sources is None or rearrangement is None or not argument.has_one_use():
            return False
        pad = nest.in_accesses.data[position].pad
        if pad not in (None, zero_of(element_type_of(argument))):
            return False  # weights are filled up with zeros
        packed = self.kernel_weights.replace(
            kernel,
            argument,
            [self.packed(source, rearrangement) for source in sources],
            packed_type(argument, form),
        )
        read_packed(nest, position, form, packed)
        return True

    def packed(self, source: graph.WeightOp, how: Rearrangement) -> graph.WeightOp:
        """A weight in another order; the same one for all that want it so."""
        key = (source.sym_name.data, how)
        if key not in self.weights:
            name = fresh_symbol(self.module, f"{source.sym_name.data}.packed")
            body = Block()
            value = _insert(body, graph.WeightRefOp(source))
            if how.grouped != source.type.get_shape():
                value = _insert(body, graph.ReshapeOp(value, how.grouped))
            if how.padded != how.grouped:
                missing = [n - m for n, m in zip(how.padded, how.grouped, strict=True)]
                value = _insert(body, graph.PadOp(value, [0] * len(missing), missing))
            if how.split != how.padded:
                value = _insert(body, graph.ReshapeOp(value, how.split))
            if how.permutation != tuple(range(len(how.permutation))):
                value = _insert(body, graph.TransposeOp(value, how.permutation))
            body.add_op(graph.YieldOp(value))
            weight = graph.WeightOp(
                name, cast("TensorType[Attribute]", value.type), body=Region(body)
            )
            for op in weight.walk():
                op.location = source.location
            assert source.parent is not None, "weights are in the module"
            source.parent.insert_op_after(weight, source)
            self.weights[key] = weight
        return self.weights[key]


def _insert(block: Block, op: Operation) -> SSAValue:
    block.add_op(op)
    return op.results[0]


def packed_type(operand: SSAValue, form: PackedForm) -> MemRefType:
    """The type of an operand once it is packed, in the same memory."""
    old = cast("MemRefType[Attribute]", operand.type)
    return MemRefType(old.element_type, form.shape, memory_space=old.memory_space)


def read_packed(
    nest: tir.NestOp, position: int, form: PackedForm, packed: SSAValue
) -> None:
    """Let a nest read a packed operand."""
    accesses = list(nest.in_accesses)
    accesses[position] = form.access()
    nest.in_accesses = ArrayAttr(accesses)
    before = len(nest.bounds) + len(nest.symbols)
    nest.operands[before + position] = packed


def copy_before(nest: tir.NestOp, position: int, form: PackedForm) -> None:
    """Pack an operand by a nest in front of the one that reads it."""
    operand, access = nest.ins[position], nest.in_accesses.data[position]
    type = packed_type(operand, form)
    alloc = tir.AllocOp(type)
    pad = access.pad
    if pad is None and form.leaves(memref_shape(operand)):
        pad = zero_of(type.element_type)
    copy = tir.NestOp.build_nest(
        [("parallel", size) for size in form.shape],
        ins=[tir.In(operand, form.source, pad)],
        outs=[tir.Out(alloc.result, AffineMap.identity(len(form.shape)))],
        finish=lambda b, x: [x],
        schedule=copy_schedule(nest, form),
    )
    for op in (alloc, copy):
        op.location = nest.location
    assert nest.parent is not None, "nests are in kernels"
    nest.parent.insert_ops_before([alloc, copy], nest)
    read_packed(nest, position, form, alloc.result)


def copy_schedule(nest: tir.NestOp, form: PackedForm) -> tir.ScheduleAttr | None:
    """Vectors as wide as those of the nest, along what is contiguous in the operand."""
    assert nest.schedule is not None, "the nest has a schedule"
    vector, last = nest.schedule.vector_dim, form.axes[-1]
    if vector is None or last.dim != vector[0] or last.size % vector[1]:
        return None
    lanes = len(form.axes) - 1
    return tir.ScheduleAttr.get(vector=(lanes, vector[1]), register={lanes: last.size})


def zero_of(type: Attribute) -> Attribute:
    if isinstance(type, AnyFloat):
        return FloatAttr(0.0, type)
    return IntegerAttr(0, cast("IntegerType | IndexType", type))

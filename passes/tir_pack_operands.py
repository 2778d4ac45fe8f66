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

Inputs that a schedule says are widened are copied in the type that the nest extends
them to, in the same order if they are not packed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
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
from transom.dialects.tir import affine
from transom.dialects.tir.steps import Step, step_along
from transom.dialects.tir.types import element_type_of, memref_type_of
from transom.passes.kernel_weights import KernelWeights
from transom.passes.packed_forms import (
    PackedForm,
    Rearrangement,
    as_rearrangement,
    memref_shape,
    packed_form,
)
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.widened_inputs import let_read_widened, widened_type


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
    weights: dict[tuple[str, Rearrangement, Attribute], graph.WeightOp] = field(
        init=False
    )

    def __post_init__(self) -> None:
        self.kernel_weights = KernelWeights(self.module)
        self.weights = {}

    def pack(self, kernel: tir.FuncOp) -> None:
        for nest in [op for op in kernel.walk() if isinstance(op, tir.NestOp)]:
            schedule = nest.schedule
            if schedule is None:
                continue
            packed, widened = schedule.packed_inputs, schedule.widened_inputs
            copied = sorted({*packed, *widened})
            if not copied or not may_rewrite("pack operands", nest):
                continue
            for position in copied:
                if nest.ins[position] in nest.outs:
                    what = f"expected 'in{position}' to be no output, to copy it"
                    raise OpError(nest, what)
                type = element_type_of(nest.ins[position])
                if position in widened:
                    type = checked_widened_type(nest, position)
                if position in packed:
                    self.pack_input(kernel, nest, position, type)
                else:
                    copy_as_it_lies(nest, position, type)
                if position in widened:
                    let_read_widened(nest, position, type)
            nest.schedule = schedule.without_copies()

    def pack_input(
        self, kernel: tir.FuncOp, nest: tir.NestOp, position: int, type: Attribute
    ) -> None:
        """Pack an input of a nest, as elements of a type."""
        form = packed_form(nest, position)
        if isinstance(form, str):
            raise OpError(nest, form)
        if not form.is_static:
            copy_points_before(nest, position, form, type)
        elif not self.derive(kernel, nest, position, form, type):
            copy_before(nest, position, form, type)

    def derive(
        self,
        kernel: tir.FuncOp,
        nest: tir.NestOp,
        position: int,
        form: PackedForm,
        type: Attribute,
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
            [self.packed(source, rearrangement, type) for source in sources],
            copied_type(argument, form.shape, type),
        )
        read_packed(nest, position, form, packed)
        return True

    def packed(
        self, source: graph.WeightOp, how: Rearrangement, type: Attribute
    ) -> graph.WeightOp:
        """
        A weight in another order, of elements of a type; the same one for all that want
        it so.
        """
        key = (source.sym_name.data, how, type)
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
            if isinstance(type, AnyFloat) and type != source.type.element_type:
                value = _insert(body, graph.CastOp(value, type))
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


def checked_widened_type(nest: tir.NestOp, position: int) -> Attribute:
    """The type that an input is widened to."""
    type = widened_type(nest, position)
    if type is None:
        raise OpError(
            nest, f"expected all uses of 'in{position}' to extend it, to widen it"
        )
    return type


def copied_type(operand: SSAValue, shape: Sequence[int], type: Attribute) -> MemRefType:
    """The type of the copy of an operand, in the same memory."""
    return MemRefType(type, shape, memory_space=memref_type_of(operand).memory_space)


def read_packed(
    nest: tir.NestOp, position: int, form: PackedForm, packed: SSAValue
) -> None:
    """Let a nest read a packed operand."""
    accesses = list(nest.in_accesses)
    accesses[position] = form.access()
    nest.in_accesses = ArrayAttr(accesses)
    before = len(nest.bounds) + len(nest.symbols)
    nest.operands[before + position] = packed


def copy_before(
    nest: tir.NestOp, position: int, form: PackedForm, type: Attribute
) -> None:
    """Pack an operand by a nest in front of the one that reads it."""
    operand, access = nest.ins[position], nest.in_accesses.data[position]
    pad = access.pad
    if pad is None and form.leaves(memref_shape(operand)):
        pad = zero_of(element_type_of(operand))
    source, schedule = tir.In(operand, form.source, pad), copy_schedule(nest, form)
    read_packed(
        nest, position, form, insert_copy(nest, source, form.shape, type, schedule)
    )


def copy_points_before(
    nest: tir.NestOp, position: int, form: PackedForm, type: Attribute
) -> None:
    """
    Pack an operand of which it is not known how many tiles it has, point by point: what
    does not fill the last tile is neither written nor read.
    """
    operand, access = nest.ins[position], nest.in_accesses.data[position]
    read = form.access()
    assert access.map is not None and read.map is not None, "no access is indirect"
    # The points in the order of the tiles.
    dims = list(dict.fromkeys(axis.dim for axis in form.axes))
    dims += sorted(access.map.used_dims() - set(dims))
    by = [affine.as_expr(0)] * nest.rank
    for number, dim in enumerate(dims):
        by[dim] = affine.dim(number)

    def over_points(map: AffineMap) -> AffineMap:
        moved = tuple(affine.substitute(expr, by) for expr in map.results)
        return AffineMap(len(dims), 0, moved)

    bounds = nest.bounds_values()
    tiles = [
        tiles_before(nest, bound, axis.step)
        for axis in form.axes
        if axis.size == DYNAMIC_INDEX and not isinstance(bound := bounds[axis.dim], int)
    ]
    source = tir.In(operand, over_points(access.map), access.pad)
    points = Points([bounds[dim] for dim in dims], over_points(read.map), tiles)
    schedule = points_schedule(nest, source, dims)
    copy = insert_copy(nest, source, form.shape, type, schedule, points)
    read_packed(nest, position, form, copy)


def tiles_before(nest: tir.NestOp, bound: SSAValue, size: int) -> SSAValue:
    """How many tiles of a size so many points need."""
    if size == 1:
        return bound
    more = arith.ConstantOp(IntegerAttr(size - 1, IndexType()))
    by = arith.ConstantOp(IntegerAttr(size, IndexType()))
    total = arith.AddiOp(bound, more.result)
    count = arith.DivUIOp(total.result, by.result)
    for op in (more, by, total, count):
        op.location = nest.location
    assert nest.parent is not None, "nests are in kernels"
    nest.parent.insert_ops_before([more, by, total, count], nest)
    return count.result


def points_schedule(
    nest: tir.NestOp, source: tir.In, dims: Sequence[int]
) -> tir.ScheduleAttr | None:
    """Vectors along the lanes of the nest, in squares if they lie apart."""
    assert nest.schedule is not None, "the nest has a schedule"
    vector = nest.schedule.vector_dim
    if vector is None or vector[0] not in dims:
        return None
    lanes, width = dims.index(vector[0]), vector[1]
    register: dict[int, int] = {}
    access = tir.AccessAttr(cast("AffineMap", source.map))
    for dim in range(len(dims)):
        step = step_along(access, memref_type_of(source.value), dim)
        if dim != lanes and step is Step.CONTIGUOUS:
            register = {lanes: width, dim: width}
    return tir.ScheduleAttr.get(vector=(lanes, width), register=register)


def copy_as_it_lies(nest: tir.NestOp, position: int, type: Attribute) -> None:
    """Copy an operand in front of the nest that reads it, as elements of a type."""
    operand = nest.ins[position]
    shape = memref_shape(operand)
    if DYNAMIC_INDEX in shape:
        raise OpError(
            nest,
            f"expected a static shape to widen 'in{position}', but got "
            f"'{operand.type}'",
        )
    vector = None if nest.schedule is None else nest.schedule.vector_dim
    schedule = None
    if vector is not None and shape:
        schedule = tir.ScheduleAttr.get(vector=(len(shape) - 1, vector[1]))
    source = tir.In(operand, AffineMap.identity(len(shape)))
    copy = insert_copy(nest, source, shape, type, schedule)
    nest.operands[len(nest.bounds) + len(nest.symbols) + position] = copy


@dataclass(frozen=True)
class Points:
    """What a copy is filled by, if it is not all that it holds."""

    bounds: Sequence[int | SSAValue]
    to: AffineMap
    sizes: Sequence[SSAValue]
    """The sizes of the copy that are not known."""


def insert_copy(
    nest: tir.NestOp,
    source: tir.In,
    shape: Sequence[int],
    type: Attribute,
    schedule: tir.ScheduleAttr | None,
    points: Points | None = None,
) -> SSAValue:
    """A new buffer, filled in front of a nest."""
    if points is None:
        points = Points(shape, AffineMap.identity(len(shape)), ())
    alloc = tir.AllocOp(copied_type(source.value, shape, type), points.sizes)

    def converted(b: tir.RegionBuilder, value: SSAValue) -> list[SSAValue]:
        if isinstance(type, AnyFloat) and value.type != type:
            return [b(arith.ExtFOp(value, type))]
        return [value]

    copy = tir.NestOp.build_nest(
        [("parallel", bound) for bound in points.bounds],
        ins=[source],
        outs=[tir.Out(alloc.result, points.to)],
        finish=converted,
        schedule=schedule,
    )
    for op in (alloc, copy):
        op.location = nest.location
    assert nest.parent is not None, "nests are in kernels"
    nest.parent.insert_ops_before([alloc, copy], nest)
    return alloc.result


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

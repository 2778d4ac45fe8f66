"""
Group `linalg` ops on tensors into kernels: each becomes a part of a `graph.fused`.

In a file of another compiler each op fills or updates a tensor by itself. An
element-wise op joins the product, convolution, pool or reduction that it follows, as
graph ops do in `graph-fuse`; a reduction and the ops on the same rows make one group. A
fill goes with the op that it is for, and constants and `tensor.empty` with those that
use them. From here on a group is lowered as one of graph ops is.

```mlir
%f = linalg.fill ins(%zero …) outs(%e …)      %y = graph.fused (%a = %x, %b = %w) … {
%m = linalg.matmul ins(%x, %w …) outs(%f …)     … linalg.fill …
%y = linalg.generic {…} ins(%m …) …      ==>    … linalg.matmul …
                                                … linalg.generic …
                                              }
```
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ShapedType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from transom.dialects import graph, linalg
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.shapes import DYNAMIC, Dim, DimOf
from transom.dialects.graph.sizes import Sizes, SizeTable
from transom.dialects.linalg import Structure
from transom.dialects.linalg.padding import padding_of
from transom.dialects.tir.canonicalization import constant_index
from transom.passes.dependence_graph import Group
from transom.passes.function_pass import FunctionPass
from transom.passes.graph_fuse import BlockFuser, Kind, Shape, blocks_outside_kernels
from transom.passes.op_groups import group_ops, outer_operands


@dataclass(frozen=True)
class LoopShape(Shape):
    """What a group of structured ops computes, over the points of its loops."""

    def has_row_of(self, sizes: Sizes) -> bool:
        """Whether a value has one element per row: without the dims along the row."""
        kept = [size for axis, size in enumerate(self.space) if axis not in self.axes]
        return list(sizes) == kept or super().has_row_of(sizes)


def is_copied(op: object) -> bool:
    """Whether an op goes with each of its readers, since it costs nothing."""
    if isinstance(op, arith.ConstantOp):
        return not isinstance(op.result.type, ShapedType)
    return isinstance(op, tensor.EmptyOp)


def is_computed(op: Operation) -> bool:
    """Whether an op on tensors is one that kernels are made of."""
    return linalg.is_on_tensors(op) or isinstance(op, tensor.PadOp)


def is_identity(map: AffineMap) -> bool:
    return map == AffineMap.identity(map.num_dims)


def is_projection(map: AffineMap) -> bool:
    """Whether the results are dims in order, some of which may be left out."""
    dims = [e.position for e in map.results if isinstance(e, AffineDimExpr)]
    return len(dims) == len(map.results) and dims == sorted(set(dims))


class DestinationSizes(SizeTable):
    """Sizes of tensors that ops in destination-passing style make as well."""

    def _dynamic(self, value: SSAValue, type: AnyTensor) -> Iterator[Dim]:
        owner = value.owner
        if isinstance(owner, tensor.EmptyOp):
            dynamic = iter(owner.dynamic_sizes)
            for size in type.get_shape():
                yield size if size != DYNAMIC else self._number(next(dynamic))
        elif isinstance(owner, Operation) and (structure := linalg.structure_of(owner)):
            yield from self.sizes(structure.outputs[owner.results.index(value)])
        else:
            yield from super()._dynamic(value, type)

    def _number(self, value: SSAValue) -> Dim:
        """A size that a value of main says."""
        owner = value.owner
        if isinstance(owner, tensor.DimOp):
            axis = constant_index(owner.index)
            if axis is not None:
                return self.sizes(owner.source)[axis]
        return DimOf(self._root(value), 0)


class LinalgFuser(BlockFuser):
    """The groups of structured ops of one block."""

    def classify(self, op: Operation) -> Shape | None:
        if isinstance(op, tensor.PadOp):
            return LoopShape(Kind.INJECTIVE, self.table.sizes(op.result))
        structure = linalg.structure_of(op)
        if structure is None or not structure.on_tensors:
            return None
        space = self._space(structure)
        reduced = structure.loops(linalg.REDUCTION)
        count = len(structure.inputs)
        ins, outs = structure.maps[:count], structure.maps[count:]
        read = [map for number, map in enumerate(ins) if structure.reads(number)]
        if not reduced:
            pointwise = all(map(is_projection, read)) and all(map(is_identity, outs))
            kind = Kind.ELEMENTWISE if pointwise else Kind.INJECTIVE
            sizes = space if pointwise else self.table.sizes(op.results[0])
            return LoopShape(kind, sizes)
        kept = [dim for dim in range(structure.rank) if dim not in reduced]
        rows = AffineMap(structure.rank, 0, tuple(map(AffineDimExpr, kept)))
        if all(map(is_identity, read)) and all(out == rows for out in outs):
            return LoopShape(Kind.ROWS, space, frozenset(reduced))
        return LoopShape(Kind.CONTRACTION, self.table.sizes(op.results[0]))

    def _space(self, structure: Structure) -> Sizes:
        """The sizes of the loops."""
        sizes = {
            loop: self.table.sizes(structure.operands[operand])[axis]
            for loop, operand, axis in structure.extents()
        }
        return tuple(sizes[loop] for loop in range(structure.rank))

    def joined(
        self, value: OpResult, producer: Shape, consumer: Shape, inside: bool
    ) -> Shape | None:
        reader = value.get_user_of_unique_use()
        structure = None if reader is None else linalg.structure_of(reader)
        if structure is not None:
            if isinstance(value.op, linalg.FillOp) and value in structure.outputs:
                return consumer
            if isinstance(value.op, tensor.PadOp) and padding_of(value.op) is not None:
                return consumer  # the border costs no copy
        return super().joined(value, producer, consumer, inside)

    def is_kernel(self, group: Group) -> bool:
        return any(is_computed(op) for op in group.ops)

    def reads_points(self, op: Operation, value: SSAValue) -> bool:
        structure = linalg.structure_of(op)
        if structure is None:
            return False
        reduced = bool(structure.loops(linalg.REDUCTION))
        return all(
            is_identity(map) and not reduced if number < len(structure.inputs) else True
            for number, (operand, map) in enumerate(
                zip(structure.operands, structure.maps, strict=True)
            )
            if operand is value
        )

    def outline(self, ops: Sequence[Operation]) -> None:
        group_ops(ops, graph.FusedOp, copied=copied_by(ops))


def copied_by(ops: Sequence[Operation]) -> list[Operation]:
    """What goes with some ops, each after what it needs itself."""
    found: dict[Operation, None] = {}

    def add(value: SSAValue) -> None:
        owner = value.owner
        if is_copied(owner):
            assert isinstance(owner, Operation), "is_copied() says so"
            for operand in owner.operands:
                add(operand)
            found.setdefault(owner)

    for op in ops:
        for operand in outer_operands(op):
            add(operand)
    return list(found)


def separate_fills(block: Block) -> None:
    """Give each op that updates what a fill has made a fill of its own."""
    for fill in [op for op in block.ops if isinstance(op, linalg.FillOp)]:
        for result in fill.results:
            for use in list(result.uses)[1:]:
                copy = fill.clone()
                block.insert_op_after(copy, fill)
                use.operation.operands[use.index] = copy.results[0]


def blocks_with_linalg(func: FuncOp) -> Iterator[Block]:
    for block in blocks_outside_kernels(func):
        if any(is_computed(op) for op in block.ops):
            yield block


@dataclass(frozen=True)
class LinalgGroupKernelsPass(FunctionPass):
    name = "linalg-group-kernels"

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        table = DestinationSizes()
        for block in blocks_with_linalg(func):
            separate_fills(block)
            LinalgFuser(block, table).fuse()

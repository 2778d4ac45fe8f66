"""
What the patterns of graph ops share: sizes, result buffers and nests at one op.
"""

from collections.abc import Sequence
from typing import TypeVar, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from transom.dialects import graph, tir
from transom.dialects.graph.shapes import DYNAMIC, Dim
from transom.dialects.tir.nest_builder import RegionCallback
from transom.lowering.conversion import (
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.conversion.pattern import RefusalError
from transom.lowering.graph_to_tir.physical import PhysicalNest
from transom.lowering.graph_to_tir.scalars import signless
from transom.lowering.graph_to_tir.stored import Stored, fill_border
from transom.lowering.size_checks import result_dims_of
from transom.lowering.sizes import Size, reify

OpT = TypeVar("OpT", bound=Operation)


def kernel_type(type: Attribute) -> MemRefType | Refusal | None:
    """
    The memref that holds a tensor in a kernel: of the extents that its layout says,
    row-major, of the signless element type.
    """
    if not isinstance(type, TensorType):
        return None
    tensor = cast("TensorType[Attribute]", type)
    if (reason := graph.why_not_physical(tensor)) is not None:
        return Refusal(reason)
    shape = graph.physical_type(tensor).get_shape()
    return MemRefType(signless(tensor.element_type), shape)


class Site:
    """
    Where one op is converted: its operands as memrefs, and what to build there.

    Patterns think of tensors: sizes, and the accesses of nests, are those of the graph.
    How a layout stores them is known here alone.
    """

    def __init__(
        self, op: graph.GraphOp, operands: Operands, rewriter: ConversionRewriter
    ) -> None:
        self.op = op
        self.ins: tuple[SSAValue, ...] = tuple(operands)
        self.rewriter = rewriter
        self.stored: dict[SSAValue, Stored] = {}
        """The buffers of tensors that have a layout."""
        for value, operand in zip(self.ins, op.operands, strict=True):
            self._store(value, operand)

    def _store(self, buffer: SSAValue, tensor: SSAValue) -> None:
        type = cast("TensorType[Attribute]", tensor.type)
        layout = graph.layout_of(type)
        if layout is not None:
            self.stored[buffer] = Stored(layout, type.get_shape())

    def __call__(self, op: Operation) -> SSAValue:
        """Insert an op and give its first result."""
        return self.rewriter.insert(op).results[0]

    def element(self, operand: int) -> Attribute:
        """The element type of an operand, as the graph says it."""
        return cast(
            "TensorType[Attribute]", self.op.operands[operand].type
        ).element_type

    def shape(self, operand: int) -> tuple[int, ...]:
        """The shape of an operand's type."""
        return cast("TensorType[Attribute]", self.op.operands[operand].type).get_shape()

    def result_element(self, result: int = 0) -> Attribute:
        """The element type of a result, as the graph says it."""
        return cast("TensorType[Attribute]", self.op.results[result].type).element_type

    def constant(self, value: int) -> SSAValue:
        """An index."""
        return self(arith.ConstantOp(IntegerAttr(value, IndexType())))

    def value_of(self, size: Size) -> SSAValue:
        """A size as a value."""
        return self.constant(size) if isinstance(size, int) else size

    def dim(self, buffer: SSAValue, axis: int) -> Size:
        """The size of one dimension of a buffer's tensor; -1 is the last."""
        shape = self._shape_of(buffer)
        axis %= len(shape)
        size = shape[axis]
        if size != DYNAMIC:
            return size
        return self(memref.DimOp(buffer, self.constant(axis)))

    def sizes(self, buffer: SSAValue) -> list[Size]:
        """The sizes of a buffer's tensor."""
        return [self.dim(buffer, axis) for axis in range(len(self._shape_of(buffer)))]

    def _shape_of(self, buffer: SSAValue) -> tuple[int, ...]:
        if (stored := self.stored.get(buffer)) is not None:
            return stored.shape
        return cast("MemRefType[Attribute]", buffer.type).get_shape()

    def size(self, dim: Dim) -> Size:
        """What a size of the op is at run time."""
        return reify(dim, lambda operand, axis: self.dim(self.ins[operand], axis), self)

    def temporary(self, sizes: Sequence[Size], element: Attribute) -> SSAValue:
        """A buffer of these sizes."""
        shape = [size if isinstance(size, int) else DYNAMIC for size in sizes]
        return self._alloc(MemRefType(element, shape), sizes)

    def alloc(self, sizes: Sequence[Size] | None = None, result: int = 0) -> SSAValue:
        """The buffer of a result, whose sizes are `result_sizes`."""
        type = kernel_type(self.op.results[result].type)
        if isinstance(type, Refusal):
            raise RefusalError(type)
        assert type is not None, "results are tensors"
        if sizes is None:
            sizes = self.result_sizes(result)
        buffer = self._alloc(type, sizes)
        self._store(buffer, self.op.results[result])
        if (stored := self.stored.get(buffer)) is not None:
            fill_border(self.rewriter.insert, buffer, stored, sizes)
        return buffer

    def _alloc(self, type: MemRefType, sizes: Sequence[Size]) -> SSAValue:
        # Behind the tensor's sizes are those of blocks, which are known.
        dynamic = [
            self.value_of(size)
            for size, declared in zip(sizes, type.get_shape(), strict=False)
            if declared == DYNAMIC
        ]
        return self(tir.AllocOp(type, dynamic))

    def result_sizes(self, result: int = 0) -> list[Size]:
        """The sizes of a result; what its type says goes before what is inferred."""
        declared = cast(
            "TensorType[Attribute]", self.op.results[result].type
        ).get_shape()
        if DYNAMIC not in declared:
            return list(declared)
        return [
            declared_size if declared_size != DYNAMIC else self.size(dim)
            for declared_size, dim in zip(
                declared, result_dims_of(self.op)[result], strict=True
            )
        ]

    def nest(
        self,
        dims: Sequence[tuple[str, Size]],
        *,
        ins: Sequence[tir.In] = (),
        outs: Sequence[tir.Out],
        finish: RegionCallback,
        init: RegionCallback | None = None,
        body: RegionCallback | None = None,
        symbols: Sequence[SSAValue] = (),
        pads_are_neutral: bool = False,
    ) -> None:
        """
        Insert a nest (`tir.NestOp.build_nest`) on tensors, whatever their layouts.

        `pads_are_neutral` says that accumulators stay what they are where an input
        reads 0, and the others any number.
        """
        physical = PhysicalNest(
            self.stored, dims, ins, outs, len(symbols), pads_are_neutral
        )
        physical.insert(
            self.rewriter.insert,
            symbols,
            self.sizes,
            init=init,
            body=body,
            finish=finish,
        )

    def done(self, *results: SSAValue) -> None:
        """Put buffers in the place of the op's results."""
        self.rewriter.replace(self.op, (), results)


class Symbols:
    """The `at` operands of a nest that is being built, as expressions."""

    def __init__(self) -> None:
        self.values: list[SSAValue] = []

    def __call__(self, value: Size) -> AffineExpr:
        """A size or index in a map."""
        if isinstance(value, int):
            return AffineExpr.constant(value)
        if value not in self.values:
            self.values.append(value)
        return AffineExpr.symbol(self.values.index(value))


def indices(rank: int, symbols: int, exprs: Sequence[AffineExpr]) -> AffineMap:
    """The access with these indices, of a nest of so many dims and symbols."""
    return tir.affine.normalize_map(AffineMap(rank, symbols, tuple(exprs)))


def dims(count: int, start: int = 0) -> list[AffineExpr]:
    """So many dims of a nest, from one on."""
    return [AffineExpr.dimension(i) for i in range(start, start + count)]


def parallel(sizes: Sequence[Size]) -> list[tuple[str, Size]]:
    """Parallel dims of a nest."""
    return [("parallel", size) for size in sizes]


def refuse(reason: str) -> RefusalError:
    """A refusal to raise."""
    return RefusalError(Refusal(reason))

"""
How buffers hold tensors that have a layout: places, borders, and the rest of blocks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from transom.dialects import graph, tir
from transom.dialects.tir import affine
from transom.lowering.sizes import Size

Insert = Callable[[Operation], Any]
"""Inserts an op."""


@dataclass(frozen=True)
class Stored:
    """How a buffer holds a tensor."""

    layout: graph.LayoutAttr
    shape: tuple[int, ...]
    """That of the tensor."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """The block size of each dimension of the tensor."""
        return self.layout.blocks(len(self.shape))

    @property
    def borders(self) -> tuple[int, ...]:
        """The border of each dimension of the tensor."""
        return self.layout.borders(len(self.shape))

    def place(self, exprs: Sequence[AffineExpr]) -> list[AffineExpr]:
        """The indices into the buffer of those into the tensor."""
        outer: list[AffineExpr] = []
        inner: list[AffineExpr] = []
        for expr, block, border in zip(exprs, self.blocks, self.borders, strict=True):
            outer.append(affine.floordiv(affine.add(expr, border), block))
            if block > 1:
                inner.append(affine.modulo(expr, block))
        return outer + inner

    def inside(self, axis: int) -> int:
        """The index of the buffer that is the place in a block along a dimension."""
        return len(self.shape) + sum(1 for block in self.blocks[:axis] if block > 1)

    def rest(self, axis: int) -> int:
        """How many places of the last block along a dimension hold nothing."""
        return -self.shape[axis] % self.blocks[axis]


def number(value: float, type: Attribute) -> Attribute:
    """A number as an attribute of an element type of memrefs."""
    if isinstance(type, AnyFloat):
        return FloatAttr(value, type)
    return IntegerAttr(int(value), cast("Any", type))


def element_of(buffer: SSAValue) -> Attribute:
    """What a buffer holds."""
    return cast("MemRefType[Attribute]", buffer.type).element_type


def fill_border(
    insert: Insert,
    buffer: SSAValue,
    stored: Stored,
    sizes: Sequence[Size],
) -> None:
    """
    Nests that fill the border of a new buffer, of a tensor of these sizes.
    """
    around = [(b, n, b) for b, n in zip(stored.borders, stored.shape, strict=True)]
    for part in frame(extents_of(buffer, sizes), around):
        part.fill(insert, buffer, stored)


def frame(
    extents: Sequence[Size], around: Sequence[tuple[int, int, int]]
) -> Iterator["Part"]:
    """
    What is around a box in something of these extents: along each of the first
    dimensions so much before it, inside of it, and behind it. What is inside has to be
    known where there is anything around.

    Each is a part before or behind the box along one dimension: as wide as the whole
    along later dimensions, as the box along earlier ones.
    """
    extents, starts = list(extents), [0] * len(extents)
    for axis, (before, inside, behind) in enumerate(around):
        for start, extent in ((0, before), (before + inside, behind)):
            if extent:
                part = Part([*extents], [*starts])
                part.limit(axis, start, extent)
                yield part
        if before or behind:
            extents[axis], starts[axis] = inside, before


def fill_rest(
    insert: Insert,
    buffer: SSAValue,
    stored: Stored,
    sizes: Sequence[Size],
    axis: int,
) -> None:
    """A nest that fills the rest of the last block along a dimension of a tensor."""
    extents = extents_of(buffer, sizes)
    part = Part(extents, [0] * len(extents))
    count, rest = stored.blocks[axis], stored.rest(axis)
    part.limit(axis, stored.shape[axis] // count, 1)
    part.limit(stored.inside(axis), count - rest, rest)
    part.fill(insert, buffer, stored)


def extents_of(buffer: SSAValue, sizes: Sequence[Size]) -> list[Size]:
    """The extents of the buffer of a tensor of these sizes."""
    shape = cast("MemRefType[Attribute]", buffer.type).get_shape()
    return [sizes[axis] if size < 0 else size for axis, size in enumerate(shape)]


@dataclass
class Part:
    """A box in a buffer."""

    extents: list[Size]
    starts: list[int]

    def limit(self, axis: int, start: int, extent: int) -> None:
        """Take a range along an axis."""
        self.extents[axis], self.starts[axis] = extent, start

    @property
    def indices(self) -> tuple[AffineExpr, ...]:
        """Of its elements, by dims that count from 0."""
        return tuple(affine.add(affine.dim(i), s) for i, s in enumerate(self.starts))

    def fill(self, insert: Insert, buffer: SSAValue, stored: Stored) -> None:
        """Insert a nest that writes the layout's fill here."""
        fill, element = stored.layout.fill_value, element_of(buffer)
        exprs = self.indices
        insert(
            tir.NestOp.build_nest(
                [("parallel", extent) for extent in self.extents],
                outs=[tir.Out(buffer, AffineMap(len(exprs), 0, exprs))],
                finish=lambda b: [b.constant(fill, element)],
            )
        )


def without_border(
    insert: Insert, buffer: SSAValue, stored: Stored
) -> tuple[SSAValue, Stored]:
    """A view of a buffer without the border of its layout."""
    type = cast("MemRefType[Attribute]", buffer.type)
    rank = type.get_num_dims()
    borders = (*stored.borders, *(0,) * (rank - len(stored.shape)))
    sizes: list[int | SSAValue] = [
        size - 2 * border
        for size, border in zip(type.get_shape(), borders, strict=True)
    ]
    view_type = memref.SubviewOp.infer_result_type(type, borders, sizes, [1] * rank)
    view = memref.SubviewOp.get(buffer, borders, sizes, [1] * rank, view_type)
    insert(view)
    plain = graph.LayoutAttr.get(
        stored.layout.block.get_values(), (), stored.layout.fill_value
    )
    return view.results[0], Stored(plain, stored.shape)

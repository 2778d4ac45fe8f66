"""
Choose how images lie in memory: channels in blocks that a vector register holds, with
borders for the windows of convolutions.

Convolutions ask for blocks; element-wise ops, pools and concatenations on what they
compute keep them, and the border of a value is as wide as its widest reader pads. A
`graph.relayout` stands where a value comes from or goes to an op that knows no blocks,
and where the result of an element-wise op gets a border.

```mlir
%y = graph.conv2d %x, %w … padding [1, 1, 1, 1]  ==>
%x_1 = graph.relayout %x : … -> tensor<1x64x56x56xf32, …block = [1, 8], border = [1, 1]>
%y_1 = graph.conv2d %x_1, %w … : … -> tensor<1x64x56x56xf32, …block = [1, 8]>
%y = graph.relayout %y_1 : …
```

`vector-bytes` says how much a vector register holds; with 0 nothing is changed. Images
are of floats, bytes or i32, of rank 4, and of known channels, rows and columns. Borders
hold what the windows are padded with. A convolution whose
channels, or those of its groups, make no whole blocks stays as it is, unless little of
a last block is left over; one of each channel by itself keeps blocks, but asks for
none. Values that have a layout are left alone, and so are ops on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    LocationAttr,
    TensorType,
    UnknownLoc,
    i8,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from transom.dialects import graph
from transom.dialects.graph.desc import AnyTensor
from transom.dialects.graph.elements import ui8
from transom.dialects.graph.shapes import DYNAMIC, same
from transom.dialects.target import Range
from transom.passes.function_pass import FunctionPass
from transom.passes.graph_fuse import blocks_outside_kernels
from transom.passes.rewrite_steps import may_rewrite
from transom.passes.statistics import Statistic

Border = tuple[int, int]

MAX_WASTE = 1.25
"""How much larger than its channels the blocks of a value may be."""

LARGE_WINDOW = 5
"""Rows and columns of windows that a relayout pays for, where channels do not meet."""

CHOSEN = Statistic("layouts", "values that got a layout")
RELAYOUTS = Statistic("relayouts", "changes of the layout of a value")


@dataclass(frozen=True)
class GraphChooseLayoutsPass(FunctionPass):
    name = "graph-choose-layouts"
    statistics: ClassVar[tuple[Statistic, ...]] = (CHOSEN, RELAYOUTS)

    vector_bytes: int = 0

    def __post_init__(self) -> None:
        limits = Range(4, 256, power_of_two=True, or_zero=True)
        limits.verify("vector-bytes", self.vector_bytes)

    def apply_to(self, ctx: Context, func: FuncOp) -> None:
        lanes = self.vector_bytes // 4  # sums are of f32 or wider
        if lanes < 2:
            return
        for block in blocks_outside_kernels(func):
            BlockLayouts(block, lanes).apply()


def is_image(value: SSAValue) -> bool:
    """Whether a value is of a type that may get a layout."""
    type: Attribute = value.type
    if not isinstance(type, TensorType):
        return False
    tensor = cast(AnyTensor, type)
    return (
        tensor.get_num_dims() == 4
        and DYNAMIC not in tensor.get_shape()[1:]
        and (
            isinstance(tensor.element_type, AnyFloat)
            or tensor.element_type in (i8, ui8, i32)
        )
        and graph.layout_of(tensor) is None
    )


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor."""
    return cast(AnyTensor, value.type).get_shape()


@dataclass
class Image:
    """What is chosen for a value; `border` is the widest padding of its readers."""

    is_blocked: bool = False
    border: Border = (0, 0)
    fill: int = 0
    """What the border holds."""


class BlockLayouts:
    """The layouts of the values of one block."""

    def __init__(self, block: Block, lanes: int) -> None:
        self.block = block
        self.lanes = lanes
        self.flat = graph.LayoutAttr.get((1, lanes))
        """Blocks without a border, in which element-wise ops compute."""
        self.images: dict[SSAValue, Image] = {}
        self.versions: dict[tuple[SSAValue, graph.LayoutAttr | None], SSAValue] = {}
        """Values in other layouts, for all readers."""

    def apply(self) -> None:
        """Find the layouts, and rewrite the block."""
        chosen = [op for op in self.block.ops if self._choose(op)]
        for op in chosen:
            if isinstance(op, graph.Conv2dOp | graph.AvgPool2dOp):
                fill = op.fill.value.data if isinstance(op, graph.Conv2dOp) else 0
                self._widen_border(op.input, op.padding.get_values(), fill)
        self._share_borders([op for op in chosen if isinstance(op, graph.ConcatOp)])
        if chosen:
            rewritten = set(chosen)
            for op in tuple(self.block.ops):
                if op in rewritten:
                    self._rewrite(op)
                else:
                    self._leave(op)

    # What is in blocks.

    def _choose(self, op: Operation) -> bool:
        """Whether the result of an op gets blocks."""
        if not self._keeps_blocks(op) or not may_rewrite("choose a layout", op):
            return False
        self.images[op.results[0]] = Image(is_blocked=True)
        return True

    def _is_blocked(self, value: SSAValue) -> bool:
        image = self.images.get(value)
        return image is not None and image.is_blocked

    def _keeps_blocks(self, op: Operation) -> bool:
        if len(op.results) != 1 or not is_image(op.results[0]):
            return False
        if any(use.operation.parent is not self.block for use in op.results[0].uses):
            return False
        match op:
            case graph.Conv2dOp():
                return is_image(op.input) and self._suits(op)
            case graph.MaxPool2dOp():
                return self._is_blocked(op.input) or self._pays_to_pool(op)
            case graph.AvgPool2dOp() | graph.BatchNormOp():
                return self._is_blocked(op.operands[0])
            case graph.ConcatOp():
                return op.axis.value.data == 1 and self._joins_blocks(op)
            case graph.ElementwiseOp():
                images = [op.operands[index] for index in self._full(op)]
                some = any if self._is_wanted(op.results[0]) else all
                return (
                    bool(images)
                    and all(map(is_image, images))
                    and some(map(self._is_blocked, images))
                )
            case _:
                return False

    def _is_wanted(self, value: SSAValue) -> bool:
        """Whether a convolution reads a value in blocks."""
        readers = [use.operation for use in value.uses]
        return any(isinstance(r, graph.Conv2dOp) and self._suits(r) for r in readers)

    def _joins_blocks(self, op: graph.ConcatOp) -> bool:
        """Whether the parts of a concatenation are whole blocks."""
        return any(map(self._is_blocked, op.inputs)) and all(
            is_image(value) and shape_of(value)[1] % self.lanes == 0
            for value in op.inputs
        )

    def _fits(self, channels: int) -> bool:
        """Whether channels fill blocks, but for little."""
        blocks = -(-channels // self.lanes)
        return blocks * self.lanes <= channels * MAX_WASTE

    def _suits(self, op: graph.Conv2dOp) -> bool:
        """Whether a convolution is faster on blocks."""
        filters, depth, *_ = shape_of(op.weight)
        groups = op.groups.value.data
        if DYNAMIC in (filters, depth):
            return False
        if groups == 1:
            return self._fits(filters)
        if depth == 1 == filters // groups:
            return self._fits(filters) and (
                self._is_blocked(op.input) or is_large(shape_of(op.weight)[2:])
            )
        return depth % self.lanes == 0 and filters // groups % self.lanes == 0

    def _pays_to_pool(self, op: graph.MaxPool2dOp) -> bool:
        """Whether a pool is faster on blocks, that of its input included."""
        return (
            is_large(op.kernel.get_values())
            and is_image(op.input)
            and shape_of(op.input)[1] % self.lanes == 0
        )

    @staticmethod
    def _full(op: Operation) -> list[int]:
        """The operands of an element-wise op that do not broadcast."""
        if not isinstance(op, graph.ElementwiseOp):
            return [0]
        dims = op.result_dims()[0]
        return [
            index
            for index in range(len(op.operands))
            if len(sizes := op.operand_dims(index)) == len(dims)
            and all(map(same, sizes, dims))
        ]

    # Borders.

    def _widen_border(self, value: SSAValue, padding: Sequence[int], fill: int) -> None:
        """
        Let a value have a border for a window that is padded; the first reader says
        what it holds, and readers of another pad do without.
        """
        top, left, bottom, right = padding
        image = self.images.setdefault(value, Image())
        rows, columns = image.border
        if not any(image.border):
            image.fill = fill if any(padding) else 0
        elif image.fill != fill:
            return
        image.border = max(rows, top, bottom), max(columns, left, right)

    def _share_borders(self, concats: Sequence[graph.ConcatOp]) -> None:
        """
        Give the parts of a concatenation the border of the whole, so that each can be
        computed in its place.
        """
        changed = True
        while changed:
            changed = False
            for op in concats:
                images = [
                    self.images.setdefault(value, Image())
                    for value in (*op.inputs, op.result)
                ]
                border = (
                    max(image.border[0] for image in images),
                    max(image.border[1] for image in images),
                )
                fill = next((i.fill for i in images if any(i.border)), 0)
                for image in images:
                    changed = changed or image.border != border or image.fill != fill
                    image.border, image.fill = border, fill

    def _layout(self, value: SSAValue, *, blocks: bool) -> graph.LayoutAttr | None:
        """The layout in which readers that know layouts find a value."""
        image = self.images.get(value, Image())
        border = image.border
        if not blocks and not any(border):
            return None
        return graph.LayoutAttr.get(
            (1, self.lanes) if blocks else (),
            border if any(border) else (),
            image.fill,
        )

    # Rewriting.

    def _leave(self, op: Operation) -> None:
        """Give an op that knows no layouts its operands without them."""
        is_reduction = isinstance(op, graph.ReduceOp) and is_over_pixels(op)
        for index, value in enumerate(op.operands):
            if self._is_blocked(value) and not is_reduction:
                op.operands[index] = self._version(value, None)

    def _rewrite(self, op: Operation) -> None:
        """Let an op compute in blocks."""
        match op:
            case graph.Conv2dOp():
                blocks = op.groups.value.data > 1 or self._fits(shape_of(op.input)[1])
                self._read(op, 0, blocks=blocks)
            case graph.ElementwiseOp() | graph.BatchNormOp():
                for index in self._full(op):
                    self._compute_on(op, index)
                self._retype(op, self.flat)
                return
            case _:
                for index in range(len(op.operands)):
                    self._read(op, index, blocks=True)
        layout = self._layout(op.results[0], blocks=True)
        assert layout is not None, "there are blocks"
        self._retype(op, layout)

    def _retype(self, op: Operation, layout: graph.LayoutAttr) -> None:
        (old,) = op.results
        type = cast(AnyTensor, old.type)
        new_type = graph.with_desc(type, layout=layout, place=graph.place_of(type))
        new = Rewriter.replace_value_with_new_type(old, new_type)
        self.images[new] = self.images.pop(old)
        CHOSEN.add()

    def _read(self, op: Operation, index: int, *, blocks: bool) -> None:
        """Let an op read an operand in the layout that all readers share."""
        value = op.operands[index]
        op.operands[index] = self._version(value, self._layout(value, blocks=blocks))

    def _compute_on(self, op: Operation, index: int) -> None:
        """
        Let an op read an operand in blocks without a border. What has a border is in
        memory with it, so the reader takes that away by itself.
        """
        value = op.operands[index]
        layout = self._layout(value, blocks=True)
        if self._is_blocked(value) and layout != self.flat:
            value = self._version(value, layout)
        if graph.layout_of(value.type) != self.flat:
            relayout = self._relayout(value, self.flat)
            self.block.insert_op_before(relayout, op)
            value = relayout.result
        op.operands[index] = value

    def _version(self, value: SSAValue, layout: graph.LayoutAttr | None) -> SSAValue:
        """A value in a layout; each reader that wants it shares it."""
        if graph.layout_of(value.type) == layout:
            return value
        key = (value, layout)
        if key not in self.versions:
            source = value
            if layout is None and self._is_blocked(value):
                source = self._version(value, self._layout(value, blocks=True))
            relayout = self._relayout(source, layout)
            owner = source.owner
            if isinstance(owner, Operation):
                self.block.insert_op_after(relayout, owner)
            elif self.block.first_op is not None:
                self.block.insert_op_before(relayout, self.block.first_op)
            self.versions[key] = relayout.result
        return self.versions[key]

    def _relayout(
        self, value: SSAValue, layout: graph.LayoutAttr | None
    ) -> graph.RelayoutOp:
        made = graph.RelayoutOp(value, layout)
        made.result.name_hint = value.name_hint
        made.location = self._location(value)
        RELAYOUTS.add()
        return made

    def _location(self, value: SSAValue) -> LocationAttr:
        """Where a value comes from: at least the function that it is an argument of."""
        if isinstance(value, OpResult):
            return value.op.location
        parent = self.block.parent_op()
        known = isinstance(value, BlockArgument) and value.location
        if not known or isinstance(known, UnknownLoc):
            assert parent is not None, "blocks are in functions"
            return parent.location
        return known


def is_large(window: Sequence[int]) -> bool:
    """Whether a window reads so much that bringing it near does not count."""
    return min(window) >= LARGE_WINDOW


def is_over_pixels(op: graph.ReduceOp) -> bool:
    """Whether rows and columns are reduced, and nothing else."""
    return sorted(op.axes.get_values()) == [2, 3]

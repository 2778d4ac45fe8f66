"""
Algebraic simplifications that make new ops, applied by `canonicalize` after the folds.

They never add work, and none undoes another: constants go to the right, inner ops of a
chain disappear, shapes become numbers.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, f32, f64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from transom.dialects.graph.arithmetic import (
    AddOp,
    AndOp,
    DivOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MulOp,
    OrOp,
    PowOp,
    SubOp,
    XorOp,
)
from transom.dialects.graph.contraction import Conv2dOp
from transom.dialects.graph.elements import is_lossless
from transom.dialects.graph.elementwise import (
    BinaryOp,
    BitcastOp,
    CastOp,
    CompareOp,
    SelectOp,
    common_shape,
)
from transom.dialects.graph.folding import constant_of, splat_of
from transom.dialects.graph.functions import AbsOp, NegOp, NotOp
from transom.dialects.graph.group_canonicalization import (
    DissolveWithoutWork,
    DropUnusedInputs,
    DropUnusedResults,
)
from transom.dialects.graph.indexing import SliceOp
from transom.dialects.graph.marks import RelayoutOp
from transom.dialects.graph.movement import ConcatOp, PadOp
from transom.dialects.graph.operation import GraphOp, dims_of
from transom.dialects.graph.properties import int_list
from transom.dialects.graph.quantization import DequantizeOp, QuantizeOp
from transom.dialects.graph.reshaping import (
    BroadcastOp,
    InputDim,
    ReshapeOp,
    ShapeAttr,
    TransposeOp,
)
from transom.dialects.graph.shapes import DYNAMIC, Dim, DimOf, same
from transom.dialects.graph.structure import FusedOp, RegionOp


def _replace(op: GraphOp, new: GraphOp, rewriter: PatternRewriter) -> None:
    """Put an op in the place of another one of the same value, with its attributes."""
    new.retype(op.results[0].type)
    new.location = op.location
    new.attributes.update(op.attributes)
    rewriter.replace(op, new)


class ConstantToTheRight(RewritePattern):
    """`2 + x` is `x + 2`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self,
        op: AddOp | AndOp | MaximumOp | MinimumOp | MulOp | OrOp | XorOp,
        rewriter: PatternRewriter,
        /,
    ):
        if constant_of(op.lhs) is None or constant_of(op.rhs) is not None:
            return
        _replace(op, type(op)(op.rhs, op.lhs), rewriter)


class SquareByProduct(RewritePattern):
    """`pow(x, 2)` is `x * x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PowOp, rewriter: PatternRewriter, /):
        if splat_of(op.rhs) != 2 or op.lhs.type != op.result.type:
            return
        _replace(op, MulOp(op.lhs, op.lhs), rewriter)


class DropSignBeforeAbs(RewritePattern):
    """`abs(-x)` is `abs(x)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AbsOp, rewriter: PatternRewriter, /):
        if isinstance(inner := op.input.owner, NegOp):
            _replace(op, AbsOp(inner.input), rewriter)


class DropNotBeforeSelect(RewritePattern):
    """`select(not c, a, b)` is `select(c, b, a)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter, /):
        if isinstance(inner := op.cond.owner, NotOp):
            new = SelectOp(inner.input, op.on_false, op.on_true)
            _replace(op, new, rewriter)


class MergeBitcasts(RewritePattern):
    """The bits of the bits."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BitcastOp, rewriter: PatternRewriter, /):
        if isinstance(inner := op.input.owner, BitcastOp):
            element_type = op.declared_type().element_type
            _replace(op, BitcastOp(inner.input, element_type), rewriter)


class MergeCasts(RewritePattern):
    """A cast of a cast that keeps every number is one cast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter, /):
        if not isinstance(inner := op.input.owner, CastOp):
            return
        source = inner.operand_type(0).element_type
        if not is_lossless(source, op.operand_type(0).element_type):
            return
        _replace(op, CastOp(inner.input, op.declared_type().element_type), rewriter)


class MergeReshapes(RewritePattern):
    """A reshape of a reshape is one reshape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /):
        if not isinstance(inner := op.input.owner, ReshapeOp):
            return
        (sizes,) = inner.result_dims()
        entries = [
            _entry(sizes[entry.axis]) if isinstance(entry, InputDim) else entry
            for entry in op.shape.data
        ]
        shape = _with_rest(entries)
        if shape is not None:
            _replace(op, ReshapeOp(inner.input, shape), rewriter)


def _entry(dim: Dim) -> int | InputDim | None:
    """A size as an entry of a shape, or None if it can not be one."""
    if isinstance(dim, int):
        return dim
    return InputDim(dim.axis) if isinstance(dim, DimOf) else None


def _with_rest(entries: Sequence[int | InputDim | None]) -> ShapeAttr | None:
    """The shape with -1 for an entry that is missing, or None if that can not be."""
    missing = [entry for entry in entries if entry is None]
    if missing and (-1 in entries or len(missing) > 1):
        return None
    return ShapeAttr(tuple(-1 if entry is None else entry for entry in entries))


class NumberShape(RewritePattern):
    """The sizes that a reshape gives are written as numbers where they are known."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /):
        (sizes,) = op.result_dims()
        shape = ShapeAttr(
            tuple(
                entry if (known := _entry(size)) is None else known
                for entry, size in zip(op.shape.data, sizes, strict=True)
            )
        )
        if shape != op.shape:
            _replace(op, ReshapeOp(op.input, shape), rewriter)


class MergeTransposes(RewritePattern):
    """A transpose of a transpose is one transpose."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter, /):
        if not isinstance(inner := op.input.owner, TransposeOp):
            return
        order = inner.permutation.get_values()
        merged = [order[axis] for axis in op.permutation.get_values()]
        _replace(op, TransposeOp(inner.input, merged), rewriter)


class TransposeByReshape(RewritePattern):
    """A transpose that moves dimensions of size 1 only is a reshape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter, /):
        sizes, order = op.operand_dims(0), op.permutation.get_values()
        moved = [axis for axis in order if sizes[axis] != 1]
        if moved != sorted(moved) or list(order) == sorted(order):
            return
        entries: list[int | InputDim] = []
        for axis in order:
            size = sizes[axis]
            entries.append(size if isinstance(size, int) else InputDim(axis))
        _replace(op, ReshapeOp(op.input, entries), rewriter)


class MergeBroadcasts(RewritePattern):
    """A broadcast of a broadcast is one broadcast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: PatternRewriter, /):
        if not isinstance(inner := op.input.owner, BroadcastOp):
            return
        if DYNAMIC in op.declared_type().get_shape():  # of the inner op's result
            return
        _replace(op, BroadcastOp(inner.input, op.declared_type()), rewriter)


class DropBroadcastOperand(RewritePattern):
    """A binary op broadcasts its operands itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BinaryOp, rewriter: PatternRewriter, /):
        for index, operand in enumerate(op.operands):
            if not isinstance(inner := operand.owner, BroadcastOp):
                continue
            shapes = [op.operand_dims(0), op.operand_dims(1)]
            shapes[index] = dims_of(inner.operand_type(0), index)
            dims = common_shape(shapes, ("lhs", "rhs"))
            if len(dims) == len(op.result_dims()[0]) and all(
                map(same, dims, op.result_dims()[0])
            ):
                op.operands[index] = inner.input
                rewriter.notify_op_modified(op)
                return


class FlattenConcat(RewritePattern):
    """A concatenation in a concatenation along the same axis, not used elsewhere."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter, /):
        inputs: list[SSAValue] = []
        for value in op.inputs:
            inner = value.owner
            if (
                isinstance(inner, ConcatOp)
                and inner.axis == op.axis
                and value.has_one_use()
            ):
                inputs.extend(inner.inputs)
            else:
                inputs.append(value)
        if len(inputs) != len(op.inputs):
            _replace(op, ConcatOp(inputs, op.axis), rewriter)


class DropEmptyOperands(RewritePattern):
    """An operand without elements adds nothing to a concatenation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter, /):
        axis = op.axis.value.data
        inputs = [
            value
            for index, value in enumerate(op.inputs)
            if op.operand_dims(index)[axis] != 0
        ]
        if inputs and len(inputs) != len(op.inputs):
            _replace(op, ConcatOp(inputs, op.axis), rewriter)


class NumberSlice(RewritePattern):
    """Starts and sizes of a slice are counted from the front where that is known."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter, /):
        starts, sizes = list(op.starts.get_values()), list(op.sizes.get_values())
        dims, result = op.operand_dims(0), op.result_dims()[0]
        for axis, (dim, size) in enumerate(zip(dims, result, strict=True)):
            if starts[axis] < 0 and isinstance(dim, int):
                starts[axis] += dim
            if isinstance(size, int):
                sizes[axis] = size
        if (int_list(starts), int_list(sizes)) != (op.starts, op.sizes):
            _replace(op, SliceOp(op.input, starts, sizes, op.steps), rewriter)


class MergeSlices(RewritePattern):
    """A slice of a slice, both counted from the front, is one slice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter, /):
        if not isinstance(inner := op.input.owner, SliceOp):
            return
        starts, sizes = op.starts.get_values(), op.sizes.get_values()
        inner_starts = inner.starts.get_values()
        if min((*starts, *sizes, *inner_starts), default=0) < 0:
            return
        inner_steps = inner.steps.get_values()
        merged_starts = [
            first + start * step
            for first, start, step in zip(
                inner_starts, starts, inner_steps, strict=True
            )
        ]
        merged_steps = [
            a * b for a, b in zip(op.steps.get_values(), inner_steps, strict=True)
        ]
        new = SliceOp(inner.input, merged_starts, op.sizes, merged_steps)
        _replace(op, new, rewriter)


class MergePads(RewritePattern):
    """A pad of a pad with the same value is one pad."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PadOp, rewriter: PatternRewriter, /):
        inner = op.input.owner
        if not isinstance(inner, PadOp) or inner.value != op.value:
            return
        low, high = (
            [x + y for x, y in zip(a.get_values(), b.get_values(), strict=True)]
            for a, b in ((op.low, inner.low), (op.high, inner.high))
        )
        _replace(op, PadOp(inner.input, low, high, op.value), rewriter)


class PadByConv(RewritePattern):
    """A convolution pads its rows and columns with one whole number itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2dOp, rewriter: PatternRewriter, /):
        pad = op.input.owner
        if not isinstance(pad, PadOp):
            return
        fill, is_padded = pad.value.value.data, any(op.padding.get_values())
        if is_padded and fill != op.fill.value.data:
            return
        if fill != 0 and not isinstance(pad.value, IntegerAttr):
            return
        low, high = pad.low.get_values(), pad.high.get_values()
        if any((*low[:2], *high[:2])):
            return
        padding = [
            a + b
            for a, b in zip(op.padding.get_values(), (*low[2:], *high[2:]), strict=True)
        ]
        new = Conv2dOp(
            pad.input,
            op.weight,
            strides=op.strides,
            padding=padding,
            dilations=op.dilations,
            groups=op.groups,
            fill=int(fill),
            element_type=op.declared_type().element_type,
        )
        _replace(op, new, rewriter)


class MergeRelayouts(RewritePattern):
    """Of two relayouts the last one counts."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: RelayoutOp, rewriter: PatternRewriter, /):
        if isinstance(inner := op.input.owner, RelayoutOp):
            _replace(op, RelayoutOp(inner.input, op.layout), rewriter)


class DropRequantization(RewritePattern):
    """
    Quantised as it was before, a number is the same again.

    True of all integers of up to 16 bits where the scale is a usual number: rounding of
    the product is far below a half.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: QuantizeOp, rewriter: PatternRewriter, /):
        inner = op.input.owner
        if (
            not isinstance(inner, DequantizeOp)
            or inner.input.type != op.result.type
            or not _is_same(inner.scale, op.scale)
            or not _is_same(inner.zero_point, op.zero_point)
        ):
            return
        scale = constant_of(op.scale)
        if (
            scale is not None
            and inner.declared_type().element_type in (f32, f64)
            and all(
                MIN_SCALE <= abs(float(value)) <= 1 / MIN_SCALE
                for value in scale.value.get_values()
            )
        ):
            rewriter.replace(op, (), (inner.input,))


MIN_SCALE = 2.0**-64
"""Products of less may lose bits."""


def _is_same(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are one, or constants of the same elements."""
    if a is b:
        return True
    first, second = constant_of(a), constant_of(b)
    return first is not None and second is not None and first.value == second.value


PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = {
    AbsOp: (DropSignBeforeAbs(),),
    BitcastOp: (MergeBitcasts(),),
    BroadcastOp: (MergeBroadcasts(),),
    CastOp: (MergeCasts(),),
    ConcatOp: (DropEmptyOperands(), FlattenConcat()),
    Conv2dOp: (PadByConv(),),
    FusedOp: (DissolveWithoutWork(), DropUnusedInputs(), DropUnusedResults()),
    PadOp: (MergePads(),),
    QuantizeOp: (DropRequantization(),),
    RegionOp: (DropUnusedInputs(), DropUnusedResults()),
    RelayoutOp: (MergeRelayouts(),),
    ReshapeOp: (MergeReshapes(), NumberShape()),
    SelectOp: (DropNotBeforeSelect(),),
    SliceOp: (NumberSlice(), MergeSlices()),
    TransposeOp: (MergeTransposes(), TransposeByReshape()),
    **dict.fromkeys((DivOp, ModOp, SubOp, CompareOp), (DropBroadcastOperand(),)),
    PowOp: (SquareByProduct(), DropBroadcastOperand()),
    **dict.fromkeys(
        (AddOp, AndOp, MaximumOp, MinimumOp, MulOp, OrOp, XorOp),
        (ConstantToTheRight(), DropBroadcastOperand()),
    ),
}
"""The patterns of each op that has some."""

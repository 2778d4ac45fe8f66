"""
Patterns from `vector` to the `llvm` dialect, for what stays in registers.

A vector of several dimensions is one of all its lanes, the last dimension innermost.
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float16Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i32,
)
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import llvm
from transom.dialects.op_making import make_op
from transom.lowering.arith_to_llvm import constant_value, flags_of
from transom.lowering.bf16_to_llvm import widen
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.conversion_patterns import ReplaceOp, result_signature
from transom.lowering.llvm_ops import index_list
from transom.lowering.memref_parts import Number, add, constant, multiply
from transom.lowering.memref_views_to_llvm import numbers


def shuffle(
    rewriter: ConversionRewriter,
    a: SSAValue,
    b: SSAValue,
    mask: Sequence[int],
    result: Attribute | None = None,
) -> SSAValue:
    """Lanes of two vectors of one type; -1 for any value. `result` is their type."""
    if result is None:
        result = VectorType(llvm.element_of(a.type), [len(mask)])
    properties = {"mask": index_list(tuple(mask))}
    return rewriter.insert(
        make_op(llvm.ShuffleVectorOp, (a, b), (result,), properties)
    ).res


def poison(rewriter: ConversionRewriter, type: Attribute) -> SSAValue:
    return rewriter.insert(make_op(llvm.PoisonOp, (), (type,))).res


def broadcast(
    rewriter: ConversionRewriter, scalar: SSAValue, type: Attribute
) -> SSAValue:
    """The scalar in every lane."""
    lanes = llvm.lanes_of(type)
    assert lanes is not None, "a scalar is broadcast to a vector"
    nothing = poison(rewriter, type)
    first = rewriter.insert(
        make_op(llvm.InsertElementOp, (nothing, scalar, constant(rewriter, 0)), (type,))
    ).res
    if lanes == 1:
        return first
    return shuffle(rewriter, first, nothing, [0] * lanes, type)


def first_lanes(rewriter: ConversionRewriter, count: SSAValue, lanes: int) -> SSAValue:
    """A mask of the first `count` lanes; none for a negative count."""
    limit = constant(rewriter, lanes)
    clamped = rewriter.insert(llvm.SMinOp(count, limit)).res
    clamped = rewriter.insert(llvm.SMaxOp(clamped, constant(rewriter, 0))).res
    narrow = rewriter.insert(llvm.TruncOp(clamped, i32)).res
    type = VectorType(i32, [lanes])
    steps = DenseIntOrFPElementsAttr.from_list(type, range(lanes))
    numbers = rewriter.insert(llvm.ConstantOp(steps, type)).result
    bound = broadcast(rewriter, narrow, type)
    return rewriter.insert(llvm.ICmpOp(numbers, bound, "slt")).res


class ConvertCreateMask(ConversionPattern[vector.CreateMaskOp]):
    root = vector.CreateMaskOp

    def match_and_rewrite(
        self, op: vector.CreateMaskOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        shape = cast(VectorType, op.mask_vector.type).get_shape()
        if len(shape) != 1:
            return Refusal(
                f"expected a vector of one dimension, but got '{op.mask_vector.type}'"
            )
        rewriter.replace(op, (), (first_lanes(rewriter, operands[0], shape[0]),))


class ConvertBroadcast(ConversionPattern[vector.BroadcastOp]):
    root = vector.BroadcastOp

    def match_and_rewrite(
        self, op: vector.BroadcastOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (value,) = operands
        (type,) = result_signature(op, rewriter.converter).types
        source_type = llvm.as_vector(op.source.type)
        if source_type is None:
            known = splat_of(op.source, type)
            if known is not None:
                rewriter.replace(op, known)
            else:
                rewriter.replace(op, (), (broadcast(rewriter, value, type),))
            return
        source = source_type.get_shape()
        result = op.vector.type
        mask = [
            place_of(lane, result.get_shape(), source)
            for lane in range(result.element_count())
        ]
        rewriter.replace(op, (), (shuffle(rewriter, value, value, mask),))


def splat_of(value: SSAValue, type: Attribute) -> llvm.ConstantOp | None:
    """A constant in every lane, as a constant."""
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp):
        return None
    vector_type = cast("VectorType[IntegerType]", type)
    element = vector_type.element_type
    scalar = constant_value(owner.value, element)
    if not isinstance(scalar, IntegerAttr | FloatAttr):
        return None
    data = element.pack((cast(Any, scalar).value.data,))
    packed = BytesAttr(data * vector_type.element_count())
    return llvm.ConstantOp(DenseIntOrFPElementsAttr(vector_type, packed), type)


def place_of(lane: int, shape: Sequence[int], source: Sequence[int]) -> int:
    """The lane of the source that a lane of a broadcast comes from."""
    place, step = 0, 1
    for axis in range(1, len(source) + 1):
        index = lane % shape[-axis]
        lane //= shape[-axis]
        place += step * (index if source[-axis] != 1 else 0)
        step *= source[-axis]
    return place


class ConvertShuffle(ConversionPattern[vector.ShuffleOp]):
    root = vector.ShuffleOp

    def match_and_rewrite(
        self, op: vector.ShuffleOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        first, second = operands
        before, after = llvm.lanes_of(first.type), llvm.lanes_of(second.type)
        assert before is not None and after is not None, "vectors are shuffled"
        (type,) = result_signature(op, rewriter.converter).types
        lanes = llvm.lanes_of(type)
        entries = op.mask.get_values()
        assert lanes is not None and entries, "the result is a vector"
        inner = lanes // len(entries)
        mask = [
            -1 if entry < 0 else entry * inner + k
            for entry in entries
            for k in range(inner)
        ]
        width = max(before, after)
        if before != after:
            first, second = (
                self.pad(rewriter, v, n, width)
                for v, n in ((first, before), (second, after))
            )
            mask = [m if m < before else m - before + width for m in mask]
        rewriter.replace(op, (), (shuffle(rewriter, first, second, mask),))

    def pad(
        self, rewriter: ConversionRewriter, value: SSAValue, lanes: int, width: int
    ) -> SSAValue:
        """The vector with further lanes of any value."""
        if lanes == width:
            return value
        mask = [*range(lanes), *[-1] * (width - lanes)]
        return shuffle(rewriter, value, value, mask)


def flat_position(
    positions: Sequence[Number], shape: Sequence[int], rewriter: ConversionRewriter
) -> Number:
    """The lane that positions in the first dimensions lead to."""
    place: Number = 0
    for axis, size in enumerate(shape):
        position = positions[axis] if axis < len(positions) else 0
        place = add(rewriter, multiply(rewriter, place, size), position)
    return place


class ConvertExtract(ConversionPattern[vector.ExtractOp]):
    root = vector.ExtractOp

    def match_and_rewrite(
        self, op: vector.ExtractOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = operands[0]
        dynamic = iter(numbers(op.dynamic_position, operands.named("dynamic_position")))
        positions = [
            p if isinstance(p, int) else next(dynamic) for p in op.get_mixed_position()
        ]
        shape = cast(VectorType, op.vector.type).get_shape()
        place = flat_position(positions, shape, rewriter)
        (type,) = result_signature(op, rewriter.converter).types
        if not isinstance(op.result.type, VectorType):
            index = constant(rewriter, place)
            rewriter.replace(op, llvm.ExtractElementOp(source, index))
            return
        lanes = llvm.lanes_of(type)
        assert lanes is not None, "the result is a vector"
        if not isinstance(place, int):
            return Refusal("expected a constant position of a vector in a vector")
        mask = range(place, place + lanes)
        rewriter.replace(op, (), (shuffle(rewriter, source, source, mask),))


class ConvertInsert(ConversionPattern[vector.InsertOp]):
    root = vector.InsertOp

    def match_and_rewrite(
        self, op: vector.InsertOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source, target = operands[0], operands[1]
        dynamic = iter(numbers(op.dynamic_position, operands.named("dynamic_position")))
        positions = [
            p if isinstance(p, int) else next(dynamic) for p in op.get_mixed_position()
        ]
        shape = cast(VectorType, op.dest.type).get_shape()
        place = flat_position(positions, shape, rewriter)
        if not isinstance(op.source.type, VectorType):
            index = constant(rewriter, place)
            rewriter.replace(op, llvm.InsertElementOp(target, source, index))
            return
        if not isinstance(place, int):
            return Refusal("expected a constant position of a vector in a vector")
        lanes, width = llvm.lanes_of(source.type), llvm.lanes_of(target.type)
        assert lanes is not None and width is not None, "these are vectors"
        spread = [
            lane - place if place <= lane < place + lanes else -1
            for lane in range(width)
        ]
        wide = shuffle(rewriter, source, source, spread)
        mask = [lane if m < 0 else width + lane for lane, m in enumerate(spread)]
        rewriter.replace(op, (), (shuffle(rewriter, target, wide, mask),))


class ConvertFma(ConversionPattern[vector.FMAOp]):
    root = vector.FMAOp

    def match_and_rewrite(
        self, op: vector.FMAOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (type,) = result_signature(op, rewriter.converter).types
        rewriter.replace(
            op,
            llvm.FMAOp.create(
                operands=list(operands),
                result_types=[type],
                properties={"fastmathFlags": llvm.FastMathAttr(None)},
            ),
        )


REDUCTIONS: dict[CombiningKindFlag, tuple[type[Operation], type[Operation]]] = {
    CombiningKindFlag.ADD: (llvm.VectorReduceAddOp, llvm.AddOp),
    CombiningKindFlag.AND: (llvm.VectorReduceAndOp, llvm.AndOp),
    CombiningKindFlag.MAXIMUMF: (llvm.VectorReduceFMaximumOp, llvm.FMaximumOp),
    CombiningKindFlag.MAXNUMF: (llvm.VectorReduceFMaxOp, llvm.VectorFMaxOp),
    CombiningKindFlag.MAXSI: (llvm.VectorReduceSMaxOp, llvm.SMaxOp),
    CombiningKindFlag.MAXUI: (llvm.VectorReduceUMaxOp, llvm.UMaxOp),
    CombiningKindFlag.MINIMUMF: (llvm.VectorReduceFMinimumOp, llvm.FMinimumOp),
    CombiningKindFlag.MINNUMF: (llvm.VectorReduceFMinOp, llvm.VectorFMinOp),
    CombiningKindFlag.MINSI: (llvm.VectorReduceSMinOp, llvm.SMinOp),
    CombiningKindFlag.MINUI: (llvm.VectorReduceUMinOp, llvm.UMinOp),
    CombiningKindFlag.MUL: (llvm.VectorReduceMulOp, llvm.MulOp),
    CombiningKindFlag.OR: (llvm.VectorReduceOrOp, llvm.OrOp),
    CombiningKindFlag.XOR: (llvm.VectorReduceXorOp, llvm.XOrOp),
}
"""How lanes are combined, and how that is with what was there before."""


class ConvertReduction(ConversionPattern[vector.ReductionOp]):
    """
    Sums and products of floats go from the first lane to the last, unless the flag
    `reassoc` lets LLVM choose.
    """

    root = vector.ReductionOp

    def match_and_rewrite(
        self, op: vector.ReductionOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        value, *before = operands
        kind = op.kind.data
        element = llvm.element_of(value.type)
        flags = dict(flags_of(op))
        is_float = not isinstance(element, IntegerType)
        if is_float and kind in (CombiningKindFlag.ADD, CombiningKindFlag.MUL):
            if not before:
                neutral = -0.0 if kind is CombiningKindFlag.ADD else 1.0
                start = FloatAttr(neutral, cast("Any", element))
                before = [rewriter.insert(llvm.ConstantOp(start, element)).result]
            reduce = (
                llvm.VectorReduceFAddOp
                if kind is CombiningKindFlag.ADD
                else llvm.VectorReduceFMulOp
            )
            new = reduce(before[0], value, cast(Any, flags["fastmathFlags"]))
            rewriter.replace(op, new)
            return
        lanes, combine = REDUCTIONS[kind]
        properties = flags if is_float else {}
        result = rewriter.insert(
            lanes.create(
                operands=[value], result_types=[element], properties=properties
            )
        ).results[0]
        if before:
            result = rewriter.insert(
                combine.create(
                    operands=[result, before[0]],
                    result_types=[element],
                    properties=properties,
                )
            ).results[0]
        rewriter.replace(op, (), (result,))


class WidenVector(ConversionPattern[vector.ReductionOp | vector.FMAOp]):
    """Compute in f32 what is asked for in bf16."""

    benefit = 2
    root = (vector.ReductionOp, vector.FMAOp)

    def match_and_rewrite(
        self,
        op: vector.ReductionOp | vector.FMAOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        return widen(op, operands, rewriter, BFloat16Type)


class WidenHalfReduction(ConversionPattern[vector.ReductionOp]):
    """Reduce in f32 what is asked for in f16."""

    benefit = 2
    root = vector.ReductionOp

    def match_and_rewrite(
        self, op: vector.ReductionOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        return widen(op, operands, rewriter, Float16Type)


VECTOR_PATTERNS: tuple[ConversionPattern[Any], ...] = (
    ConvertBroadcast(),
    ConvertCreateMask(),
    ConvertExtract(),
    ConvertFma(),
    ConvertInsert(),
    ConvertReduction(),
    ConvertShuffle(),
    ReplaceOp(vector.BitcastOp, llvm.BitcastOp),
    WidenHalfReduction(),
    WidenVector(),
)

"""
Patterns from the views of `memref` to the `llvm` dialect: arithmetic on sizes, strides
and offsets, and no access to memory.

```mlir
%v = memref.subview %m[%i, 0] [4, 8] [1, 1]           %o = llvm.mul %i, 16
     : memref<64x16xf32> to memref<4x8xf32,     ==>   and the pointer of %m
       strided<[16, 1], offset: ?>>
```
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import llvm
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.llvm_types import pointer_type
from transom.lowering.loops import constant_of
from transom.lowering.memref_parts import (
    MemRef,
    Number,
    add,
    constant,
    gep,
    multiply,
)


def take(
    rewriter: ConversionRewriter, value: SSAValue, group: Sequence[SSAValue]
) -> MemRef:
    """The parts of a memref operand."""
    return MemRef.take(rewriter, cast(MemRefType, value.type), group)


def numbers(values: Sequence[SSAValue], groups: Operands) -> tuple[Number, ...]:
    """Index operands, those that are constants as numbers."""
    return tuple(
        new if (known := constant_of(old)) is None else known
        for old, new in zip(values, groups, strict=True)
    )


def mixed(
    static: DenseArrayBase[IntegerType], values: Sequence[SSAValue], groups: Operands
) -> list[Number]:
    """A list of numbers of which some are operands."""
    dynamic = iter(numbers(values, groups))
    return [next(dynamic) if n == DYNAMIC_INDEX else n for n in static.get_values()]


def alignment_of(op: Operation, memref: MemRef) -> int:
    """What the address of an access is a multiple of, as far as is known."""
    given = op.attributes.get("alignment")
    known = memref.alignment
    if isinstance(given, IntegerAttr):
        return max(known, cast(IntegerAttr, given).value.data)
    return known


def is_set(flag: BoolAttr | None) -> bool:
    return flag is not None and bool(flag.value.data)


class ConvertCast(
    ConversionPattern[
        memref.CastOp | memref.MemorySpaceCastOp | memref.AssumeAlignmentOp
    ]
):
    """The same memory, whose type says more or less about it."""

    root = (memref.CastOp, memref.MemorySpaceCastOp, memref.AssumeAlignmentOp)

    def match_and_rewrite(
        self,
        op: memref.CastOp | memref.MemorySpaceCastOp | memref.AssumeAlignmentOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        (result,) = op.results
        types = (op.operands[0].type, result.type)
        if not all(isinstance(type, MemRefType) for type in types):
            return Refusal("expected memrefs of known rank")
        source = take(rewriter, op.operands[0], operands.groups[0])
        wanted = cast(MemRefType, types[1])
        group = source.give(rewriter, wanted)
        space = pointer_type(wanted)
        if group[0].type != space:
            group[0] = rewriter.insert(llvm.AddrSpaceCastOp(group[0], space)).result
        rewriter.replace(op, (), (group,))


class ConvertSubview(ConversionPattern[memref.SubviewOp]):
    root = memref.SubviewOp

    def match_and_rewrite(
        self, op: memref.SubviewOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = take(rewriter, op.source, operands.groups[0])
        offsets, sizes, steps = (
            mixed(static, values, operands.named(name))
            for name, static, values in (
                ("offsets", op.static_offsets, op.offsets),
                ("sizes", op.static_sizes, op.sizes),
                ("strides", op.static_strides, op.strides),
            )
        )
        offset = source.offset
        strides: list[Number] = []
        for first, step, stride in zip(offsets, steps, source.strides, strict=True):
            offset = add(rewriter, offset, multiply(rewriter, first, stride))
            strides.append(multiply(rewriter, step, stride))
        kept = kept_dims(op)
        view = MemRef(
            source.type,
            source.pointer,
            tuple(sizes[i] for i in kept),
            tuple(strides[i] for i in kept),
            offset,
        )
        rewriter.replace(op, (), (view.give(rewriter, op.result.type),))


def kept_dims(op: memref.SubviewOp) -> list[int]:
    """
    The dims of the source that the result has; the others are of the static size 1.

    Which of several dims of size 1 is dropped does not matter: nothing moves along it.
    """
    wanted = op.result.type.get_shape()
    kept: list[int] = []
    for position, size in enumerate(op.static_sizes.get_values()):
        if len(kept) < len(wanted) and size == wanted[len(kept)]:
            kept.append(position)
    return kept


class ConvertReinterpretCast(ConversionPattern[memref.ReinterpretCastOp]):
    root = memref.ReinterpretCastOp

    def match_and_rewrite(
        self,
        op: memref.ReinterpretCastOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        source = take(rewriter, op.source, operands.groups[0])
        offsets = mixed(op.static_offsets, op.offsets, operands.named("offsets"))
        view = MemRef(
            source.type,
            source.pointer,
            tuple(mixed(op.static_sizes, op.sizes, operands.named("sizes"))),
            tuple(mixed(op.static_strides, op.strides, operands.named("strides"))),
            offsets[0],
        )
        rewriter.replace(op, (), (view.give(rewriter, op.result.type),))


class ConvertMetadata(ConversionPattern[memref.ExtractStridedMetaDataOp]):
    root = memref.ExtractStridedMetaDataOp

    def match_and_rewrite(
        self,
        op: memref.ExtractStridedMetaDataOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        source = take(rewriter, op.source, operands.groups[0])
        values = [source.offset, *source.sizes, *source.strides]
        numbers = [constant(rewriter, value) for value in values]
        rewriter.replace(op, (), ([source.pointer], *numbers))


class ConvertPointerAsIndex(ConversionPattern[memref.ExtractAlignedPointerAsIndexOp]):
    root = memref.ExtractAlignedPointerAsIndexOp

    def match_and_rewrite(
        self,
        op: memref.ExtractAlignedPointerAsIndexOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        rewriter.replace(op, llvm.PtrToIntOp(operands.groups[0][0]))


class ConvertView(ConversionPattern[memref.ViewOp]):
    root = memref.ViewOp

    def match_and_rewrite(
        self, op: memref.ViewOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = take(rewriter, op.source, operands.groups[0])
        (shift,) = numbers((op.byte_shift,), operands.named("byte_shift"))
        start = gep(rewriter, source.start(rewriter), (shift,), i8)
        group = [start, *operands.named("sizes").flat]
        rewriter.replace(op, (), (group,))


def groups_of(reassociation: Attribute) -> list[list[int]]:
    """The dims of each group of a reassociation."""
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr]]", reassociation)
    return [[index.value.data for index in group] for group in groups]


class ConvertCollapse(ConversionPattern[memref.CollapseShapeOp]):
    """Dims that are adjacent in memory become one."""

    root = memref.CollapseShapeOp

    def match_and_rewrite(
        self,
        op: memref.CollapseShapeOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        source = take(rewriter, op.src, operands.groups[0])
        sizes: list[Number] = []
        strides: list[Number] = []
        for group in groups_of(op.reassociation):
            size: Number = 1
            for dim in group:
                size = multiply(rewriter, size, source.sizes[dim])
            sizes.append(size)
            # The stride is that of the last dim that has one.
            moving = [dim for dim in group if source.sizes[dim] != 1] or group[-1:]
            strides.append(source.strides[moving[-1]])
        view = MemRef(
            source.type, source.pointer, tuple(sizes), tuple(strides), source.offset
        )
        result = op.result.type
        rewriter.replace(op, (), (view.give(rewriter, result),))


class ConvertExpand(ConversionPattern[memref.ExpandShapeOp]):
    """A dim becomes several."""

    root = memref.ExpandShapeOp

    def match_and_rewrite(
        self,
        op: memref.ExpandShapeOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        source = take(rewriter, op.src, operands.groups[0])
        shape = mixed(
            op.static_output_shape, op.output_shape, operands.named("output_shape")
        )
        strides: list[Number] = []
        for position, group in enumerate(groups_of(op.reassociation)):
            step = source.strides[position]
            inner: list[Number] = []
            for dim in reversed(group):
                inner.append(step)
                if dim != group[0]:
                    step = multiply(rewriter, step, shape[dim])
            strides += reversed(inner)
        view = MemRef(
            source.type, source.pointer, tuple(shape), tuple(strides), source.offset
        )
        result = op.result.type
        rewriter.replace(op, (), (view.give(rewriter, result),))


VIEW_PATTERNS: tuple[ConversionPattern[Any], ...] = (
    ConvertCast(),
    ConvertCollapse(),
    ConvertExpand(),
    ConvertMetadata(),
    ConvertPointerAsIndex(),
    ConvertReinterpretCast(),
    ConvertSubview(),
    ConvertView(),
)

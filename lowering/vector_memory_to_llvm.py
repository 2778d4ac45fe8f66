"""
Patterns from the loads and stores of `vector` to the `llvm` dialect.

They move neighbouring elements, along the last dimension or along several that lie
without gaps, aligned to the element or as their attribute `alignment` says.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, i1, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from transom.dialects import llvm
from transom.lowering.bf16_to_llvm import like, splat
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.conversion_patterns import result_signature
from transom.lowering.llvm_ops import load_op, store_op
from transom.lowering.memref_parts import MemRef, Number, add, constant, multiply
from transom.lowering.memref_views_to_llvm import alignment_of, is_set, numbers, take
from transom.lowering.vector_to_llvm import broadcast, first_lanes


def is_bool(value: SSAValue) -> bool:
    """Whether a vector's lanes take a byte in memory, and a bit elsewhere."""
    return llvm.element_of(value.type) == i1


def neighbours(
    memref: SSAValue,
    group: Sequence[SSAValue],
    value: SSAValue,
    rewriter: ConversionRewriter,
) -> MemRef:
    """The memref of an access to lanes that lie side by side."""
    shape = cast(VectorType, value.type).get_shape()
    parts = take(rewriter, memref, group)
    if not parts.strides or parts.strides[-1] != 1:
        rewriter.refuse(
            f"expected a last stride of 1, but got a memref of type '{memref.type}'"
        )
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if list(parts.strides[-len(shape) :]) != strides:
        rewriter.refuse(
            f"expected the lanes of '{value.type}' without gaps in between, but got a "
            f"memref of type '{memref.type}'"
        )
    return parts


def in_memory(type: Attribute) -> Attribute:
    """A vector type as it is in memory."""
    return like(type, i8) if llvm.element_of(type) == i1 else type


def from_memory(rewriter: ConversionRewriter, value: SSAValue, type: Attribute):
    """Loaded lanes as they are in a register."""
    if value.type == type:
        return value
    zero = splat(rewriter, 0, value.type)
    return rewriter.insert(llvm.ICmpOp(value, zero, "ne")).res


def to_memory(rewriter: ConversionRewriter, value: SSAValue) -> SSAValue:
    """Lanes as they are stored."""
    if not is_bool(value):
        return value
    return rewriter.insert(llvm.ZExtOp(value, in_memory(value.type))).res


class ConvertLoad(ConversionPattern[vector.LoadOp]):
    root = vector.LoadOp
    drops = ("alignment",)

    def match_and_rewrite(
        self, op: vector.LoadOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = neighbours(op.base, operands.groups[0], op.result, rewriter)
        (type,) = result_signature(op, rewriter.converter).types
        indices = numbers(op.indices, operands.named("indices"))
        address = source.element(rewriter, indices)
        load = load_op(
            address,
            in_memory(type),
            alignment_of(op, source),
            nontemporal=is_set(op.nontemporal),
        )
        value = rewriter.insert(load).dereferenced_value
        rewriter.replace(op, (), (from_memory(rewriter, value, type),))


class ConvertStore(ConversionPattern[vector.StoreOp]):
    root = vector.StoreOp
    drops = ("alignment",)

    def match_and_rewrite(
        self, op: vector.StoreOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        target = neighbours(op.base, operands.groups[1], op.vector, rewriter)
        indices = numbers(op.indices, operands.named("indices"))
        address = target.element(rewriter, indices)
        rewriter.replace(
            op,
            store_op(
                to_memory(rewriter, operands[0]),
                address,
                alignment_of(op, target),
                nontemporal=is_set(op.nontemporal),
            ),
        )


class ConvertMaskedLoad(ConversionPattern[vector.MaskedLoadOp]):
    root = vector.MaskedLoadOp
    drops = ("alignment",)

    def match_and_rewrite(
        self, op: vector.MaskedLoadOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source = neighbours(op.base, operands.groups[0], op.result, rewriter)
        indices = numbers(op.indices, operands.named("indices"))
        address = source.element(rewriter, indices, inbounds=False)
        mask, other = operands[-2], operands[-1]
        value = masked_load(rewriter, address, mask, other, alignment_of(op, source))
        rewriter.replace(op, (), (value,))


def masked_load(
    rewriter: ConversionRewriter,
    address: SSAValue,
    mask: SSAValue,
    other: SSAValue,
    alignment: int,
) -> SSAValue:
    """The lanes that the mask has set; those of `other` else."""
    stored = to_memory(rewriter, other)
    load = llvm.MaskedLoadOp(address, mask, stored, alignment)
    return from_memory(rewriter, rewriter.insert(load).res, other.type)


class ConvertMaskedStore(ConversionPattern[vector.MaskedStoreOp]):
    root = vector.MaskedStoreOp
    drops = ("alignment",)

    def match_and_rewrite(
        self,
        op: vector.MaskedStoreOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        target = neighbours(op.base, operands.groups[0], op.value_to_store, rewriter)
        indices = numbers(op.indices, operands.named("indices"))
        address = target.element(rewriter, indices, inbounds=False)
        value = to_memory(rewriter, operands[-1])
        rewriter.replace(
            op,
            llvm.MaskedStoreOp(value, address, operands[-2], alignment_of(op, target)),
        )


class ConvertTransferRead(ConversionPattern[vector.TransferReadOp]):
    """A masked load where the lanes may end outside of the memref."""

    root = vector.TransferReadOp
    drops = ("alignment",)

    def match_and_rewrite(
        self,
        op: vector.TransferReadOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        if (refusal := refuse_transfer(op)) is not None:
            return refusal
        source = neighbours(op.source, operands.groups[0], op.result, rewriter)
        (type,) = result_signature(op, rewriter.converter).types
        indices = numbers(op.indices, operands.named("indices"))
        address = source.element(rewriter, indices, inbounds=False)
        given = operands.named("mask")
        mask = transfer_mask(op, source, indices, type, tuple(given), rewriter)
        alignment = alignment_of(op, source)
        if mask is None:
            load = load_op(address, in_memory(type), alignment)
            value = rewriter.insert(load).dereferenced_value
            value = from_memory(rewriter, value, type)
        else:
            padding = broadcast(rewriter, operands.named("padding")[0], type)
            value = masked_load(rewriter, address, mask, padding, alignment)
        rewriter.replace(op, (), (value,))


class ConvertTransferWrite(ConversionPattern[vector.TransferWriteOp]):
    """A masked store where the lanes may end outside of the memref."""

    root = vector.TransferWriteOp
    drops = ("alignment",)

    def match_and_rewrite(
        self,
        op: vector.TransferWriteOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        if (refusal := refuse_transfer(op)) is not None:
            return refusal
        target = neighbours(op.source, operands.groups[1], op.vector, rewriter)
        indices = numbers(op.indices, operands.named("indices"))
        address = target.element(rewriter, indices, inbounds=False)
        value = operands[0]
        given = operands.named("mask")
        mask = transfer_mask(op, target, indices, value.type, tuple(given), rewriter)
        stored = to_memory(rewriter, value)
        alignment = alignment_of(op, target)
        if mask is None:
            rewriter.replace(op, store_op(stored, address, alignment))
        else:
            rewriter.replace(op, llvm.MaskedStoreOp(stored, address, mask, alignment))


Transfer = vector.TransferReadOp | vector.TransferWriteOp


def refuse_transfer(op: Transfer) -> Refusal | None:
    """Why a transfer is not one access to neighbouring elements."""
    if not isinstance(op.source.type, MemRefType):
        return Refusal(f"expected a memref, but got '{op.source.type}'")
    rank = len(op.indices)
    wanted = AffineMap.minor_identity(rank, 1) if rank else None
    if op.permutation_map.data != wanted:
        return Refusal(
            f"expected the permutation map '{wanted}', but got "
            f"'{op.permutation_map.data}'"
        )
    return None


def transfer_mask(
    op: Transfer,
    memref: MemRef,
    indices: Sequence[Number],
    type: Attribute,
    given: Sequence[SSAValue],
    rewriter: ConversionRewriter,
) -> SSAValue | None:
    """The lanes to access; None if all are."""
    flags = cast("Sequence[IntegerAttr]", tuple(op.in_bounds))
    inside = bool(flags) and bool(flags[-1].value.data)
    size, index = memref.sizes[-1], indices[-1]
    lanes = llvm.lanes_of(type)
    assert lanes is not None, "vectors are transferred"
    if isinstance(size, int) and isinstance(index, int):
        inside = inside or index + lanes <= size
    if inside:
        return given[0] if given else None
    left = add(rewriter, size, multiply(rewriter, index, -1))
    mask = first_lanes(rewriter, constant(rewriter, left), lanes)
    if not given:
        return mask
    return rewriter.insert(llvm.AndOp(mask, given[0])).res


VECTOR_MEMORY_PATTERNS: tuple[ConversionPattern[Any], ...] = (
    ConvertLoad(),
    ConvertMaskedLoad(),
    ConvertMaskedStore(),
    ConvertStore(),
    ConvertTransferRead(),
    ConvertTransferWrite(),
)

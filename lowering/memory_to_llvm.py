"""
Patterns from the allocation of memory to the `llvm` dialect: on the heap by the C
library, which may fail, or on the stack.
"""

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, i8
from xdsl.ir import SSAValue

from transom.dialects import executor, llvm, tir
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    Operands,
    Refusal,
)
from transom.lowering.failures import Allocation, Failures, enclosing_function
from transom.lowering.llvm_types import (
    element_storage,
    layout_is_identity,
    pointer_type,
    storage_bytes,
)
from transom.lowering.memref_parts import MemRef, Number, add, constant, multiply

DEFAULT_ALIGNMENT = 64
"""Of memory that is allocated, in bytes."""

MAX_STACK_BYTES = 1 << 20
"""What a buffer on the stack may take; threads often have 8 MiB in all."""


def sizes_of(type: MemRefType, dynamic: Sequence[SSAValue]) -> tuple[Number, ...]:
    """The sizes of a memref that is allocated."""
    values = iter(dynamic)
    return tuple(next(values) if s == DYNAMIC_INDEX else s for s in type.get_shape())


def allocated(
    rewriter: ConversionRewriter,
    type: MemRefType,
    pointer: SSAValue,
    sizes: Sequence[Number],
) -> list[SSAValue]:
    """The values of a memref of the identity layout at a new place."""
    passed = [n for n in sizes if isinstance(n, SSAValue)]
    return [*MemRef.take(rewriter, type, (pointer, *passed)).give(rewriter, type)]


def count_bytes(
    rewriter: ConversionRewriter, type: MemRefType, sizes: Sequence[Number]
) -> Number:
    """How many bytes the elements of a memref take."""
    if not layout_is_identity(type):
        rewriter.refuse(f"expected the identity layout, but got '{type}'")
    storage = element_storage(type.element_type)
    unit = storage if isinstance(storage, Refusal) else storage_bytes(storage)
    if isinstance(unit, Refusal):
        rewriter.refuse(unit.reason)
    total: Number = unit
    for size in sizes:
        total = multiply(rewriter, total, size)
    return total


class ConvertAlloc(ConversionPattern[Allocation]):
    """Memory from `aligned_alloc`, which is checked."""

    root = (memref.AllocOp, executor.AllocOp)

    def __init__(self, failures: Failures) -> None:
        self.failures = failures

    def match_and_rewrite(
        self, op: Allocation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        (result,) = op.results
        type = cast(MemRefType, result.type)
        sizes = sizes_of(type, operands.named("dynamic_sizes").flat)
        given = 0 if op.alignment is None else op.alignment.value.data
        alignment = max(given, DEFAULT_ALIGNMENT)
        # aligned_alloc takes multiples of the alignment, and may give null for none.
        padded = add(rewriter, count_bytes(rewriter, type, sizes), alignment)
        if isinstance(padded, int):
            padded = padded & -alignment
        else:
            mask = constant(rewriter, -alignment)
            padded = rewriter.insert(llvm.AndOp(padded, mask)).res
        arguments = constant(rewriter, alignment), constant(rewriter, padded)
        call = rewriter.insert(
            llvm.CallOp("aligned_alloc", *arguments, return_type=pointer_type(type))
        )
        pointer = call.returned
        assert pointer is not None, "the call has a result"
        null = rewriter.insert(llvm.ZeroOp(pointer.type)).res
        good = rewriter.insert(llvm.ICmpOp(pointer, null, "ne")).res
        self.failures.check(op, good, rewriter)
        rewriter.replace(op, (), (allocated(rewriter, type, pointer, sizes),))


class ConvertDealloc(ConversionPattern[memref.DeallocOp | executor.FreeOp]):
    root = (memref.DeallocOp, executor.FreeOp)

    def match_and_rewrite(
        self,
        op: memref.DeallocOp | executor.FreeOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        rewriter.replace(op, llvm.CallOp("free", operands.groups[0][0]))


class ConvertAlloca(ConversionPattern[memref.AllocaOp | tir.AllocOp]):
    """
    Memory of the function. One of a static size is made once, in its first block, also
    where it is in a loop: each round starts with it anew.
    """

    root = (memref.AllocaOp, tir.AllocOp)

    def match_and_rewrite(
        self,
        op: memref.AllocaOp | tir.AllocOp,
        operands: Operands,
        rewriter: ConversionRewriter,
    ) -> Refusal | None:
        (result,) = op.results
        type = cast(MemRefType, result.type)
        sizes = sizes_of(type, operands.named("dynamic_sizes").flat)
        size = count_bytes(rewriter, type, sizes)
        if not isinstance(size, int) or size > MAX_STACK_BYTES:
            return Refusal(
                f"expected at most {MAX_STACK_BYTES} bytes of static size for the "
                f"stack, but got '{type}'"
            )
        function = enclosing_function(op)
        if function is None:
            return Refusal("expected to be in a function")
        given = 0 if op.alignment is None else op.alignment.value.data
        entry = rewriter.converted_block(function.regions[0].blocks[0])
        with rewriter.at_start(entry):
            count = constant(rewriter, max(size, 1))
            alignment = max(given, DEFAULT_ALIGNMENT)
            pointer = rewriter.insert(llvm.AllocaOp(count, i8, alignment)).res
        rewriter.replace(op, (), (allocated(rewriter, type, pointer, sizes),))


def allocation_patterns(failures: Failures) -> tuple[ConversionPattern[Any], ...]:
    """Patterns for one module, whose failures are counted."""
    return (ConvertAlloc(failures), ConvertAlloca(), ConvertDealloc())

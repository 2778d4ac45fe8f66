"""
Convert main from `tir` to `executor`.

```mlir
%a = tir.alloc {pool = @p, offset = 64} : memref<4xf32>    %a = executor.view @p[64] : …
%b = tir.alloc(%n) : memref<?xf32>                         %b = executor.alloc(%n) : …
tir.call @k(%a : …) outs(%b : …)                      ==>  executor.call @k(%a, %b : …)
tir.copy %b, %y : …                                        executor.copy %b, %y : …
%n = func.call @sizes(%a) : … -> index                     %n = executor.shape_call …
                                                           executor.free %b : …
```

Memory without a place in a pool is freed after its last use in its block; copies in the
background are done when they start. Constants that nothing reads are dropped.
Afterwards no `tir` op is left but kernels, which stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from transom.dialects import executor, graph, tir
from transom.dialects.diagnostics import OpError
from transom.lowering.bufferize.memrefs import memref_of
from transom.lowering.bufferize.types import AnyMemRef
from transom.lowering.conversion import (
    ConversionPattern,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    Refusal,
    apply_full_conversion,
)
from transom.passes.memory.constant_places import drop_unread_constants


class ConvertPlannedAlloc(ConversionPattern[tir.AllocOp]):
    """Memory that a plan has put into a pool."""

    root = tir.AllocOp
    generates = (executor.ViewOp,)
    benefit = 2

    def match_and_rewrite(
        self, op: tir.AllocOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if op.pool is None or op.offset is None:
            return Refusal("expected an offset in a pool")
        if op.dynamic_sizes and op.reserves is None:
            return Refusal("expected 'reserves' with dynamic sizes")
        rewriter.replace(
            op,
            executor.ViewOp(
                op.pool.string_value(),
                op.offset.value.data,
                op.result.type,
                tuple(operands),
                None if op.reserves is None else op.reserves.value.data,
            ),
        )
        return None


class ConvertAlloc(ConversionPattern[tir.AllocOp]):
    """Memory that is taken at run time."""

    root = tir.AllocOp
    generates = (executor.AllocOp,)

    def match_and_rewrite(
        self, op: tir.AllocOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        if not isinstance(op.result.type.layout, NoneAttr):
            return Refusal(f"expected the identity layout, but got '{op.result.type}'")
        alignment = None if op.alignment is None else op.alignment.value.data
        rewriter.replace(
            op, executor.AllocOp(op.result.type, tuple(operands), alignment)
        )
        return None


class ConvertCall(ConversionPattern[tir.CallOp]):
    """The kernel's arguments in order; types that say less about sizes are cast."""

    root = tir.CallOp
    generates = (executor.CallOp, memref.CastOp, memref.MemorySpaceCastOp)

    def match_and_rewrite(
        self, op: tir.CallOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        kernel = op.find_callee()
        if kernel is None:
            return Refusal(f"expected '@{op.callee_name}' to be a kernel of the module")
        arguments: list[SSAValue] = []
        types = kernel.argument_types
        for number, (value, argument) in enumerate(zip(operands, types, strict=True)):
            wanted, found = str(argument), str(value.type)
            if isinstance(argument, MemRefType):
                if not isinstance(value.type, MemRefType):
                    return Refusal(
                        f"expected a memref as argument {number}, but got '{found}'"
                    )
                fitting = _cast_to(
                    value, _signless(cast(AnyMemRef, argument)), rewriter
                )
                if fitting is None:
                    return Refusal(
                        f"expected argument {number} of type '{wanted}', but got "
                        f"'{found}'"
                    )
                value = fitting
            arguments.append(value)
        rewriter.replace(op, executor.CallOp(op.callee, arguments))
        return None


def _signless(type: AnyMemRef) -> AnyMemRef:
    """The signless memref that a kernel takes."""
    return MemRefType(
        tir.signless(type.element_type),
        type.shape,
        type.layout,
        type.memory_space,
    )


def _cast_to(
    value: SSAValue, wanted: AnyMemRef, rewriter: ConversionRewriter
) -> SSAValue | None:
    """The same memory under a type that says more or less about its sizes."""
    type = memref_of(value)
    if isinstance(wanted.memory_space, NoneAttr) and type.memory_space != NoneAttr():
        # The kernel runs where this memory is reached, and says nothing of it.
        type = MemRefType(type.element_type, type.shape, type.layout)
        value = rewriter.insert(memref.MemorySpaceCastOp(value, type)).dest
    if type == wanted:
        return value
    if (type.layout, type.memory_space) != (wanted.layout, wanted.memory_space):
        return None
    if tir.signless(type.element_type) != wanted.element_type:
        return None
    if type.get_shape() == wanted.get_shape():
        return value
    fitting = MemRefType(
        type.element_type, wanted.shape, wanted.layout, wanted.memory_space
    )
    return rewriter.insert(memref.CastOp.get(value, fitting)).dest


class ConvertCopy(ConversionPattern[Operation]):
    """A copy that may go on in the background is done at once."""

    root = (tir.CopyOp, tir.CopyAsyncOp, memref.CopyOp)
    generates = (executor.CopyOp,)

    def match_and_rewrite(
        self, op: Operation, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        source, destination = operands
        if isinstance(op, tir.CopyAsyncOp) and op.is_handed_on:
            return Refusal("expected a token that nothing but 'tir.wait' takes")
        copy = rewriter.carry_to(executor.CopyOp(source, destination))
        rewriter.replace(op, copy, [()] * len(op.results))
        return None


class ConvertWait(ConversionPattern[tir.WaitOp]):
    """Nothing goes on in the background."""

    root = tir.WaitOp
    generates = ()

    def match_and_rewrite(
        self, op: tir.WaitOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, (), ())
        return None


class ConvertPrefetch(ConversionPattern[tir.PrefetchOp]):
    """Main has nothing to bring near."""

    root = tir.PrefetchOp
    generates = ()

    def match_and_rewrite(
        self, op: tir.PrefetchOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(op, (), ())
        return None


class ConvertShapeCall(ConversionPattern[func.CallOp]):
    """A call of a function that computes sizes."""

    root = func.CallOp
    generates = (executor.ShapeCallOp,)

    def match_and_rewrite(
        self, op: func.CallOp, operands: Operands, rewriter: ConversionRewriter
    ) -> Refusal | None:
        rewriter.replace(
            op, executor.ShapeCallOp(op.callee, list(operands), op.result_types)
        )
        return None


def gives_no_sizes(op: Operation) -> bool:
    """Whether a call is of a function that has no results, or others than sizes."""
    types = op.result_types
    return not types or any(not isinstance(type, IndexType) for type in types)


@dataclass(frozen=True)
class ConvertTirToExecutorPass(ModulePass):
    name = "convert-tir-to-executor"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        drop_unread_constants(op)
        functions = [f for f in op.body.ops if isinstance(f, func.FuncOp)]
        for function in functions:
            for alloc in function.walk():
                if isinstance(alloc, tir.AllocOp) and alloc.offset is None:
                    _last_use(alloc, alloc.result)
        target = ConversionTarget()
        target.add_illegal_dialect("tir")
        target.add_illegal_op(memref.CopyOp)
        target.add_legal_op(tir.FuncOp)
        target.add_dynamically_legal_op(func.CallOp, predicate=gives_no_sizes)
        target.mark_recursively_legal(tir.FuncOp, graph.WeightOp)
        patterns = (
            ConvertPlannedAlloc(),
            ConvertAlloc(),
            ConvertCall(),
            ConvertCopy(),
            ConvertWait(),
            ConvertPrefetch(),
            ConvertShapeCall(),
        )
        apply_full_conversion(op, target, patterns)
        for function in functions:
            if function.parent is not None:
                _free_after_use(function)


def _free_after_use(function: func.FuncOp) -> None:
    """Give memory back right after its last use."""
    for alloc in tuple(function.walk()):
        if isinstance(alloc, executor.AllocOp) and not any(
            isinstance(use.operation, executor.FreeOp) for use in alloc.result.uses
        ):
            last = _last_use(alloc, alloc.result)
            free = executor.FreeOp(alloc.result)
            free.location = alloc.location
            Rewriter.insert_op(free, InsertPoint.after(last))


def _last_use(alloc: Operation, memory: SSAValue) -> Operation:
    """
    The last op of the block that uses memory, itself or in what it holds.

    Raises `OpError` if the memory can be used after its block.
    """
    block = alloc.parent
    assert block is not None, "the op is in a function"
    last = alloc
    positions = {op: number for number, op in enumerate(block.ops)}
    seen: set[SSAValue] = set()
    work = [memory]
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.operation
            around = block.find_ancestor_op_in_block(user)
            if around is None or around is block.last_op:
                raise OpError(
                    alloc,
                    "expected memory without a place in a pool to be used in its "
                    "block only",
                )
            if positions[around] > positions[last]:
                last = around
            work += _names_after(user)
    return last


def _names_after(user: Operation) -> list[SSAValue]:
    """The memrefs that may be the same memory after an op that takes it."""
    holders: list[Operation] = [user]
    around = user.parent_op()
    if around is not None and user.parent is not None and user.parent.last_op is user:
        holders.append(around)
    return [
        value
        for op in holders
        for value in (*op.results, *_block_arguments(op))
        if isinstance(value.type, MemRefType)
    ]


def _block_arguments(op: Operation) -> Sequence[SSAValue]:
    return [a for region in op.regions for block in region.blocks for a in block.args]

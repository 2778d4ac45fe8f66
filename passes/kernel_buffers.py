"""
Who reads and writes the buffers of a kernel, seen from one block of it.

Two memrefs may be the same memory only if one is a view of the other: arguments of a
kernel do not overlap, nor do its buffers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from transom.dialects import tir


def root_of(buffer: SSAValue) -> SSAValue:
    """The memory that a memref is a view of."""
    while isinstance(owner := buffer.owner, Operation):
        viewed = [v for v in owner.operands if isinstance(v.type, MemRefType)]
        if not viewed:
            return buffer
        buffer = viewed[0]
    return buffer


def is_view(op: Operation) -> bool:
    """Whether an op only gives its memref operand another form."""
    makes_memref = any(isinstance(result.type, MemRefType) for result in op.results)
    return makes_memref and is_side_effect_free(op)


def is_local(buffer: SSAValue) -> bool:
    """Whether a buffer is one of the kernel's own."""
    return isinstance(buffer.owner, tir.AllocOp)


def smaller(
    alloc: tir.AllocOp, shape: Sequence[int], sizes: Sequence[SSAValue]
) -> tir.AllocOp:
    """A buffer for a part of another one, in the same memory."""
    type = alloc.result.type
    part = MemRefType(type.element_type, shape, memory_space=type.memory_space)
    new = tir.AllocOp.create(
        operands=sizes, properties=dict(alloc.properties), result_types=[part]
    )
    new.location = alloc.location
    return new


def is_output(buffer: SSAValue) -> bool:
    """Whether a buffer is a result of the kernel, without content before."""
    if not isinstance(buffer, BlockArgument):
        return False
    func = buffer.block.parent_op()
    return (
        isinstance(func, tir.FuncOp)
        and func.argument_effects[buffer.index] is tir.Effect.WRITE
    )


@dataclass(frozen=True)
class Use:
    """An op of the block that touches a buffer, itself or in its regions."""

    op: Operation
    position: int
    writes: bool
    """Whether it may write it."""


class BlockOrder:
    """The places of the ops of a block; a new op takes that of one that it replaces."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._positions = {op: index for index, op in enumerate(block.ops)}

    def of(self, op: Operation) -> int:
        """The place of an op of the block."""
        return self._positions[op]

    def replace(self, old: Operation, new: Operation) -> None:
        """Give an op the place of another, which goes."""
        self._positions[new] = self._positions.pop(old)

    def uses(self, buffer: SSAValue) -> list[Use]:
        """All uses of the memory of a buffer, through views as well."""
        found: list[Use] = []
        pending = [root_of(buffer)]
        while pending:
            value = pending.pop()
            for use in value.uses:
                op = use.operation
                if isinstance(op, memref.DimOp):
                    continue
                if is_view(op):
                    pending += op.results
                outer = self._outer(op)
                if outer is not None:
                    writes = not is_view(op) and may_write(op, value)
                    found.append(Use(outer, self._positions[outer], writes))
        return found

    def _outer(self, op: Operation) -> Operation | None:
        """The op of the block that an op is, or is in."""
        outer: Operation | None = op
        while outer is not None and outer not in self._positions:
            outer = outer.parent_op()
        return outer

    def between(
        self, buffers: Iterable[SSAValue], first: Operation, last: Operation
    ) -> Iterator[Use]:
        """The uses of some buffers by ops between two."""
        start, end = self._positions[first], self._positions[last]
        for buffer in buffers:
            for use in self.uses(buffer):
                if start < use.position < end:
                    yield use


def may_write(op: Operation, buffer: SSAValue) -> bool:
    """Whether an op may write a buffer that is one of its operands."""
    return not isinstance(op, tir.NestOp) or buffer in op.outs

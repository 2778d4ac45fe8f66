"""
What the ops of functions on memrefs do to their buffers, at which program points.

A buffer is a `tir.alloc`. It is live from its first write to the last read that no
overwriting comes before, along every path: arms of a branch are different points, and a
buffer that each iteration of a loop overwrites first is dead between iterations. A
function has points of its own for each call that leads to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from transom.dialects import executor, tir
from transom.passes.memory.flow_graph import FlowGraph, live, touched, transposed

RESULT = "tir.result"
"""The discardable attribute of an argument that a result is written to."""

FULL_VIEWS = (
    memref.AssumeAlignmentOp,
    memref.CastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.MemorySpaceCastOp,
)
"""Views of all of a memref."""

PART_VIEWS = (memref.ReinterpretCastOp, memref.SubviewOp, memref.ViewOp)
"""Views of what may be a part of a memref."""


@dataclass(frozen=True)
class Reference:
    """What a memref may point into; `whole` if it is exactly one whole buffer."""

    buffers: int = 0
    whole: bool = False


NOWHERE = Reference()


@dataclass
class BufferAccesses:
    """
    Points of a program, and per point which buffers are read, overwritten as a whole,
    or touched in any way.

    Buffers in `escaped` may be reached in ways that are not seen; there may be several
    of each in `multiple` at a time.
    """

    buffers: list[tir.AllocOp] = field(default_factory=list[tir.AllocOp])
    graph: FlowGraph = field(default_factory=FlowGraph)
    points: list[Operation] = field(default_factory=list[Operation])
    reads: list[int] = field(default_factory=list[int])
    kills: list[int] = field(default_factory=list[int])
    accesses: list[int] = field(default_factory=list[int])
    escaped: int = 0
    multiple: int = 0

    def lifetimes(self) -> list[int]:
        """For each buffer the points at which its memory is its own."""
        liveness = live(self.graph, self.reads, self.kills)
        reached = touched(self.graph, self.accesses)
        everywhere = (1 << len(self.graph)) - 1
        occupied = [
            self.accesses[point]
            | (liveness.before[point] & reached.before[point])
            | (liveness.after[point] & reached.after[point])
            for point in range(len(self.graph))
        ]
        return [
            everywhere if self.escaped >> number & 1 else points
            for number, points in enumerate(transposed(occupied, len(self.buffers)))
        ]


def buffer_accesses(
    roots: Iterable[func.FuncOp], functions: Mapping[str, func.FuncOp]
) -> BufferAccesses:
    """
    The buffers of functions of one block and of what they call, and what is done with
    them. `functions` are those, by name, that are looked into where they are called;
    none of them leads to a call of itself.
    """
    walker = _Walker(functions)
    for root in roots:
        block = root.body.block
        walker.refer(block)
        walker.visit_block(block, walker.point(root))
    return walker.result


class _Walker:
    """Follows memrefs through functions, then visits their ops point by point."""

    functions: Mapping[str, func.FuncOp]
    result: BufferAccesses
    references: dict[SSAValue, Reference]

    def __init__(self, functions: Mapping[str, func.FuncOp]) -> None:
        self.functions = functions
        self.result = BufferAccesses()
        self.references = {}

    # What memrefs refer to

    def refer(self, block: Block) -> None:
        """Repeat until loops add nothing; the sets only grow."""
        while self._refer_block(block):
            pass

    def _refer_block(self, block: Block) -> bool:
        changed = False
        for op in block.ops:
            if isinstance(op, tir.AllocOp):
                self._number(op)
            for result in op.results:
                if isinstance(result.type, MemRefType) and not isinstance(
                    op, tir.AllocOp
                ):
                    changed |= self._join(result, self._sources(op, result))
            for region in op.regions:
                for inner in region.blocks:
                    for argument in inner.args:
                        if isinstance(argument.type, MemRefType):
                            changed |= self._join(argument, _carried(op, argument))
                    changed |= self._refer_block(inner)
        return changed

    def _number(self, alloc: tir.AllocOp) -> int:
        """The bit of a buffer, which is new if it was not seen before."""
        if alloc.result not in self.references:
            mask = 1 << len(self.result.buffers)
            self.result.buffers.append(alloc)
            self.references[alloc.result] = Reference(mask, whole=True)
        return self.references[alloc.result].buffers

    def _sources(self, op: Operation, result: SSAValue) -> Sequence[SSAValue]:
        if op.regions:
            return _carried(op, result)
        return [v for v in op.operands if isinstance(v.type, MemRefType)]

    def _join(self, value: SSAValue, sources: Sequence[SSAValue]) -> bool:
        found = [self.references.get(source, NOWHERE) for source in sources]
        buffers = 0
        for reference in found:
            buffers |= reference.buffers
        whole = isinstance(value.owner, FULL_VIEWS) and found[0].whole
        new = Reference(buffers, whole)
        changed = self.references.get(value, NOWHERE) != new
        self.references[value] = new
        return changed

    def reference(self, value: SSAValue) -> Reference:
        return self.references.get(value, NOWHERE)

    def all_of(self, values: Iterable[SSAValue]) -> int:
        mask = 0
        for value in values:
            mask |= self.reference(value).buffers
        return mask

    # Points

    def point(
        self,
        op: Operation,
        *predecessors: int,
        reads: int = 0,
        kills: int = 0,
        accesses: int = 0,
        undefined: int = 0,
    ) -> int:
        self.result.points.append(op)
        self.result.reads.append(reads)
        self.result.kills.append((kills & ~reads) | undefined)
        self.result.accesses.append(accesses | reads | kills)
        return self.result.graph.add(*predecessors)

    def visit_block(self, block: Block, at: int) -> int:
        for op in block.ops:
            at = self.visit(op, at)
        return at

    def visit(self, op: Operation, at: int) -> int:
        match op:
            case scf.IfOp():
                return self.visit_if(op, at)
            case scf.ForOp():
                return self.visit_for(op, at)
            case scf.WhileOp():
                return self.visit_while(op, at)
            case _ if op.regions:
                return self.visit_opaque(op, at)
            case func.CallOp() if op.callee.string_value() in self.functions:
                return self.visit_call(op, at)
            case tir.AllocOp():
                undefined = self.reference(op.result).buffers
                return self.point(op, at, undefined=undefined)
            case memref.DimOp() | executor.ConstantOp():
                return at
            case _ if isinstance(op, (*FULL_VIEWS, *PART_VIEWS, scf.YieldOp)):
                return at
            case _:
                return self.visit_leaf(op, at)

    def visit_leaf(self, op: Operation, at: int) -> int:
        effects = effects_of(op)
        if effects is not None:
            reads = self.all_of(effects.reads)
            accesses = self.all_of((*effects.overwrites, *effects.touches))
            if not reads | accesses:
                return at
            kills = 0
            for reference in map(self.reference, effects.overwrites):
                if reference.whole:
                    kills |= reference.buffers
            return self.point(op, at, reads=reads, kills=kills, accesses=accesses)
        mentioned = self.all_of(op.operands)
        if not mentioned:
            return at
        if not isinstance(op, func.ReturnOp | scf.ConditionOp) and not _keeps_nothing(
            op
        ):
            self.result.escaped |= mentioned
        return self.point(op, at, reads=mentioned)

    def visit_call(self, op: func.CallOp, at: int) -> int:
        """A function is done in the place of its call, on what it is given."""
        callee = self.functions[op.callee.string_value()]
        for value in _memrefs_in(callee):
            if not isinstance(value.owner, tir.AllocOp):
                self.references.pop(value, None)  # of another call
        block = callee.body.block
        for argument, value in zip(block.args, op.arguments, strict=True):
            self.references[argument] = self.reference(value)
        self.refer(block)
        return self.visit_block(block, at)

    def visit_opaque(self, op: Operation, at: int) -> int:
        """An op whose regions run in ways not known here: all at once, so to speak."""
        mentioned = 0
        work, called = [op], set[str]()
        while work:
            for inner in work.pop().walk():
                mentioned |= self.all_of(inner.operands)
                if isinstance(inner, tir.AllocOp):
                    mask = self._number(inner)
                    mentioned |= mask
                    self.result.multiple |= mask
                elif isinstance(inner, func.CallOp):
                    name = inner.callee.string_value()
                    if name in self.functions and name not in called:
                        called.add(name)
                        work.append(self.functions[name])
        return self.point(op, at, reads=mentioned)

    def visit_if(self, op: scf.IfOp, at: int) -> int:
        start = self.point(op, at)
        ends = [
            self.visit_block(block, start)
            for region in op.regions
            for block in region.blocks
        ]
        if op.false_region.blocks.first is None:
            ends.append(start)
        return self.point(op, *ends)

    def visit_for(self, op: scf.ForOp, at: int) -> int:
        head = self.point(op, at)
        end = self.visit_block(op.body.block, head)
        self.result.graph.connect(end, head)
        return self.point(op, head)

    def visit_while(self, op: scf.WhileOp, at: int) -> int:
        head = self.point(op, at)
        condition = self.visit_block(op.before_region.block, head)
        end = self.visit_block(op.after_region.block, condition)
        self.result.graph.connect(end, head)
        return self.point(op, condition)


def _memrefs_in(function: func.FuncOp) -> list[SSAValue]:
    """What a function computes, and what its blocks take."""
    found: list[SSAValue] = []
    for op in function.walk():
        found += op.results
        for region in op.regions:
            for block in region.blocks:
                found += block.args
    return [value for value in found if isinstance(value.type, MemRefType)]


class Effects(NamedTuple):
    """What an op reads, what it overwrites as a whole, and what it writes a part of."""

    reads: Sequence[SSAValue] = ()
    overwrites: Sequence[SSAValue] = ()
    touches: Sequence[SSAValue] = ()


def effects_of(op: Operation) -> Effects | None:
    """What an op does to the memory of its operands; None if that is not known."""
    match op:
        case tir.CallOp():
            return _kernel_call(op)
        case func.CallOp():
            return _call(op)
        case tir.CopyAsyncOp() if op.is_handed_on:
            return None
        case tir.CopyOp() | tir.CopyAsyncOp() | memref.CopyOp() | executor.CopyOp():
            return Effects((op.source,), (op.destination,))
        case tir.WaitOp() if isinstance(copy := op.token.owner, tir.CopyAsyncOp):
            # Until then both are in use, whoever else reads or writes them.
            return Effects((copy.source, copy.destination))
        case memref.LoadOp():
            return Effects((op.memref,))
        case memref.StoreOp():
            return Effects(touches=(op.memref,))
        case _:
            return None


def _carried(op: Operation, value: SSAValue) -> list[SSAValue]:
    """What a result or block argument of an op with regions may be, in their order."""
    sources: list[SSAValue] = []
    for around in (op, *_terminators(op)):
        sources += [v for v in around.operands if v.type == value.type]
    return sources


def _terminators(op: Operation) -> list[Operation]:
    return [
        block.last_op
        for region in op.regions
        for block in region.blocks
        if block.last_op is not None
    ]


def _keeps_nothing(op: Operation) -> bool:
    """Whether an op does not hand on the address of what it is given."""
    return isinstance(op, arith.SelectOp | memref.DimOp) or not op.results


def _kernel_call(op: tir.CallOp) -> Effects:
    """What a kernel reads and overwrites, by the effects of its arguments."""
    kernel = op.find_callee()
    values = [*op.ins, *op.outs, *op.scratch]
    if kernel is None:
        return Effects(values, (), values)
    read: list[SSAValue] = []
    written: list[SSAValue] = []
    updated: list[SSAValue] = []
    for value, effect in zip(values, kernel.argument_effects, strict=True):
        if effect in (tir.Effect.WRITE, tir.Effect.SCRATCH):
            written.append(value)
            continue
        read.append(value)
        if effect is tir.Effect.READ_WRITE:
            updated.append(value)
    return Effects(read, written, updated)


def _call(op: func.CallOp) -> Effects:
    """What a function of the host reads and overwrites: results are arguments of it."""
    try:
        callee = SymbolTable.lookup_symbol(op, op.callee)
    except ValueError:  # no symbol table around the op
        callee = None
    read: list[SSAValue] = []
    written: list[SSAValue] = []
    if not isinstance(callee, func.FuncOp) or callee.is_declaration:
        values = tuple(op.arguments)
        return Effects(values, (), values)
    attributes = callee.arg_attrs
    for number, value in enumerate(op.arguments):
        writes = attributes is not None and isinstance(
            attributes.data[number].data.get(RESULT), IntegerAttr
        )
        (written if writes else read).append(value)
    return Effects(read, written)

"""
Check that a memory plan changes no value that is read.

Nothing of this is shared with the planner. It follows the program forward, knowing for
each planned buffer whether another one has been written to its bytes since, and refuses
a read of such a buffer. Loops are followed until nothing new is found, and what either
arm of a branch overwrites counts. It also checks that buffers lie in their pools, in
the right memory, with the alignment that they ask for, and that what is reserved for a
dynamic size is enough at the bounds of all sizes. A function that is called is followed
where it is called. Inputs and outputs that have places in pools are seen as buffers
that main copies at its start and at its end.

```mlir
executor.pool @p {size = 64}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  %b = tir.alloc {pool = @p, offset = 0} : memref<16xf32>
  tir.copy %x, %a : memref<16xf32>, memref<16xf32>
  tir.copy %x, %b : memref<16xf32>, memref<16xf32>
  tir.copy %a, %y : memref<16xf32>, memref<16xf32>  // error: overwritten
  func.return
}
```
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from transom.dialects import executor, tir
from transom.dialects.diagnostics import Note, OpError
from transom.dialects.executor import PLACES
from transom.passes.memory.argument_places import ArgumentCopies
from transom.passes.memory.plan_accesses import (
    HARMLESS,
    SAME_BYTES,
    accesses_of,
    sources_of,
)
from transom.passes.memory.planned_buffers import (
    PlannedBuffer,
    check_access,
    check_sizes,
)


@dataclass(frozen=True)
class TirVerifyPlanPass(ModulePass):
    name = "tir-verify-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_plan(op)


def verify_plan(module: ModuleOp) -> None:
    """Raise `OpError` at the first buffer or access that breaks the plan."""
    if any(PLACES in op.attributes for op in module.body.ops):
        module = module.clone()  # arguments in pools are checked as their copies
        ArgumentCopies(module, inputs=False, outputs=False)
    pools: dict[str, executor.PoolOp] = {}
    functions: dict[str, func.FuncOp] = {}
    for op in module.body.ops:
        if isinstance(op, executor.PoolOp):
            pools[op.sym_name.data] = op
        elif isinstance(op, func.FuncOp) and not op.is_declaration:
            functions[op.sym_name.data] = op
    check_sizes(module, pools.values())
    planned = {
        name: [
            PlannedBuffer.of(op, pools)
            for op in function.walk()
            if isinstance(op, tir.AllocOp) and op.offset is not None
        ]
        for name, function in functions.items()
    }
    everything = [buffer for buffers in planned.values() for buffer in buffers]
    for function in functions.values():
        _Checker(module, functions, everything).run(function)


@dataclass
class _State:
    """Buffers that hold what was written to them, and those that do not any more."""

    intact: set[PlannedBuffer] = field(default_factory=set[PlannedBuffer])
    overwritten: dict[PlannedBuffer, Operation] = field(
        default_factory=dict[PlannedBuffer, Operation]
    )
    """With the op that last wrote over some of the bytes."""

    def copy(self) -> "_State":
        """The same, to be changed on its own."""
        return _State(set(self.intact), dict(self.overwritten))

    def forget(self, buffer: PlannedBuffer) -> None:
        """A buffer that holds nothing yet."""
        self.intact.discard(buffer)
        self.overwritten.pop(buffer, None)

    def overwrite(self, others: AbstractSet[PlannedBuffer], op: Operation) -> None:
        """An op writes to bytes of other buffers."""
        for other in self.intact & others:
            self.overwritten[other] = op
        self.intact -= others

    def keep(self, buffer: PlannedBuffer, whole: bool) -> None:
        """A buffer holds what was written; all of it, if it was written as a whole."""
        if whole:
            self.overwritten.pop(buffer, None)
        if buffer not in self.overwritten:
            self.intact.add(buffer)


@dataclass
class _Checker:
    """
    Walks one function, and what it calls in the place of the call; `state` is what is
    known before the next op.
    """

    module: ModuleOp
    functions: Mapping[str, func.FuncOp]
    planned: Sequence[PlannedBuffer]
    state: _State = field(default_factory=_State)
    exposed: dict[PlannedBuffer, Operation] = field(
        default_factory=dict[PlannedBuffer, Operation]
    )
    """Buffers whose address was taken, and where."""

    def __post_init__(self) -> None:
        self.by_result: dict[SSAValue, PlannedBuffer] = {
            buffer.alloc.result: buffer for buffer in self.planned
        }
        self.neighbours = _neighbours(self.planned)
        self.running: list[func.FuncOp] = []
        self.given: dict[SSAValue, SSAValue] = {}

    def run(self, function: func.FuncOp) -> None:
        """Raise `OpError` at the first bad access."""
        self.running.append(function)
        for block in function.body.blocks:
            self.block(block)
        self.running.pop()

    def call(self, op: func.CallOp) -> None:
        """What a function does with what it is given here."""
        callee = self.functions[op.callee.string_value()]
        if callee in self.running:
            for buffer in self.planned:
                if callee.is_ancestor(buffer.alloc):
                    raise OpError(
                        op,
                        f"expected '@{callee.sym_name.data}' to have no planned "
                        "buffer, as it calls itself",
                        Note(buffer.alloc, "the buffer"),
                    )
            self.access(op)
            return
        outer = self.given
        arguments = zip(callee.body.block.args, op.arguments, strict=True)
        self.given = {**outer, **dict(arguments)}
        self.run(callee)
        self.given = outer

    def block(self, block: Block) -> None:
        for op in block.ops:
            match op:
                case tir.AllocOp():
                    if op.result in self.by_result:
                        self.state.forget(self.by_result[op.result])
                case scf.IfOp():
                    self.branch(op)
                case scf.ForOp():
                    self.repeat(op.body)
                case scf.WhileOp():
                    self.block(op.before_region.block)
                    self.repeat(op.after_region, op.before_region)
                case func.CallOp() if op.callee.string_value() in self.functions:
                    self.call(op)
                case _ if op.regions:
                    self.anyhow(op)
                case _:
                    self.access(op)

    def branch(self, op: scf.IfOp) -> None:
        before = self.state.copy()
        ends: list[_State] = []
        for region in op.regions:
            self.state = before.copy()
            for block in region.blocks:
                self.block(block)
            ends.append(self.state)
        self.state = _joined(ends)

    def repeat(self, *regions: Region) -> None:
        """Regions that run one after the other, any number of times."""
        while True:
            before = self.state.copy()
            for region in regions:
                for block in region.blocks:
                    self.block(block)
            self.state = _joined((before, self.state))
            if self.state == before:
                return

    def anyhow(self, op: Operation) -> None:
        """An op whose regions run in ways that are not known."""
        while True:
            before = self.state.copy()
            for region in op.regions:
                self.repeat(region)
            if self.state == before:
                return

    def access(self, op: Operation) -> None:
        """What one op reads and writes; all at the same time."""
        is_view = op.results and all(isinstance(r.type, MemRefType) for r in op.results)
        if is_view or isinstance(op, HARMLESS):
            return
        reads, writes, whole = self.effects(op)
        for buffer in reads:
            culprit = self.state.overwritten.get(buffer)
            if culprit is not None:
                raise OpError(
                    op,
                    "expected a buffer that still holds what was written to it, but "
                    "another one was written over it",
                    Note(culprit, "overwritten here"),
                    Note(buffer.alloc, "the buffer"),
                )
        touched = {*reads, *writes, *self.exposed}
        for buffer in writes:
            neighbours = self.neighbours[buffer]
            if neighbours & touched:
                other = next(o for o in self.planned if o in neighbours & touched)
                raise OpError(
                    op,
                    "expected to write a buffer apart from those in use, but their "
                    "bytes overlap",
                    Note(buffer.alloc, "the written buffer"),
                    Note(other.alloc, "the one in use"),
                )
            self.state.overwrite(neighbours, op)
        for buffer in writes:
            self.state.keep(buffer, buffer in whole)

    def effects(
        self, op: Operation
    ) -> tuple[list[PlannedBuffer], list[PlannedBuffer], list[PlannedBuffer]]:
        """Buffers that are read, written, and written as a whole without being read."""
        reads: list[PlannedBuffer] = []
        writes: list[PlannedBuffer] = []
        whole: list[PlannedBuffer] = []
        for value, does_read, does_write in accesses_of(op):
            buffers = list(self.origins(value))
            if does_read:
                reads += buffers
            if does_write:
                writes += buffers
                self.check_constants(op, value)
                if not does_read and self.is_whole(op, value):
                    whole += buffers
        if isinstance(op, tir.CallOp):
            memories = (b.memory for b in (*reads, *writes) if b.memory is not None)
            check_access(self.module, op, memories)
        if op.results and not _keeps_nothing(op):
            self.exposed.update((buffer, op) for buffer in reads)
        return reads, writes, whole

    def is_whole(self, op: Operation, value: SSAValue) -> bool:
        """Whether an op that writes through a memref overwrites all of the buffer."""
        if isinstance(op, memref.StoreOp):
            return False
        while True:
            if value in self.given:
                value = self.given[value]
            elif isinstance(value.owner, SAME_BYTES):
                value = value.owner.operands[0]
            else:
                return value in self.by_result

    def check_constants(self, op: Operation, value: SSAValue) -> None:
        """Constants are not written."""
        for memory in self.memory_of(value):
            if isinstance(memory.owner, executor.ConstantOp):
                raise OpError(
                    op,
                    "expected to write memory that is no constant",
                    Note(memory.owner, "the constant"),
                )

    def origins(self, value: SSAValue) -> Iterator[PlannedBuffer]:
        """The planned buffers that a memref may be in."""
        for memory in self.memory_of(value):
            if memory in self.by_result:
                yield self.by_result[memory]

    def memory_of(self, value: SSAValue) -> Iterator[SSAValue]:
        """A memref, and all those that it may be a view of."""
        seen: set[SSAValue] = set()
        work = [value]
        while work:
            current = work.pop()
            if current in seen:
                continue
            seen.add(current)
            yield current
            if current in self.given:
                work.append(self.given[current])
            work += sources_of(current)


def _keeps_nothing(op: Operation) -> bool:
    """Whether an op with results does not hand on the address of what it reads."""
    if isinstance(op, tir.CopyAsyncOp):
        return not op.is_handed_on
    return isinstance(op, memref.LoadOp | func.CallOp)


def _neighbours(
    planned: Sequence[PlannedBuffer],
) -> dict[PlannedBuffer, set[PlannedBuffer]]:
    """For each buffer those that have bytes in common with it."""
    places: dict[tuple[str, int, int], list[PlannedBuffer]] = {}
    for buffer in planned:
        if buffer.start < buffer.end:
            place = (buffer.pool, buffer.start, buffer.end)
            places.setdefault(place, []).append(buffer)
    near = {
        place: {
            other
            for (pool, start, end), others in places.items()
            if pool == place[0] and start < place[2] and place[1] < end
            for other in others
        }
        for place in places
    }
    none: set[PlannedBuffer] = set()
    return {
        buffer: near.get((buffer.pool, buffer.start, buffer.end), none) - {buffer}
        for buffer in planned
    }


def _joined(states: Iterable[_State]) -> _State:
    """What may be so at the end of any of several paths."""
    result = _State()
    for state in states:
        result.intact |= state.intact
        result.overwritten = state.overwritten | result.overwritten
    result.intact -= result.overwritten.keys()
    return result

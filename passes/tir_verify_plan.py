"""
Check that a memory plan changes no value that is read.

Nothing of this is shared with the planner. It follows the program forward, knowing for
each planned buffer whether another one has been written to its bytes since, and refuses
a read of such a buffer. Loops are followed until nothing new is found, and what either
arm of a branch overwrites counts. It also checks that buffers lie in their pools, in
the right memory, with the alignment that they ask for, and that what is reserved for a
dynamic size is enough at the bounds of all sizes.

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

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from transom.dialects import executor, tir
from transom.dialects.diagnostics import Note, OpError, did_you_mean
from transom.dialects.target.places import memory_space_name
from transom.passes.memory.corner_sizes import largest_size
from transom.passes.memory.plan_accesses import (
    HARMLESS,
    SAME_BYTES,
    accesses_of,
    sources_of,
)


@dataclass(frozen=True)
class TirVerifyPlanPass(ModulePass):
    name = "tir-verify-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_plan(op)


def verify_plan(module: ModuleOp) -> None:
    """Raise `OpError` at the first buffer or access that breaks the plan."""
    pools: dict[str, executor.PoolOp] = {}
    functions: dict[str, func.FuncOp] = {}
    for op in module.body.ops:
        if isinstance(op, executor.PoolOp):
            pools[op.sym_name.data] = op
        elif isinstance(op, func.FuncOp) and not op.is_declaration:
            functions[op.sym_name.data] = op
    used = {name: _pools_of(function) for name, function in functions.items()}
    for function in functions.values():
        _check_calls(function, functions, used)
        planned = [
            _Planned.of(op, pools)
            for op in function.walk()
            if isinstance(op, tir.AllocOp) and op.offset is not None
        ]
        _Checker(planned).run(function)


def _pools_of(function: func.FuncOp) -> set[str]:
    return {
        op.pool.string_value()
        for op in function.walk()
        if isinstance(op, tir.AllocOp) and op.pool is not None
    }


def _check_calls(
    function: func.FuncOp,
    functions: dict[str, func.FuncOp],
    used: dict[str, set[str]],
) -> None:
    """What a function calls, directly or not, uses other pools."""
    mine = used[function.sym_name.data]
    for call in function.walk():
        if not isinstance(call, func.CallOp):
            continue
        seen: set[str] = set()
        work = [call.callee.string_value()]
        while work:
            name = work.pop()
            if name in seen or name not in functions:
                continue
            seen.add(name)
            if shared := sorted(mine & used[name]):
                raise OpError(
                    call,
                    f"expected '@{name}' to use no pool of its caller, but both use "
                    f"'@{shared[0]}'",
                )
            work += [
                op.callee.string_value()
                for op in functions[name].walk()
                if isinstance(op, func.CallOp)
            ]


@dataclass(frozen=True, eq=False)
class _Planned:
    """A buffer with its bytes in a pool."""

    alloc: tir.AllocOp
    pool: str
    start: int
    end: int

    @staticmethod
    def of(alloc: tir.AllocOp, pools: dict[str, executor.PoolOp]) -> "_Planned":
        """The bytes of a buffer with an offset; raises `OpError` if they are bad."""
        assert alloc.pool is not None and alloc.offset is not None, "verified by the op"
        name = alloc.pool.string_value()
        pool = pools.get(name)
        if pool is None:
            raise OpError(alloc, f"unknown pool '@{name}'{did_you_mean(name, pools)}")
        start = alloc.offset.value.data
        end = start + _size(alloc)
        if end > pool.size_bytes:
            raise OpError(
                alloc,
                f"expected a buffer within the {pool.size_bytes} bytes of '@{name}', "
                f"but it ends at byte {end}",
            )
        _check_alignment(alloc, start, pool)
        memory = memory_space_name(alloc.result.type.memory_space)
        if alloc.memory is not None:
            memory = alloc.memory.string_value()
        if memory != pool.memory_name:
            raise OpError(
                alloc,
                f"expected a pool in {_memory_text(memory)}, but '@{name}' is in "
                f"{_memory_text(pool.memory_name)}",
            )
        return _Planned(alloc, name, start, end)


def _memory_text(name: str | None) -> str:
    return "the host's memory" if name is None else f"memory '@{name}'"


def _size(alloc: tir.AllocOp) -> int:
    unit = executor.element_bytes(alloc.result.type.element_type)
    if unit is None:
        raise OpError(
            alloc,
            f"expected elements of a known size, but got '{alloc.result.type}'",
        )
    if not alloc.dynamic_sizes:
        return unit * alloc.result.type.element_count()
    if alloc.reserves is None:
        raise OpError(alloc, "expected 'reserves' on a buffer of dynamic size")
    reserved = alloc.reserves.value.data
    largest = largest_size(alloc)
    if largest is not None and unit * largest > reserved:
        raise OpError(
            alloc,
            f"expected to reserve {unit * largest} bytes, which the bounds of sizes "
            f"allow, but got {reserved}",
        )
    return reserved


def _check_alignment(alloc: tir.AllocOp, start: int, pool: executor.PoolOp) -> None:
    alignment = 1 if alloc.alignment is None else alloc.alignment.value.data
    if start % alignment:
        raise OpError(
            alloc,
            f"expected an offset that is a multiple of {alignment}, but got {start}",
        )
    if pool.alignment_bytes % alignment:
        raise OpError(
            alloc,
            f"expected a pool aligned to {alignment} bytes, but "
            f"'@{pool.sym_name.data}' is aligned to {pool.alignment_bytes}",
        )


@dataclass
class _State:
    """Buffers that hold what was written to them, and those that do not any more."""

    intact: set[_Planned] = field(default_factory=set[_Planned])
    overwritten: dict[_Planned, Operation] = field(
        default_factory=dict[_Planned, Operation]
    )
    """With the op that last wrote over some of the bytes."""

    def copy(self) -> "_State":
        """The same, to be changed on its own."""
        return _State(set(self.intact), dict(self.overwritten))

    def forget(self, buffer: _Planned) -> None:
        """A buffer that holds nothing yet."""
        self.intact.discard(buffer)
        self.overwritten.pop(buffer, None)

    def overwrite(self, others: AbstractSet[_Planned], op: Operation) -> None:
        """An op writes to bytes of other buffers."""
        for other in self.intact & others:
            self.overwritten[other] = op
        self.intact -= others

    def keep(self, buffer: _Planned, whole: bool) -> None:
        """A buffer holds what was written; all of it, if it was written as a whole."""
        if whole:
            self.overwritten.pop(buffer, None)
        if buffer not in self.overwritten:
            self.intact.add(buffer)


@dataclass
class _Checker:
    """Walks one function; `state` is what is known before the next op."""

    planned: Sequence[_Planned]
    state: _State = field(default_factory=_State)
    exposed: dict[_Planned, Operation] = field(
        default_factory=dict[_Planned, Operation]
    )
    """Buffers whose address was taken, and where."""

    def __post_init__(self) -> None:
        self.by_result: dict[SSAValue, _Planned] = {
            buffer.alloc.result: buffer for buffer in self.planned
        }
        self.neighbours = _neighbours(self.planned)

    def run(self, function: func.FuncOp) -> None:
        """Raise `OpError` at the first bad access."""
        if self.planned:
            for block in function.body.blocks:
                self.block(block)

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
    ) -> tuple[list[_Planned], list[_Planned], list[_Planned]]:
        """Buffers that are read, written, and written as a whole without being read."""
        reads: list[_Planned] = []
        writes: list[_Planned] = []
        whole: list[_Planned] = []
        for value, does_read, does_write in accesses_of(op):
            buffers = list(self.origins(value))
            if does_read:
                reads += buffers
            if does_write:
                writes += buffers
                if not does_read and self.is_whole(op, value):
                    whole += buffers
        if op.results and not _keeps_nothing(op):
            self.exposed.update((buffer, op) for buffer in reads)
        return reads, writes, whole

    def is_whole(self, op: Operation, value: SSAValue) -> bool:
        """Whether an op that writes through a memref overwrites all of the buffer."""
        if isinstance(op, memref.StoreOp):
            return False
        while isinstance(value.owner, SAME_BYTES):
            value = value.owner.operands[0]
        return value in self.by_result

    def origins(self, value: SSAValue) -> Iterator[_Planned]:
        """The planned buffers that a memref may be in."""
        seen: set[SSAValue] = set()
        work = [value]
        while work:
            current = work.pop()
            if current in seen:
                continue
            seen.add(current)
            if current in self.by_result:
                yield self.by_result[current]
            work += sources_of(current)


def _keeps_nothing(op: Operation) -> bool:
    """Whether an op with results does not hand on the address of what it reads."""
    if isinstance(op, tir.CopyAsyncOp):
        return not op.is_handed_on
    return isinstance(op, memref.LoadOp | func.CallOp)


def _neighbours(planned: Sequence[_Planned]) -> dict[_Planned, set[_Planned]]:
    """For each buffer those that have bytes in common with it."""
    places: dict[tuple[str, int, int], list[_Planned]] = {}
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
    none: set[_Planned] = set()
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

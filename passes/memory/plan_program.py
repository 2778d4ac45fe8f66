"""
From the buffers of a program to a problem, and from its solution to offsets.

A pool is made for each memory that buffers may be in. Buffers that name a memory are in
that one. Those that name none are in the memory of their function's place or, where
that is full, in another memory that the device lists, in the order of the list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.executor import SIGNATURE, SignatureAttr
from transom.dialects.graph.desc import dim_symbols
from transom.dialects.target import DeviceOp, place_of
from transom.dialects.target.places import memory_space_name
from transom.dialects.target.topology import MemoryOp, Planner
from transom.passes.memory.buffers import BufferAccesses, buffer_accesses
from transom.passes.memory.call_graph import Program
from transom.passes.memory.index_expressions import Bounds, Interval, Opaque, Size
from transom.passes.memory.planning.problem import Buffer, Place, Pool, Problem
from transom.passes.memory.sizes import SizeAnalysis

HOST_MEMORY = "the host's memory"


@dataclass(frozen=True)
class Machine:
    """The memories and devices of a module."""

    memories: dict[str, MemoryOp]
    devices: dict[str, DeviceOp]

    @staticmethod
    def of(module: ModuleOp) -> "Machine":
        """What a module declares."""
        ops = module.body.ops
        return Machine(
            {op.sym_name.data: op for op in ops if isinstance(op, MemoryOp)},
            {op.sym_name.data: op for op in ops if isinstance(op, DeviceOp)},
        )

    def of_place(self, function: Operation) -> tuple[str | None, ...]:
        """
        The memories of what names none in a function, the best first; None is the
        host's, which is not declared.
        """
        place = place_of(function)
        if place is None:
            return (None,)
        device = self.devices.get(place.device_name or "")
        listed = () if device is None else device.listed_memory_refs
        names = [place.memory_name, *(ref.root_reference.data for ref in listed)]
        known = [name for name in dict.fromkeys(names) if name in self.memories]
        shared = [n for n in known if self.memories[n].planner is Planner.SHARED]
        return tuple(shared) or (None,)


@dataclass
class PlannedPool:
    """A pool of the problem: it is in the module already, or it will be made."""

    memory: str | None
    op: executor.PoolOp | None = None


@dataclass
class ProgramProblem:
    """The problem of a program, whose buffers are `allocs` and pools are `pools`."""

    module: ModuleOp
    program: Program
    machine: Machine
    default_alignment: int
    accesses: BufferAccesses = field(init=False)
    allocs: list[tir.AllocOp] = field(default_factory=list[tir.AllocOp], init=False)
    pools: list[PlannedPool] = field(default_factory=list[PlannedPool], init=False)

    def __post_init__(self) -> None:
        self.accesses = buffer_accesses(self.program.roots, self.program.functions)
        self._sizes: dict[FuncOp, _Sizes] = {}

    def problem(self) -> Problem:
        """The buffers that have a size, and the pools for them."""
        lifetimes = self.accesses.lifetimes()
        buffers: list[Buffer] = []
        for number, alloc in enumerate(self.accesses.buffers):
            function = _function_around(alloc)
            size = self._reserved(alloc, function)
            if size is None or self.accesses.multiple >> number & 1:
                continue
            pools = self._pools_for(alloc, function)
            pin = None
            if alloc.offset is not None:
                pin = Place(pools[0], alloc.offset.value.data)
            self.allocs.append(alloc)
            buffers.append(
                Buffer(
                    alloc.result.name_hint or str(number),
                    size,
                    self._aligned(alloc, [self.pools[pool].memory for pool in pools]),
                    lifetimes[number],
                    pools,
                    pin,
                )
            )
        return self._by_preference(buffers)

    def _by_preference(self, buffers: Sequence[Buffer]) -> Problem:
        """Pools that are the first choice of a buffer before those that are not."""
        first = dict.fromkeys(buffer.pools[0] for buffer in buffers)
        order = [*first, *(p for p in range(len(self.pools)) if p not in first)]
        place = {old: new for new, old in enumerate(order)}
        self.pools = [self.pools[old] for old in order]
        return Problem(
            tuple(
                Buffer(
                    b.name,
                    b.size,
                    b.alignment,
                    b.points,
                    tuple(place[pool] for pool in b.pools),
                    None if b.pin is None else Place(place[b.pin.pool], b.pin.offset),
                )
                for b in buffers
            ),
            tuple(Pool(self._text(pool), self._capacity(pool)) for pool in self.pools),
        )

    def _text(self, pool: PlannedPool) -> str:
        return HOST_MEMORY if pool.memory is None else f"memory '@{pool.memory}'"

    def _capacity(self, pool: PlannedPool) -> int | None:
        """What the memory has left for a pool beside those of other programs."""
        memory = self.machine.memories.get(pool.memory or "")
        if memory is None or memory.size_bytes is None:
            return None
        mine = {p.op for p in self.pools if p.op is not None}
        others = sum(
            op.size_bytes
            for op in self.module.body.ops
            if isinstance(op, executor.PoolOp)
            and op.memory_name == pool.memory
            and op not in mine
        )
        return max(0, memory.size_bytes - others)

    # Pools

    def _pools_for(self, alloc: tir.AllocOp, function: FuncOp) -> tuple[int, ...]:
        """The pools where a buffer may be, the best first."""
        if alloc.pool is not None:
            name = alloc.pool.string_value()
            return (self._existing_pool(alloc, name),)
        memory = self._memory(alloc)
        if memory is not None:
            return (self._pool(memory.sym_name.data),)
        names = self.machine.of_place(function)
        if not self._is_bounded(names[0]):
            names = names[:1]
        return tuple(self._pool(name) for name in names)

    def _is_bounded(self, memory: str | None) -> bool:
        declared = self.machine.memories.get(memory or "")
        return declared is not None and declared.size_bytes is not None

    def _existing_pool(self, alloc: tir.AllocOp, name: str) -> int:
        for number, pool in enumerate(self.pools):
            if pool.op is not None and pool.op.sym_name.data == name:
                return number
        pools = [op for op in self.module.body.ops if isinstance(op, executor.PoolOp)]
        for op in pools:
            if op.sym_name.data == name:
                self.pools.append(PlannedPool(op.memory_name, op))
                return len(self.pools) - 1
        near = did_you_mean(name, [op.sym_name.data for op in pools])
        raise OpError(alloc, f"unknown pool '@{name}'{near}")

    def _pool(self, memory: str | None) -> int:
        for number, pool in enumerate(self.pools):
            if pool.op is None and pool.memory == memory:
                return number
        self.pools.append(PlannedPool(memory))
        return len(self.pools) - 1

    # Buffers

    def _memory(self, alloc: tir.AllocOp) -> MemoryOp | None:
        """The declared memory that a buffer names, or None if it names none."""
        name = named_memory(alloc)
        if name is not None and name not in self.machine.memories:
            near = did_you_mean(name, self.machine.memories)
            raise OpError(alloc, f"unknown memory '@{name}'{near}")
        return None if name is None else self.machine.memories[name]

    def _reserved(self, alloc: tir.AllocOp, function: FuncOp) -> int | None:
        """The bytes that a buffer needs at most; None if it is not planned here."""
        type = alloc.result.type
        if alloc.reserves is not None:
            return alloc.reserves.value.data
        unit = executor.element_bytes(type.element_type)
        memory = self._memory(alloc)
        if (
            unit is None
            or not isinstance(type.layout, NoneAttr)
            or (memory is not None and memory.planner is Planner.TARGET)
        ):
            return None
        if type.has_static_shape():
            return executor.static_bytes(type)
        if function not in self._sizes:
            self._sizes[function] = _Sizes.of(function)
        elements = self._sizes[function].most_elements(alloc.result)
        return None if elements is None else unit * max(0, elements)

    def _aligned(self, alloc: tir.AllocOp, memories: Sequence[str | None]) -> int:
        """The alignment of a buffer: its own, or what memories and pass say."""
        limits = {
            name: self.machine.memories[name].alignment_bytes
            for name in memories
            if name is not None and name in self.machine.memories
        }
        if alloc.alignment is None and alloc.offset is not None:
            return 1  # where it is, is right
        if alloc.alignment is None:
            return min(self.default_alignment, *limits.values(), self.default_alignment)
        wanted = alloc.alignment.value.data
        for name, limit in limits.items():
            if wanted > limit:
                raise OpError(
                    alloc,
                    f"expected an alignment of at most {limit}, that of memory "
                    f"'@{name}', but got {wanted}",
                )
        return wanted

    # Solutions

    def write(self, problem: Problem, places: Sequence[Place]) -> None:
        """Pools that are large enough, and a pool and an offset on each buffer."""
        tops = problem.tops(places)
        names: dict[int, SymbolRefAttr] = {}
        for number, pool in enumerate(self.pools):
            inside = [
                buffer.alignment
                for buffer, place in zip(problem.buffers, places, strict=True)
                if place.pool == number
            ]
            if inside:
                op = self._sized(pool, tops[number], max(inside))
                names[number] = SymbolRefAttr(op.sym_name.data)
        for alloc, buffer, place in zip(
            self.allocs, problem.buffers, places, strict=True
        ):
            alloc.pool = names[place.pool]
            alloc.offset = IntegerAttr(place.offset, i64)
            if alloc.dynamic_sizes:
                alloc.reserves = IntegerAttr(buffer.size, i64)

    def _sized(self, pool: PlannedPool, size: int, alignment: int) -> executor.PoolOp:
        op = pool.op
        if op is not None:
            op.size = IntegerAttr(max(size, op.size_bytes), i64)
            if alignment > op.alignment_bytes:
                op.alignment = IntegerAttr(alignment, i64)
            return op
        root = self.program.roots[0]
        name = self._free_name(pool.memory)
        op = executor.PoolOp(name, size, alignment, pool.memory)
        op.location = root.location
        block = root.parent
        assert block is not None, "the function is in a module"
        block.insert_op_before(op, root)
        return op

    def _free_name(self, memory: str | None) -> str:
        """`main.workspace`, or `main.sram` for a memory that is not of its place."""
        taken = {
            name.data
            for op in self.module.body.ops
            if isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr)
        }
        is_own = memory == self.machine.of_place(self.program.roots[0])[0]
        base = f"{self.program.name}.{'workspace' if is_own else memory or 'host'}"
        name, number = base, 0
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name


@dataclass(frozen=True)
class _Sizes:
    """The sizes of the memrefs of a function."""

    analysis: SizeAnalysis
    bounds: Bounds

    @staticmethod
    def of(function: FuncOp) -> "_Sizes":
        analysis = SizeAnalysis()
        for op in function.walk():
            analysis.visit(op)
        limits = dict(_limits(function))

        def leaf(leaf: Size | Opaque) -> Interval:
            if isinstance(leaf, Size):
                return limits.get(leaf, (0, None))
            return None, None

        return _Sizes(analysis, Bounds(analysis.table, leaf))

    def most_elements(self, value: SSAValue) -> int | None:
        return self.bounds.upper(self.analysis.elements(value))


def named_memory(alloc: tir.AllocOp) -> str | None:
    """The memory that a buffer names, if it names one."""
    if alloc.memory is not None:
        return alloc.memory.root_reference.data
    return memory_space_name(alloc.result.type.memory_space)


def _function_around(op: Operation) -> FuncOp:
    around = op.parent_op()
    while not isinstance(around, FuncOp):
        assert around is not None, "buffers are in functions"
        around = around.parent_op()
    return around


def _limits(function: FuncOp) -> Iterator[tuple[Size, Interval]]:
    """The bounds of the sizes of inputs, which the function checks at its start."""
    signature = function.attributes.get(SIGNATURE)
    if not isinstance(signature, SignatureAttr):
        return
    arguments: list[SSAValue] = [
        a for a in function.args if isinstance(a.type, MemRefType)
    ]
    for argument, (_, type) in zip(arguments, signature.inputs, strict=False):
        for axis, symbol in enumerate(dim_symbols(type)):
            if type.get_shape()[axis] == DYNAMIC_INDEX and symbol is not None:
                yield Size(argument, axis), (symbol.lower or 0, symbol.upper)

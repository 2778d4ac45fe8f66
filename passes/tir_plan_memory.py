"""
Give the buffers of main offsets in pools, by what lives together.

A function gets one pool for each memory that it takes buffers of. Buffers share bytes
if no path keeps both. One of dynamic size is planned at its upper bound, as the bounds
of symbolic sizes in the signature give it; without bound it stays an allocation at run
time. Buffers that have an offset keep it, and those of a memory that its target plans
are left alone. Those that name no memory have to fit into that of the function's place.

```mlir
%a = tir.alloc : memref<16xf32>   ==>   executor.pool @main.workspace {size = 64, …}
                                        %a = tir.alloc {pool = @main.workspace,
                                                        offset = 0} : memref<16xf32>
```

The plan is verified by `tir-verify-plan`, which shares no code with this.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
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
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError, did_you_mean
from transom.dialects.executor import SIGNATURE, SignatureAttr
from transom.dialects.graph.desc import dim_symbols
from transom.dialects.target import place_of
from transom.dialects.target.places import memory_space_name
from transom.dialects.target.topology import MemoryOp, Planner
from transom.passes.function_pass import functions_of
from transom.passes.memory.buffers import buffer_accesses
from transom.passes.memory.index_expressions import Bounds, Interval, Opaque, Size
from transom.passes.memory.packing import Buffer, PackingError, lower_bound, pack
from transom.passes.memory.sizes import SizeAnalysis
from transom.passes.statistics import Statistic
from transom.passes.tir_verify_plan import verify_plan

BUFFERS = Statistic("buffers", "buffers with an offset in a pool")
PLANNED = Statistic("pool-bytes", "bytes of all pools")
BOUND = Statistic("lower-bound", "bytes that live at once, which no plan can be below")


@dataclass(frozen=True)
class TirPlanMemoryPass(ModulePass):
    name = "tir-plan-memory"
    statistics: ClassVar[tuple[Statistic, ...]] = (BUFFERS, PLANNED, BOUND)

    alignment: int = 64
    """The alignment in bytes of buffers that ask for none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        memories = {m.sym_name.data: m for m in op.body.ops if isinstance(m, MemoryOp)}
        recursive = _recursive(op)
        for function in functions_of(op):
            if function.sym_name.data not in recursive:
                _Planner(op, function, memories, self.alignment).plan()
        verify_plan(op)


@dataclass
class _Planned:
    """Buffers of one memory, in the order of the text."""

    allocs: list[tir.AllocOp] = field(default_factory=list[tir.AllocOp])
    buffers: list[Buffer] = field(default_factory=list[Buffer])


@dataclass
class _Planner:
    module: ModuleOp
    function: FuncOp
    memories: dict[str, MemoryOp]
    alignment: int

    def plan(self) -> None:
        """Offsets for the buffers of one function."""
        accesses = buffer_accesses(self.function)
        if not accesses.buffers:
            return
        lifetimes = accesses.lifetimes()
        bounds = self.bounds()
        planned: dict[tuple[str | None, str | None], _Planned] = {}
        for number, alloc in enumerate(accesses.buffers):
            size = self.reserved(alloc, bounds)
            if size is None or accesses.multiple >> number & 1:
                continue
            pool = None if alloc.pool is None else alloc.pool.string_value()
            group = planned.setdefault((_memory_name(alloc), pool), _Planned())
            group.allocs.append(alloc)
            group.buffers.append(
                Buffer(
                    alloc.result.name_hint or str(number),
                    size,
                    self.aligned(alloc),
                    lifetimes[number],
                    None if alloc.offset is None else alloc.offset.value.data,
                )
            )
        for (memory, pool), group in planned.items():
            self.pack(memory, pool, group)

    def bounds(self) -> "_Sizes":
        """The sizes of the function's memrefs."""
        analysis = SizeAnalysis()
        for op in self.function.walk():
            analysis.visit(op)
        limits = dict(_limits(self.function))

        def leaf(leaf: Size | Opaque) -> Interval:
            if isinstance(leaf, Size):
                return limits.get(leaf, (0, None))
            return None, None

        return _Sizes(analysis, Bounds(analysis.table, leaf))

    def reserved(self, alloc: tir.AllocOp, sizes: "_Sizes") -> int | None:
        """The bytes that a buffer needs at most; None if it is not planned here."""
        type = alloc.result.type
        if alloc.reserves is not None:
            return alloc.reserves.value.data
        unit = executor.element_bytes(type.element_type)
        memory = self.memory(alloc)
        if (
            unit is None
            or not isinstance(type.layout, NoneAttr)
            or (memory is not None and memory.planner is Planner.TARGET)
        ):
            return None
        elements = sizes.bounds.upper(sizes.analysis.elements(alloc.result))
        return None if elements is None else unit * max(0, elements)

    def memory(self, alloc: tir.AllocOp) -> MemoryOp | None:
        """The declared memory of a buffer, or None for the host's."""
        name = _memory_name(alloc)
        if name is not None and name not in self.memories:
            near = did_you_mean(name, self.memories)
            raise OpError(alloc, f"unknown memory '@{name}'{near}")
        return None if name is None else self.memories[name]

    def memory_of_place(self) -> str | None:
        """The memory of buffers that name none: that of the function's place."""
        place = place_of(self.function)
        return None if place is None else place.memory_name

    def aligned(self, alloc: tir.AllocOp) -> int:
        """The alignment of a buffer: its own, or what memory and pass say."""
        memory = self.memory(alloc)
        limit = None if memory is None else memory.alignment_bytes
        if alloc.alignment is None:
            return self.alignment if limit is None else min(self.alignment, limit)
        wanted = alloc.alignment.value.data
        if limit is not None and wanted > limit:
            raise OpError(
                alloc,
                f"expected an alignment of at most {limit}, that of memory "
                f"'@{_memory_name(alloc)}', but got {wanted}",
            )
        return wanted

    def pack(self, memory: str | None, pool: str | None, group: _Planned) -> None:
        """Buffers of one memory in one pool, which is there already or is made."""
        held_in = memory or self.memory_of_place()
        declared = self.memories.get(held_in or "")
        capacity = None if declared is None else declared.size_bytes
        try:
            packing = pack(group.buffers, capacity)
        except PackingError as e:
            where = "" if held_in is None else f" of memory '@{held_in}'"
            raise OpError(group.allocs[e.buffer], e.message + where) from None
        BUFFERS.add(len(group.buffers))
        PLANNED.add(packing.size)
        BOUND.add(lower_bound(group.buffers))
        alignment = max(buffer.alignment for buffer in group.buffers)
        name = SymbolRefAttr(self.pool(memory, pool, packing.size, alignment))
        for alloc, buffer, offset in zip(
            group.allocs, group.buffers, packing.offsets, strict=True
        ):
            alloc.pool = name
            alloc.offset = IntegerAttr(offset, i64)
            if alloc.dynamic_sizes:
                alloc.reserves = IntegerAttr(buffer.size, i64)

    def pool(
        self, memory: str | None, name: str | None, size: int, alignment: int
    ) -> str:
        """The name of a pool that is large enough."""
        for op in self.module.body.ops:
            if isinstance(op, executor.PoolOp) and op.sym_name.data == name:
                op.size = IntegerAttr(max(size, op.size_bytes), i64)
                if alignment > op.alignment_bytes:
                    op.alignment = IntegerAttr(alignment, i64)
                return op.sym_name.data
        name = self.pool_name(memory) if name is None else name
        pool = executor.PoolOp(name, size, alignment, memory)
        pool.location = self.function.location
        block = self.function.parent
        assert block is not None, "the function is in a module"
        block.insert_op_before(pool, self.function)
        return name

    def pool_name(self, memory: str | None) -> str:
        """`main.workspace`, or `main.sram` for the memory `@sram`; not taken."""
        taken = {
            name.data
            for op in self.module.body.ops
            if isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr)
        }
        base = f"{self.function.sym_name.data}.{memory or 'workspace'}"
        name, number = base, 0
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name


@dataclass(frozen=True)
class _Sizes:
    analysis: SizeAnalysis
    bounds: Bounds


def _memory_name(alloc: tir.AllocOp) -> str | None:
    """The memory of a buffer, or None for the host's."""
    if alloc.memory is not None:
        return alloc.memory.root_reference.data
    return memory_space_name(alloc.result.type.memory_space)


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


def _recursive(module: ModuleOp) -> set[str]:
    """Functions that may call themselves: a pool has room for one activation."""
    calls: dict[str, set[str]] = {}
    for function in functions_of(module):
        calls[function.sym_name.data] = {
            op.callee.string_value() for op in function.walk() if isinstance(op, CallOp)
        }
    found: set[str] = set()
    for name in calls:
        work, seen = list(calls[name]), set[str]()
        while work:
            callee = work.pop()
            if callee == name:
                found.add(name)
                break
            if callee not in seen:
                seen.add(callee)
                work.extend(calls.get(callee, ()))
    return found

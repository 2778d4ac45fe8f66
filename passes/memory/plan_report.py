"""
What a memory plan looks like: per pool, which bytes are whose at which points.

It is read from a planned module; `plan_reports` gives what a map of it is drawn from.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from transom.dialects import executor, tir
from transom.dialects.diagnostics import position_of
from transom.dialects.executor import places_of
from transom.passes.memory.argument_places import ArgumentCopies, arguments_of
from transom.passes.memory.buffers import BufferAccesses, buffer_accesses
from transom.passes.memory.call_graph import Program, programs_of
from transom.passes.memory.flow_graph import bits, runs
from transom.passes.memory.plan_program import Machine
from transom.passes.memory.planning.bounds import lower_bound
from transom.passes.memory.planning.problem import Buffer, Pool, Problem
from transom.passes.memory.sizes import shaped_type


@dataclass(frozen=True)
class ReportedBuffer:
    """A buffer with its bytes and the half-open ranges of points at which it lives."""

    name: str
    function: str
    type: str
    offset: int
    size: int
    alignment: int
    """What its address is a multiple of, in bytes; it may have asked for less."""
    lives: tuple[tuple[int, int], ...]
    location: str | None


@dataclass(frozen=True)
class ReportedPool:
    """A pool with its buffers; `live` are the bytes that live at each point."""

    name: str
    memory: str | None
    size: int
    capacity: int | None
    bound: int
    live: tuple[int, ...]
    buffers: tuple[ReportedBuffer, ...]

    @property
    def peak_point(self) -> int:
        """The first point at which most lives."""
        return self.live.index(max(self.live)) if self.live else 0

    @property
    def is_optimal(self) -> bool:
        """Whether the pool is as large as what lives at once needs."""
        return self.size <= self.bound


@dataclass(frozen=True)
class PlanReport:
    """The pools of a program, and what happens at each of its points."""

    program: str
    points: tuple[str, ...]
    pools: tuple[ReportedPool, ...]
    constants: Mapping[str, int]
    arguments: Mapping[str, int]
    """Bytes of inputs and outputs of static size, which the caller has."""

    def as_json(self) -> dict[str, Any]:
        """The same as dictionaries and lists."""
        return {
            "program": self.program,
            "points": list(self.points),
            "arguments": dict(self.arguments),
            "constants": dict(self.constants),
            "pools": [
                {
                    "name": pool.name,
                    "memory": pool.memory,
                    "size": pool.size,
                    "capacity": pool.capacity,
                    "lower_bound": pool.bound,
                    "proved": "optimal" if pool.is_optimal else "feasible",
                    "peak_point": pool.peak_point,
                    "live": list(pool.live),
                    "buffers": [vars(buffer) for buffer in pool.buffers],
                }
                for pool in self.pools
            ],
        }


def plan_reports(module: ModuleOp) -> tuple[PlanReport, ...]:
    """
    A report for each program of a module that has planned buffers. Inputs and outputs
    that are in pools are buffers as well, which main copies at its start and its end.
    """
    if any(executor.PLACES in op.attributes for op in module.body.ops):
        module = module.clone()
        ArgumentCopies(module, inputs=False, outputs=False)
    pools = {
        op.sym_name.data: op
        for op in module.body.ops
        if isinstance(op, executor.PoolOp)
    }
    machine = Machine.of(module)
    return tuple(
        report
        for program in programs_of(module)
        if (report := _reported(program, pools, machine)).pools
    )


def _reported(
    program: Program, pools: Mapping[str, executor.PoolOp], machine: Machine
) -> PlanReport:
    accesses = buffer_accesses(program.roots, program.functions)
    by_pool: dict[str, list[tuple[tir.AllocOp, int]]] = {}
    for alloc, lives in zip(accesses.buffers, accesses.lifetimes(), strict=True):
        if alloc.pool is not None and alloc.offset is not None:
            by_pool.setdefault(alloc.pool.string_value(), []).append((alloc, lives))
    reported = tuple(
        _reported_pool(pools[name], buffers, machine, len(accesses.points))
        for name, buffers in by_pool.items()
        if name in pools
    )
    constants = dict(_constants(program, pools))
    return PlanReport(
        program.name, tuple(_points(accesses)), reported, constants, _arguments(program)
    )


def _constants(
    program: Program, pools: Mapping[str, executor.PoolOp]
) -> Iterator[tuple[str, int]]:
    """The weights that a program reads, in pools or not, and their bytes."""
    for function in program.functions.values():
        for op in function.walk():
            if isinstance(op, executor.ConstantOp):
                yield op.weight.string_value(), executor.static_bytes(op.result.type)
            elif isinstance(op, executor.ViewOp):
                for weight, offset in pools[op.pool.string_value()].weights:
                    if offset == op.offset_bytes:
                        yield weight, op.size_bytes


def _reported_pool(
    pool: executor.PoolOp,
    allocs: list[tuple[tir.AllocOp, int]],
    machine: Machine,
    points: int,
) -> ReportedPool:
    live = [0] * points
    buffers: list[ReportedBuffer] = []
    asked: list[Buffer] = []
    for number, (alloc, lives) in enumerate(allocs):
        size = _size(alloc)
        for point in bits(lives):
            live[point] += size
        assert alloc.offset is not None, "the buffer is planned"
        name, offset = alloc.result.name_hint or str(number), alloc.offset.value.data
        alignment = 1 if alloc.alignment is None else alloc.alignment.value.data
        asked.append(Buffer(name, size, alignment, lives))
        buffers.append(
            ReportedBuffer(
                name,
                _function_name(alloc),
                str(alloc.result.type),
                offset,
                size,
                math.gcd(offset, pool.alignment_bytes),  # both are multiples of it
                tuple(runs(lives)),
                _location(alloc),
            )
        )
    problem = Problem(tuple(asked), (Pool(pool.sym_name.data),))
    memory = machine.memories.get(pool.memory_name or "")
    return ReportedPool(
        pool.sym_name.data,
        pool.memory_name,
        pool.size_bytes,
        None if memory is None else memory.size_bytes,
        lower_bound(problem),
        tuple(live),
        tuple(buffers),
    )


def _size(alloc: tir.AllocOp) -> int:
    if alloc.reserves is not None:
        return alloc.reserves.value.data
    return executor.static_bytes(alloc.result.type)


def _points(accesses: BufferAccesses) -> Iterator[str]:
    for op in accesses.points:
        if isinstance(op, tir.CallOp):
            yield f"call @{op.callee_name}"
        elif isinstance(op, FuncOp):
            yield f"start of @{op.sym_name.data}"
        else:
            yield op.name


def _arguments(program: Program) -> dict[str, int]:
    found: dict[str, int] = {}
    for root in program.roots:
        placed = [a.value for a in arguments_of(root) if a.key in places_of(root)]
        for number, argument in enumerate(root.args):
            if argument in placed:
                continue
            type = shaped_type(argument)
            if isinstance(type, MemRefType) and type.has_static_shape():
                unit = executor.element_bytes(type.element_type)
                if unit is not None:
                    name = f"{root.sym_name.data}.{argument.name_hint or number}"
                    found[name] = unit * type.element_count()
    return found


def _function_name(op: Operation) -> str:
    around = op.parent_op()
    while around is not None and not isinstance(around, FuncOp):
        around = around.parent_op()
    return "" if around is None else around.sym_name.data


def _location(op: Operation) -> str | None:
    position = position_of(op.location)
    return None if position is None else str(position)

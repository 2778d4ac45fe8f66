"""
Fill memory with garbage where nothing is in it, so that wrong plans give wrong numbers.

For tests: a planned module computes the same with it, unless it reads memory before it
was written, or after something else may be there. All pools are filled at the start of
main, but for inputs that are in them, a buffer where its life ends, and one of dynamic
size where it is taken: with NaN, and with integers of alternating bits.

```mlir
tir.call @k(%x : …) outs(%a : …)       tir.call @k(%x : …) outs(%a : …)
tir.call @k(%a : …) outs(%b : …)  ==>  tir.call @k(%a : …) outs(%b : …)
tir.call @k(%b : …) outs(%y : …)       scf.for %i = … { memref.store %nan, %a[%i] }
                                       tir.call @k(%b : …) outs(%y : …)
```

Where a life ends is known from what reads and writes the buffer, not from the plan.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i8,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from transom.dialects import executor, tir
from transom.passes.memory.buffers import buffer_accesses
from transom.passes.memory.call_graph import Program, programs_of
from transom.passes.memory.flow_graph import bits
from transom.passes.memory.sizes import shaped_type

Garbage = FloatAttr[AnyFloat] | IntegerAttr[IntegerType[int] | IndexType]

ONES = IntegerAttr(-1, i8)
"""Bytes of these are NaN as floats of any width."""


@dataclass(frozen=True)
class TirPoisonMemoryPass(ModulePass):
    name = "tir-poison-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pools = {
            p.sym_name.data: p for p in op.body.ops if isinstance(p, executor.PoolOp)
        }
        for program in programs_of(op):
            deaths = deaths_in(program)
            for before, buffers in deaths.items():
                for buffer in buffers:
                    _insert(fill(buffer.result), before)
            for function in program.functions.values():
                _fill_taken(function)
            used = _pools_of(program)
            for root in program.roots:
                first = root.body.block.first_op
                assert first is not None, "functions return"
                for name in used:
                    if name in pools:
                        for start, end in _free_of_inputs(root, pools[name]):
                            _insert(_filled_pool(pools[name], start, end), first)


def deaths_in(program: Program) -> dict[Operation, list[tir.AllocOp]]:
    """
    Planned buffers that hold nothing any more when an op runs, but did right before.

    Where paths join, they did so on each of them: else what shares their bytes on
    another path might be in use.
    """
    accesses = buffer_accesses(program.roots, program.functions)
    occupied = [0] * len(accesses.points)
    for number, points in enumerate(accesses.lifetimes()):
        for point in bits(points):
            occupied[point] |= 1 << number
    dying: dict[Operation, int] = {}
    for point, op in enumerate(accesses.points):
        before = accesses.graph.predecessors[point]
        if op.regions or not before:
            continue
        left = ~occupied[point]
        for predecessor in before:
            left &= occupied[predecessor]
        dying[op] = dying.get(op, left) & left  # on each call of its function
    return {
        op: found
        for op, mask in dying.items()
        if (
            found := [
                buffer
                for buffer in (accesses.buffers[number] for number in bits(mask))
                if buffer.offset is not None
                and buffer.parent is not None
                and _is_around(buffer.parent, op)
                and can_fill(buffer.result)
            ]
        )
    }


def can_fill(buffer: SSAValue) -> bool:
    """Whether there is garbage for the elements of a memref without gaps."""
    type = shaped_type(buffer)
    return (
        isinstance(type, MemRefType)
        and isinstance(type.layout, NoneAttr)
        and isinstance(type.element_type, AnyFloat | IntegerType | IndexType)
    )


def fill(buffer: SSAValue, garbage_value: Garbage | None = None) -> list[Operation]:
    """Ops that store garbage to all elements."""
    type = shaped_type(buffer)
    assert type is not None, "checked by can_fill()"
    garbage = arith.ConstantOp(garbage_value or _garbage(buffer, type.element_type))
    zero = arith.ConstantOp(IntegerAttr.from_index_int_value(0))
    one = arith.ConstantOp(IntegerAttr.from_index_int_value(1))
    ops: list[Operation] = [garbage, zero, one]
    ends: list[SSAValue] = []
    for axis, extent in enumerate(type.get_shape()):
        number = axis if extent == DYNAMIC_INDEX else extent
        end = arith.ConstantOp(IntegerAttr.from_index_int_value(number))
        ops.append(end)
        if extent == DYNAMIC_INDEX:
            dim = memref.DimOp(buffer, end.result)
            ops.append(dim)
            ends.append(dim.results[0])
        else:
            ends.append(end.result)
    ops += _loops(buffer, garbage.result, zero.result, one.result, ends)
    return ops


def _loops(
    buffer: SSAValue,
    garbage: SSAValue,
    zero: SSAValue,
    one: SSAValue,
    ends: Sequence[SSAValue],
) -> list[Operation]:
    blocks = [Block(arg_types=[IndexType()]) for _ in ends]
    store = memref.StoreOp.get(garbage, buffer, [block.args[0] for block in blocks])
    inner: Operation = store
    for block, end in zip(reversed(blocks), reversed(ends), strict=True):
        block.add_ops((inner, scf.YieldOp()))
        inner = scf.ForOp(zero, end, one, [], Region(block))
    return [inner]


def _garbage(buffer: SSAValue, type: Attribute) -> Garbage:
    if any(isinstance(use.operation, memref.ViewOp) for use in buffer.uses):
        return ONES
    if isinstance(type, AnyFloat):
        return FloatAttr(float("nan"), type)
    if isinstance(type, IndexType):
        return IntegerAttr.from_index_int_value(int("01" * 32, 2))
    assert isinstance(type, IntegerType), "checked by can_fill()"
    width = cast("IntegerType[int]", type).width.data
    return IntegerAttr(int(("01" * width)[-width:], 2), IntegerType(width))


def _is_around(block: Block, op: Operation) -> bool:
    return block.find_ancestor_op_in_block(op) is not None


def _fill_taken(function: FuncOp) -> None:
    """Memory that is taken at run time."""
    for alloc in tuple(function.walk()):
        if (
            isinstance(alloc, tir.AllocOp)
            and alloc.offset is None
            and can_fill(alloc.result)
            and alloc.next_op is not None
        ):
            _insert(fill(alloc.result), alloc.next_op)


def _pools_of(program: Program) -> list[str]:
    names = (
        op.pool.string_value()
        for function in program.functions.values()
        for op in function.walk()
        if isinstance(op, tir.AllocOp) and op.pool is not None
    )
    return list(dict.fromkeys(names))


def _free_of_inputs(entry: FuncOp, pool: executor.PoolOp) -> Iterator[tuple[int, int]]:
    """The parts of a pool in which no input of an entry is when it starts."""
    inputs = sorted(
        (place.offset, place.offset + place.size)
        for (kind, _), place in executor.places_of(entry).items()
        if kind == executor.INPUTS and place.pool == pool.sym_name.data
    )
    at = 0
    for start, end in inputs:
        if start > at:
            yield at, start
        at = max(at, end)
    if at < pool.size_bytes:
        yield at, pool.size_bytes


def _filled_pool(pool: executor.PoolOp, start: int, end: int) -> list[Operation]:
    all_of_it = tir.AllocOp(
        MemRefType(i8, [end - start]),
        memory=pool.memory_name,
        pool=pool.sym_name.data,
        offset=start,
    )
    return [all_of_it, *fill(all_of_it.result, ONES)]


def _insert(ops: Sequence[Operation], before: Operation) -> None:
    block = before.parent
    assert block is not None, "the op is in a function"
    for op in ops:
        for inner in op.walk():
            inner.location = before.location
    block.insert_ops_before(ops, before)

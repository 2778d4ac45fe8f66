"""
Whether a buffer lies in its pool as it should, as `tir-verify-plan` sees it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from transom.dialects import executor, tir
from transom.dialects.diagnostics import Note, OpError, did_you_mean
from transom.dialects.symbols import lookup
from transom.dialects.target import DeviceOp, MemoryOp, place_of
from transom.dialects.target.places import PlaceAttr, memory_space_name
from transom.passes.memory.corner_sizes import largest_size


@dataclass(frozen=True, eq=False)
class PlannedBuffer:
    """A buffer with its bytes in a pool."""

    alloc: tir.AllocOp
    pool: str
    start: int
    end: int
    memory: str | None
    """The memory that the pool is in; None for the host's."""

    @staticmethod
    def of(alloc: tir.AllocOp, pools: dict[str, executor.PoolOp]) -> "PlannedBuffer":
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
        if memory != pool.memory_name and (
            memory is not None or pool.memory_name not in _reached(alloc)
        ):
            raise OpError(
                alloc,
                f"expected a pool in {_memory_text(memory)}, but '@{name}' is in "
                f"{_memory_text(pool.memory_name)}",
            )
        return PlannedBuffer(alloc, name, start, end, pool.memory_name)


def _device_of(place: PlaceAttr | None, symbols: Operation) -> DeviceOp | None:
    """The device of a place, if it is declared."""
    if place is None or place.device_name is None:
        return None
    device = lookup(symbols, place.device_name)
    return device if isinstance(device, DeviceOp) else None


def _reached(alloc: tir.AllocOp) -> list[str]:
    """The memories that the device of the function around a buffer lists."""
    function = alloc.parent_op()
    while function is not None and not isinstance(function, func.FuncOp):
        function = function.parent_op()
    device = None if function is None else _device_of(place_of(function), function)
    listed = () if device is None else device.listed_memory_refs
    return [ref.root_reference.data for ref in listed]


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


def check_sizes(module: ModuleOp, pools: Iterable[executor.PoolOp]) -> None:
    """The pools of a memory fit into it together."""
    sizes = {
        op.sym_name.data: op.size_bytes
        for op in module.body.ops
        if isinstance(op, MemoryOp) and op.size_bytes is not None
    }
    used: dict[str, int] = {}
    for pool in pools:
        name = pool.memory_name
        if name is None or name not in sizes:
            continue
        used[name] = used.get(name, 0) + pool.size_bytes
        if used[name] > sizes[name]:
            raise OpError(
                pool,
                f"expected pools of at most {sizes[name]} bytes in memory '@{name}', "
                f"but together they have {used[name]}",
            )


def check_access(module: ModuleOp, call: tir.CallOp, memories: Iterable[str]) -> None:
    """The device that runs a kernel reaches the memories of what the kernel gets."""
    kernel = call.find_callee()
    place = place_of(kernel) if isinstance(kernel, Operation) else None
    device = _device_of(place, module)
    if device is None or not device.memory_refs:
        return
    reached = [ref.root_reference.data for ref in device.memory_refs]
    for memory in memories:
        if memory not in reached:
            raise OpError(
                call,
                f"expected memory that device '@{device.sym_name.data}' reaches, but "
                f"got a buffer in '@{memory}'",
                Note(device, "the device"),
            )

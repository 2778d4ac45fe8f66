"""
What the ops of main do where it is walked: functions of an environment, a list of
values, that give the results. The executors `graph` and `vm` share it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transom.runtime.main_failures import MainError, MainFailure
from transom.runtime.main_kernels import Kernel
from transom.runtime.main_memory import (
    bytes_as,
    index_of,
    part_of,
    reshaped,
    subview,
)
from transom.runtime.main_scalars import (
    BINARY,
    CASTS,
    FLOAT_PREDICATES,
    INTEGER_PREDICATES,
    TERNARY,
    UNARY,
)
from transom.runtime.main_values import KernelCall, Run, Type
from transom.runtime.signature import Array

Environment = list[Any]
Compute = Callable[[Environment, Run], Sequence[Any]]
Step = Callable[[Environment, Run], Any]
Slots = Sequence[int]


def bound(compute: Compute, outs: Slots) -> Step:
    """A step that puts the results into the environment."""
    if len(outs) == 1:
        (only,) = outs

        def single(environment: Environment, run: Run) -> None:
            (environment[only],) = compute(environment, run)

        return single
    if not outs:

        def nothing(environment: Environment, run: Run) -> None:
            compute(environment, run)

        return nothing

    def several(environment: Environment, run: Run) -> None:
        for out, value in zip(outs, compute(environment, run), strict=True):
            environment[out] = value

    return several


def values_of(environment: Environment, slots: Slots) -> list[Any]:
    """The values in some slots."""
    return [environment[slot] for slot in slots]


# Numbers.


def number(type: Type, value: Any) -> Any:
    """A constant; floats may be texts in hexadecimal, which lose nothing."""
    return type.dtype.type(float.fromhex(value) if isinstance(value, str) else value)


def arithmetic(op: str, ins: Slots, result: Type) -> Compute:
    """An op of `SCALAR_OPS`, that are none of comparison."""
    if op in BINARY:
        binary = BINARY[op]
        a, b = ins
        return lambda env, run: (binary(env[a], env[b]),)
    if op in CASTS:
        cast, dtype = CASTS[op], result.dtype
        (a,) = ins
        return lambda env, run: (cast(env[a], dtype),)
    if op in UNARY:
        unary = UNARY[op]
        (a,) = ins
        return lambda env, run: (unary(env[a]),)
    ternary = TERNARY[op]
    a, b, c = ins
    return lambda env, run: (ternary(env[a], env[b], env[c]),)


SCALAR_OPS = frozenset((*BINARY, *CASTS, *TERNARY, *UNARY))
"""What `arithmetic` computes."""


def comparison(op: str, predicate: str, ins: Slots) -> Compute:
    """`arith.cmpi` or `arith.cmpf`."""
    table = INTEGER_PREDICATES if op == "arith.cmpi" else FLOAT_PREDICATES
    if predicate not in table:
        raise MainError(f"unknown predicate '{predicate}'")
    function = table[predicate]
    a, b = ins
    return lambda env, run: (np.bool_(function(env[a], env[b])),)


def selection(ins: Slots) -> Compute:
    """`arith.select`."""
    condition, a, b = ins
    return lambda env, run: (env[a] if env[condition] else env[b],)


def assertion(ins: Slots, message: str) -> Compute:
    """`cf.assert`."""
    (condition,) = ins

    def check(environment: Environment, run: Run) -> Sequence[Any]:
        if not environment[condition]:
            raise MainFailure(message)
        return ()

    return check


# Memory.


def view(type: Type, pool: int, offset: int, reserved: int, ins: Slots) -> Compute:
    """`executor.view`: memory of a pool that ends within `reserved` bytes."""
    if not ins:
        shape = type.sized(())

        def static(environment: Environment, run: Run) -> Sequence[Any]:
            return (part_of(run.pools[pool], offset, type.dtype, shape),)

        return static

    def sized(environment: Environment, run: Run) -> Sequence[Any]:
        shape = type.sized(values_of(environment, ins))
        found = part_of(run.pools[pool], offset, type.dtype, shape)
        if found.nbytes > reserved:
            raise MainFailure(f"{found.nbytes} bytes where {reserved} are reserved")
        return (found,)

    return sized


def allocation(type: Type, alignment: int, ins: Slots) -> Compute:
    """`executor.alloc`."""

    def allocate(environment: Environment, run: Run) -> Sequence[Any]:
        shape = type.sized(values_of(environment, ins))
        size = type.dtype.itemsize
        for extent in shape:
            size *= max(extent, 0)
        memory = run.memory.take(size, alignment)
        return (memory.view(type.dtype).reshape([max(n, 0) for n in shape]),)

    return allocate


def giving_back(ins: Slots) -> Compute:
    """`executor.free`."""
    (slot,) = ins

    def give(environment: Environment, run: Run) -> Sequence[Any]:
        run.memory.give(environment[slot])
        environment[slot] = None
        return ()

    return give


def copy(ins: Slots) -> Compute:
    """`executor.copy`."""
    source, target = ins

    def copied(environment: Environment, run: Run) -> Sequence[Any]:
        if environment[source].shape != environment[target].shape:
            raise MainFailure("a copy of memory to some of another shape")
        environment[target][...] = environment[source]
        return ()

    return copied


def weight(type: Type, name: str, constants: Mapping[str, Array]) -> Compute:
    """`executor.constant`. Raises `MainError` for one that is not there."""
    array = constants.get(name)
    is_fitting = (
        array is not None
        and array.dtype.itemsize == type.dtype.itemsize
        and len(array.shape) == len(type.shape or ())
        and type.admits(array.shape)
    )
    if array is None or not is_fitting:
        found = "none" if array is None else f"{array.dtype.name}{list(array.shape)}"
        raise MainError(f"expected weight '{name}' of type '{type}', but got {found}")
    memory = (array.view(type.dtype),)  # which may say less of signs
    return lambda environment, run: memory


def size_of(ins: Slots) -> Compute:
    """`memref.dim`."""
    memory, axis = ins

    def size(environment: Environment, run: Run) -> Sequence[Any]:
        shape, number = environment[memory].shape, int(environment[axis])
        if not 0 <= number < len(shape):
            raise MainFailure(f"axis {number} of {list(shape)}")
        return (np.int64(shape[number]),)

    return size


def load(ins: Slots) -> Compute:
    """`memref.load`."""
    memory, *indices = ins

    def loaded(environment: Environment, run: Run) -> Sequence[Any]:
        array = environment[memory]
        return (array[index_of(array, values_of(environment, indices))],)

    return loaded


def store(ins: Slots) -> Compute:
    """`memref.store`."""
    value, memory, *indices = ins

    def stored(environment: Environment, run: Run) -> Sequence[Any]:
        array = environment[memory]
        array[index_of(array, values_of(environment, indices))] = environment[value]
        return ()

    return stored


def same_memory(type: Type, ins: Slots) -> Compute:
    """`memref.cast`: the same memory, if it is of a type."""
    (slot,) = ins

    def same(environment: Environment, run: Run) -> Sequence[Any]:
        memory = environment[slot]
        if not type.admits(memory.shape):
            raise MainFailure(f"memory of {list(memory.shape)} as '{type}'")
        return (memory,)

    return same


def byte_view(type: Type, ins: Slots) -> Compute:
    """`memref.view`."""
    memory, shift, *sizes = ins

    def viewed(environment: Environment, run: Run) -> Sequence[Any]:
        shape = type.sized(values_of(environment, sizes))
        start = int(environment[shift])
        return (bytes_as(environment[memory], start, type.dtype, shape),)

    return viewed


def part(
    parts: Sequence[Sequence[int | None]], dropped: Sequence[int], ins: Slots
) -> Compute:
    """`memref.subview`; `parts` are offsets, sizes and strides, None those in slots."""
    memory, *dynamic = ins
    left_out = frozenset(dropped)

    def viewed(environment: Environment, run: Run) -> Sequence[Any]:
        rest = iter(values_of(environment, dynamic))
        starts, sizes, steps = (
            [int(next(rest)) if n is None else n for n in numbers] for numbers in parts
        )
        return (subview(environment[memory], starts, sizes, steps, left_out),)

    return viewed


def collapse(groups: Sequence[Sequence[int]], ins: Slots) -> Compute:
    """`memref.collapse_shape`: axes that become one, for each axis of the result."""
    (slot,) = ins

    def collapsed(environment: Environment, run: Run) -> Sequence[Any]:
        array = environment[slot]
        shape = [_product(array.shape[axis] for axis in group) for group in groups]
        return (reshaped(array, shape),)

    return collapsed


def expand(type: Type, ins: Slots) -> Compute:
    """`memref.expand_shape`, with sizes in slots."""
    memory, *sizes = ins

    def expanded(environment: Environment, run: Run) -> Sequence[Any]:
        shape = type.sized(values_of(environment, sizes))
        return (reshaped(environment[memory], shape),)

    return expanded


def _product(sizes: Any) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


# Calls.


def kernel_call(
    kernel: Kernel, ins: Slots, names: Sequence[str], writes: Sequence[int], place: str
) -> Compute:
    """`executor.call`; `names` are those of the arguments."""

    def call(environment: Environment, run: Run) -> Sequence[Any]:
        values = [environment[slot] for slot in ins]
        if run.observer is None:
            kernel.call(values)
            return ()
        start = time.perf_counter()
        kernel.call(values)
        seconds = time.perf_counter() - start
        written = {names[i]: values[i] for i in writes}
        run.observer(KernelCall(place, kernel.name, seconds, written))
        return ()

    return call

"""
`memref`: buffers are NumPy arrays, and subviews, casts and reshapes views of them.

Memory that was never written holds NaN, or a pattern that is easy to spot.
"""

from typing import Any, cast

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    MemRefLayoutAttr,
    MemRefType,
)
from xdsl.ir import Operation

from transom.dialects.diagnostics import OpError
from transom.interpreters import numerics
from transom.interpreters.arith import dense_array
from transom.interpreters.evaluators import Array, Binary, Evaluators, Values
from transom.interpreters.indexing import (
    collapsed,
    drop_ones,
    element,
    mixed,
    set_element,
    window,
)
from transom.interpreters.interpreter import Frame, dtype_of

MEMREF = Evaluators()


def allocate(frame: Frame, op: Operation, type: Any, dynamic: Values) -> Array:
    """A new buffer of a memref type, whose open sizes are `dynamic`."""
    rest = iter(dynamic)
    shape = [int(next(rest)) if s < 0 else s for s in type.get_shape()]
    return frame.interpreter.allocate(op, shape, dtype_of(op, type.element_type))


@MEMREF.of(memref.AllocOp, memref.AllocaOp)
def alloc(frame: Frame, op: Any, args: Values) -> Values:
    return (allocate(frame, op, op.memref.type, args[: len(op.dynamic_sizes)]),)


@MEMREF.of(memref.DeallocOp)
def dealloc(frame: Frame, op: memref.DeallocOp, args: Values) -> Values:
    return ()


@MEMREF.of(memref.LoadOp)
def load(frame: Frame, op: memref.LoadOp, args: Values) -> Values:
    array, *indices = args
    return (element(frame, array, indices),)


@MEMREF.of(memref.StoreOp)
def store(frame: Frame, op: memref.StoreOp, args: Values) -> Values:
    value, array, *indices = args
    if any(np.ndim(x) for x in (value, *indices)):
        raise OpError(op, "expected no 'memref.store' in the regions of a nest")
    set_element(frame, array, indices, value)
    return ()


@MEMREF.of(memref.CopyOp)
def copy(frame: Frame, op: memref.CopyOp, args: Values) -> Values:
    source, destination = args
    if source.shape != destination.shape:
        raise ValueError(
            f"expected equal shapes, but got {list(source.shape)} and "
            f"{list(destination.shape)}"
        )
    destination[...] = source
    return ()


@MEMREF.of(memref.DimOp)
def dim(frame: Frame, op: memref.DimOp, args: Values) -> Values:
    array, axis = args
    if not 0 <= axis < array.ndim:
        raise IndexError(f"expected 0 <= axis < {array.ndim}, but got {axis}")
    return (np.int64(array.shape[int(axis)]),)


@MEMREF.of(memref.RankOp)
def rank(frame: Frame, op: memref.RankOp, args: Values) -> Values:
    return (np.int64(args[0].ndim),)


@MEMREF.of(memref.AssumeAlignmentOp, memref.MemorySpaceCastOp)
def identity(frame: Frame, op: Operation, args: Values) -> Values:
    return (args[0],)


@MEMREF.of(memref.CastOp)
def cast_(frame: Frame, op: memref.CastOp, args: Values) -> Values:
    check_static_sizes(args[0], op.dest.type)
    return (args[0],)


def check_static_sizes(array: Array, type: Any) -> None:
    """Raise ValueError if the array does not have the sizes that its type states."""
    expected = [
        found if size < 0 else size
        for size, found in zip(type.get_shape(), array.shape, strict=True)
    ]
    if expected != list(array.shape):
        raise ValueError(f"expected '{type}', but the sizes are {list(array.shape)}")


@MEMREF.of(memref.SubviewOp)
def subview(frame: Frame, op: memref.SubviewOp, args: Values) -> Values:
    array, *rest = args
    offsets, rest = rest[: len(op.offsets)], rest[len(op.offsets) :]
    sizes, strides = rest[: len(op.sizes)], rest[len(op.sizes) :]
    part = window(
        array.shape,
        mixed(op.static_offsets, offsets),
        mixed(op.static_sizes, sizes),
        mixed(op.static_strides, strides),
    )
    view = array[(*part, ...)]
    return (drop_ones(view, cast(Any, op.result.type).get_shape()),)


@MEMREF.of(memref.ReinterpretCastOp)
def reinterpret_cast(
    frame: Frame, op: memref.ReinterpretCastOp, args: Values
) -> Values:
    array, *rest = args
    offsets, rest = rest[: len(op.offsets)], rest[len(op.offsets) :]
    dynamic_sizes, dynamic_strides = rest[: len(op.sizes)], rest[len(op.sizes) :]
    (offset,) = mixed(op.static_offsets, offsets)
    sizes = mixed(op.static_sizes, dynamic_sizes)
    strides = mixed(op.static_strides, dynamic_strides)
    source = cast("MemRefType[Any]", op.source.type)
    return (strided(array, offset - _offset(source), sizes, strides),)


def _offset(type: MemRefType[Any]) -> int:
    """How many elements the start of the buffer lies before the memref."""
    layout = type.layout
    offset = layout.get_offset() if isinstance(layout, MemRefLayoutAttr) else 0
    if offset is None:
        raise ValueError(f"expected a known offset, but got '{type}'")
    return offset


def _buffer(array: Array) -> Array:
    """The array that owns the memory of a view."""
    while True:
        base: Any = array.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # of what as_strided puts in between
        if not isinstance(base, np.ndarray):
            return array
        array = cast(Array, base)


def strided(array: Array, offset: int, sizes: list[int], strides: list[int]) -> Array:
    """
    A view of the memory around a view, from `offset` elements behind its start.

    Raises IndexError if it leaves that memory.
    """
    root = _buffer(array)
    if not root.flags.c_contiguous:
        raise ValueError("expected a buffer that is contiguous")
    octets = root.reshape(-1).view(np.uint8)
    first = array.ctypes.data - octets.ctypes.data + offset * array.itemsize
    steps = [stride * array.itemsize for stride in strides]
    reach = [(n - 1) * step for n, step in zip(sizes, steps, strict=True)]
    low = first + sum(r for r in reach if r < 0)
    high = first + sum(r for r in reach if r > 0) + array.itemsize
    if min(sizes, default=1) <= 0:
        return np.empty(sizes, array.dtype)
    if low < 0 or high > octets.size:
        raise IndexError(
            f"expected a view within {octets.size} bytes, but it takes {low} to {high}"
        )
    start = octets[first : first + array.itemsize].view(array.dtype)
    return np.lib.stride_tricks.as_strided(start, sizes, steps)


@MEMREF.of(memref.ExpandShapeOp)
def expand_shape(frame: Frame, op: memref.ExpandShapeOp, args: Values) -> Values:
    array, *dynamic = args
    return (reshaped(array, mixed(op.static_output_shape, dynamic)),)


@MEMREF.of(memref.CollapseShapeOp)
def collapse_shape(frame: Frame, op: memref.CollapseShapeOp, args: Values) -> Values:
    indices = [[i.value.data for i in group] for group in op.reassociation]
    return (reshaped(args[0], collapsed(args[0].shape, indices)),)


def reshaped(array: Array, shape: list[int]) -> Array:
    """A view of another shape; ValueError if the strides do not allow one."""
    view = array.reshape(shape)
    if not np.may_share_memory(view, array) and view.size:
        raise ValueError(f"expected strides that allow a view of shape {shape}")
    return view


@MEMREF.of(memref.ViewOp)
def view(frame: Frame, op: memref.ViewOp, args: Values) -> Values:
    array, shift, *dynamic = args
    return (view_of_bytes(op, array.reshape(-1).view(np.uint8), int(shift), dynamic),)


def view_of_bytes(op: Operation, octets: Array, offset: int, dynamic: Values) -> Array:
    """The memref that `op` has as its result, at an offset in bytes."""
    type = cast("MemRefType[Any]", op.results[0].type)
    dtype = dtype_of(op, type.element_type)
    rest = iter(dynamic)
    shape = [int(next(rest)) if s < 0 else s for s in type.get_shape()]
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if offset < 0 or offset + size > octets.size or min(shape, default=0) < 0:
        raise IndexError(
            f"expected a view within {octets.size} bytes, but it takes {offset} to "
            f"{offset + size}"
        )
    return octets[offset : offset + size].view(dtype).reshape(shape)


@MEMREF.of(memref.GlobalOp)
def global_(frame: Frame, op: memref.GlobalOp, args: Values) -> Values:
    return ()


@MEMREF.of(memref.GetGlobalOp)
def get_global(frame: Frame, op: memref.GetGlobalOp, args: Values) -> Values:
    interpreter = frame.interpreter
    name = op.name_.string_value()
    found = interpreter.symbol(op, name)
    if not isinstance(found, memref.GlobalOp):
        raise OpError(op, f"expected '{name}' to be a 'memref.global'")
    if name not in interpreter.storage:
        value = found.initial_value
        if isinstance(value, DenseIntOrFPElementsAttr):
            array = dense_array(found, cast(Any, value))
            interpreter.check_size(op, array.shape, array.itemsize)
            array = array if found.constant is not None else array.copy()
        else:
            array = allocate(frame, op, found.type, ())
        interpreter.storage[name] = array
    return (interpreter.storage[name],)


@MEMREF.of(memref.ExtractStridedMetaDataOp)
def extract_strided_metadata(
    frame: Frame, op: memref.ExtractStridedMetaDataOp, args: Values
) -> Values:
    """The buffer from the start of its memref type on, offset, sizes, strides."""
    (array,) = args
    offset = _offset(cast("MemRefType[Any]", op.source.type))
    strides = [stride // array.itemsize for stride in array.strides]
    return (
        strided(array, -offset, [], []),
        np.int64(offset),
        *map(np.int64, array.shape),
        *map(np.int64, strides),
    )


_COMBINE: dict[int, Binary] = {
    0: lambda a, b: a + b,
    1: lambda a, b: a + b,
    2: lambda a, b: b,
    3: numerics.maximum,
    4: np.maximum,
    5: lambda a, b: np.maximum(numerics.as_unsigned(a), numerics.as_unsigned(b)),
    6: numerics.minimum,
    7: np.minimum,
    8: lambda a, b: np.minimum(numerics.as_unsigned(a), numerics.as_unsigned(b)),
    9: lambda a, b: a * b,
    10: lambda a, b: a * b,
    11: np.bitwise_or,
    12: np.bitwise_and,
}
"""By the number of MLIR's `AtomicRMWKind`."""


@MEMREF.of(memref.AtomicRMWOp)
def atomic_rmw(frame: Frame, op: memref.AtomicRMWOp, args: Values) -> Values:
    value, array, *indices = args
    combine = _COMBINE.get(op.kind.value.data)
    if combine is None:
        raise OpError(op, f"no reference evaluation for kind {op.kind.value.data}")
    old = element(frame, array, indices)
    new = np.asarray(combine(old, value))
    set_element(frame, array, indices, new.astype(array.dtype))
    return (new.astype(array.dtype)[()],)

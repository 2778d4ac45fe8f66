"""
The forms of ops on memory: elements, views, copies, local buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from transom.dialects import executor, tir
from transom.dialects.diagnostics import OpError
from transom.lowering.emit_c.expressions import ATOM, Expression
from transom.lowering.emit_c.memory import (
    Buffer,
    Number,
    as_expression,
    checked,
    contiguous,
    count_of,
    fresh_buffer,
    plus,
    times,
)
from transom.lowering.emit_c.scope import Scope, number_text, start_text
from transom.lowering.emit_c.unit import Unit

SMALL = 64
"""Bytes of a buffer that costs nothing to clear."""

MAX_STACK = 1 << 16
"""Bytes of a buffer that is a local variable."""


def write_load(unit: Unit, scope: Scope, op: Operation) -> None:
    assert isinstance(op, memref.LoadOp)
    buffer = scope.buffer(op, op.memref)
    element = buffer.element(scope.numbers(op.indices))
    scope.define(op, op.res, scope.scalars.loaded(buffer.scalar, element))


def write_store(unit: Unit, scope: Scope, op: Operation) -> None:
    assert isinstance(op, memref.StoreOp)
    buffer = scope.buffer(op, op.memref)
    value = scope.scalars.stored(buffer.scalar, scope.number(op.value))
    element = buffer.element(scope.numbers(op.indices))
    scope.settle()
    scope.line(f"{element.text} = {value.text};")


def write_local(unit: Unit, scope: Scope, op: Operation) -> None:
    """A buffer of the block that it is in."""
    assert isinstance(op, tir.AllocOp | memref.AllocaOp)
    (result,) = op.results
    type = checked(result.type)
    if not type.has_static_shape():
        raise OpError(
            op,
            f"no C form for a local buffer of unknown size, but got '{type}'; "
            "'tir-lift-scratch' makes it an argument",
        )
    name = scope.name_for(result, "buffer")
    buffer = fresh_buffer(name, type, scope.scalars)
    count = count_of(buffer.sizes)
    assert isinstance(count, int), "the shape is static"
    if count * buffer.scalar.bytes > MAX_STACK:
        raise OpError(
            op,
            f"expected a local buffer of at most {MAX_STACK} bytes, but got "
            f"'{type}'; 'tir-lift-scratch' makes it an argument",
        )
    # Compilers do not see that small buffers are written before they are read.
    start = " = {0}" if count * buffer.scalar.bytes <= SMALL else ""
    scope.line(f"{buffer.scalar.storage} {name}[{max(count, 1)}]{start};")
    scope.put(result, buffer)


def refuse_allocation(unit: Unit, scope: Scope, op: Operation) -> None:
    raise OpError(
        op,
        "no C form for memory that is taken while the program runs; bounds of the "
        "sizes let it be planned",
    )


def write_dim(unit: Unit, scope: Scope, op: Operation) -> None:
    assert isinstance(op, memref.DimOp)
    buffer = scope.buffer(op, op.source)
    index = scope.atom(op.index)
    if not isinstance(index, int) or not 0 <= index < len(buffer.sizes):
        raise OpError(op, "no C form for the size of a dimension that is not known")
    size = buffer.sizes[index]
    if isinstance(size, int):
        scope.put(op.result, as_expression(size))
    else:
        scope.define(op, op.result, size)


def write_constant(unit: Unit, scope: Scope, op: Operation) -> None:
    assert isinstance(op, executor.ConstantOp)
    name = unit.weight(op, op.weight.string_value())
    buffer = fresh_buffer(name, op.result.type, scope.scalars, is_const=True)
    scope.put(op.result, buffer)


# Views.


def write_view(unit: Unit, scope: Scope, op: Operation) -> None:
    """Elements in a buffer of bytes."""
    assert isinstance(op, memref.ViewOp)
    source = scope.buffer(op, op.source)
    start = plus(source.offset, scope.numbers([op.byte_shift])[0])
    sizes = [scope.atom(size) for size in op.sizes]
    passed = [as_expression(size) for size in sizes]
    name = scope.name_for(op.result, "buffer")
    buffer = fresh_buffer(name, op.result.type, scope.scalars, passed)
    address = replace(source, offset=start).start()
    scope.line(f"{buffer.type}{name} = ({buffer.type})(void *){address.at(ATOM)};")
    scope.put(op.result, buffer)


def _mixed(
    scope: Scope, static: Sequence[int], dynamic: Sequence[SSAValue]
) -> list[Number]:
    """Numbers of which some stand in the op, the others are operands."""
    rest = iter(dynamic)
    return [
        scope.atom(next(rest)) if number == DYNAMIC_INDEX else number
        for number in static
    ]


def write_subview(unit: Unit, scope: Scope, op: Operation) -> None:
    assert isinstance(op, memref.SubviewOp)
    source = scope.buffer(op, op.source)
    offsets = _mixed(scope, op.static_offsets.get_values(), op.offsets)
    sizes = _mixed(scope, op.static_sizes.get_values(), op.sizes)
    steps = _mixed(scope, op.static_strides.get_values(), op.strides)
    index = scope.scalars.index_type
    offset = scope.named(source.place(offsets), "offset", index)
    strides = [
        scope.named(times(step, stride), "stride", index)
        for step, stride in zip(steps, source.strides, strict=True)
    ]
    kept = _kept_dims(sizes, checked(op.result.type).get_shape(), op)
    scope.put(
        op.result,
        replace(
            source,
            sizes=tuple(sizes[dim] for dim in kept),
            strides=tuple(strides[dim] for dim in kept),
            offset=offset,
        ).retyped(op.result.type),
    )


def _kept_dims(
    sizes: Sequence[Number], shape: Sequence[int], op: Operation
) -> list[int]:
    """The dims of a slice that the result has: those of size one may be dropped."""
    kept: list[int] = []
    missing = len(sizes) - len(shape)
    for dim, size in enumerate(sizes):
        position = len(kept)
        is_wanted = position < len(shape) and (
            shape[position] == size
            or (shape[position] == DYNAMIC_INDEX and not isinstance(size, int))
        )
        if size == 1 and missing and not is_wanted:
            missing -= 1
        else:
            kept.append(dim)
    if len(kept) != len(shape):
        raise OpError(op, "no C form for this slice: its kept dimensions are not clear")
    return kept


def write_reinterpret(unit: Unit, scope: Scope, op: Operation) -> None:
    assert isinstance(op, memref.ReinterpretCastOp)
    source = scope.buffer(op, op.source)
    (offset,) = _mixed(scope, op.static_offsets.get_values(), op.offsets)
    scope.put(
        op.result,
        replace(
            source,
            sizes=tuple(_mixed(scope, op.static_sizes.get_values(), op.sizes)),
            strides=tuple(_mixed(scope, op.static_strides.get_values(), op.strides)),
            offset=offset,
        ).retyped(op.result.type),
    )


def write_cast(unit: Unit, scope: Scope, op: Operation) -> None:
    """Another type of the same memory."""
    assert isinstance(op, memref.CastOp | memref.MemorySpaceCastOp)
    (source,) = op.operands
    (result,) = op.results
    scope.put(result, scope.buffer(op, source).retyped(result.type))


def write_reshape(unit: Unit, scope: Scope, op: Operation) -> None:
    """Dimensions joined or split, of elements that lie without gaps."""
    source_value, result = op.operands[0], op.results[0]
    source = scope.buffer(op, source_value)
    if not source.is_dense:
        raise OpError(op, "no C form to reshape a view that has gaps")
    sizes: list[Number] = []
    if isinstance(op, memref.ExpandShapeOp):
        output = op.static_output_shape.get_values()
        sizes = _mixed(scope, output, op.output_shape)
    else:
        assert isinstance(op, memref.CollapseShapeOp)
        index = scope.scalars.index_type
        for group in op.reassociation.data:
            dims = [dim.value.data for dim in group.data]
            size = count_of([source.sizes[dim] for dim in dims])
            sizes.append(scope.named(size, "size", index))
    strides = tuple(
        scope.named(stride, "stride", scope.scalars.index_type)
        for stride in contiguous(sizes)
    )
    scope.put(
        result,
        replace(source, sizes=tuple(sizes), strides=strides).retyped(result.type),
    )


# Copies.


def write_copy(unit: Unit, scope: Scope, op: Operation) -> None:
    assert isinstance(op, memref.CopyOp | tir.CopyOp | tir.CopyAsyncOp)
    copy(
        scope,
        scope.buffer(op, op.source),
        scope.buffer(op, op.destination),
    )


def copy(scope: Scope, source: Buffer, target: Buffer) -> None:
    """Copy elements, all at once where they lie without gaps on both sides."""
    scope.settle()
    sizes = [
        b if isinstance(b, int) else a
        for a, b in zip(source.sizes, target.sizes, strict=True)
    ]
    if source.is_dense and target.is_dense:
        size = times(count_of(sizes), source.scalar.bytes)
        if size == 0:
            return
        count = number_text(size)
        count = count if isinstance(size, int) else f"(size_t)({count})"
        scope.line(f"memcpy({start_text(target)}, {start_text(source)}, {count});")
        return
    index = scope.scalars.index_type

    def loops(indices: list[Number]) -> None:
        dim = len(indices)
        if dim == len(sizes):
            to, value = target.element(indices), source.element(indices)
            scope.line(f"{to.text} = {value.text};")
            return
        with scope.loop_name() as name:
            size = number_text(sizes[dim])
            head = f"for ({index} {name} = 0; {name} < {size}; ++{name})"
            with scope.braces(head):
                loops([*indices, Expression(name)])

    loops([])


def skip(unit: Unit, scope: Scope, op: Operation) -> None:
    """What C needs no statement for."""


MEMORY_OPS: dict[type[Operation], Callable[[Unit, Scope, Operation], None]] = {
    executor.AllocOp: refuse_allocation,
    executor.ConstantOp: write_constant,
    memref.AllocOp: refuse_allocation,
    memref.AllocaOp: write_local,
    memref.CastOp: write_cast,
    memref.CollapseShapeOp: write_reshape,
    memref.CopyOp: write_copy,
    memref.DimOp: write_dim,
    memref.ExpandShapeOp: write_reshape,
    memref.LoadOp: write_load,
    memref.MemorySpaceCastOp: write_cast,
    memref.ReinterpretCastOp: write_reinterpret,
    memref.StoreOp: write_store,
    memref.SubviewOp: write_subview,
    memref.ViewOp: write_view,
    tir.AllocOp: write_local,
    tir.CopyAsyncOp: write_copy,
    tir.CopyOp: write_copy,
    tir.PrefetchOp: skip,
    tir.WaitOp: skip,
}
"""Ops on memory; copies in the background are done when they are started."""

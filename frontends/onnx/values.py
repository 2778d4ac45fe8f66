"""
What operators are put together from: small steps on values at the place of a node.
"""

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import element_type
from transom.dialects.weight_files import Array
from transom.frontends.onnx.node import Node, Unsupported, shape_of, type_of

MAX_ELEMENTS = 2**20
"""Elements of a constant that an operator is built with."""

MAX_PARTS = 1024
"""Values that are built one by one and put together."""


def entries(value: SSAValue) -> list[int | graph.InputDim]:
    """The shape of a value, as a reshape of it says it."""
    return [
        graph.InputDim(axis) if size < 0 else size
        for axis, size in enumerate(shape_of(value))
    ]


def elements_of(value: SSAValue) -> Attribute:
    """The element type of a value."""
    return type_of(value).element_type


def constant(n: Node, array: Array) -> SSAValue:
    """Elements that the importer computed, written out."""
    if array.size > MAX_ELEMENTS:
        raise Unsupported(
            f"expected a constant of at most {MAX_ELEMENTS} elements, "
            f"but {array.size} are needed"
        )
    type = graph.tensor(array.shape, element_type(array.dtype))
    if array.size and (array == array.flat[0]).all():
        return n.add(graph.ConstantOp.splat(type, array.flat[0].item()))
    return n.add(graph.ConstantOp.from_bytes(type, array.tobytes()))


def filled(n: Node, value: float, element: Attribute, shape: Sequence[int]) -> SSAValue:
    """A tensor with one element everywhere."""
    return n.add(graph.BroadcastOp(n.splat(value, element), shape))


def cast(n: Node, value: SSAValue, element: Attribute) -> SSAValue:
    """A value with elements of a type."""
    if elements_of(value) == element:
        return value
    return n.add(graph.CastOp(value, element))


def in_single(
    n: Node, x: SSAValue, function: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """A function of floats that is computed in f32 for halves."""
    element = elements_of(x)
    wide = cast(n, x, f32) if element in (f16, bf16) else x
    return cast(n, function(wide), element)


def transpose(n: Node, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """A value with its dimensions in another order."""
    if list(order) == sorted(order):
        return value
    return n.add(graph.TransposeOp(value, order))


def cut(
    n: Node, value: SSAValue, axis: int, start: int, size: int, step: int = 1
) -> SSAValue:
    """So many elements along an axis, from one on; -1 is all up to the end."""
    rank = len(shape_of(value))
    starts, sizes, steps = [0] * rank, [-1] * rank, [1] * rank
    starts[axis], sizes[axis], steps[axis] = start, size, step
    return n.add(graph.SliceOp(value, starts, sizes, steps))


def flip(n: Node, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """A value in reverse order along axes."""
    shape = shape_of(value)
    turned = {axis for axis in axes if shape[axis] != 1}
    if not turned:
        return value
    starts = [-1 if axis in turned else 0 for axis in range(len(shape))]
    steps = [-1 if axis in turned else 1 for axis in range(len(shape))]
    return n.add(graph.SliceOp(value, starts, [-1] * len(shape), steps))


def pad(
    n: Node,
    value: SSAValue,
    low: Sequence[int],
    high: Sequence[int],
    with_: float = 0,
) -> SSAValue:
    """A value with more elements around it."""
    if not any((*low, *high)):
        return value
    return n.add(graph.PadOp(value, low, high, with_))


def spread(n: Node, value: SSAValue, axis: int, steps: Sequence[int]) -> SSAValue:
    """
    The elements of a value so many places apart along axes from one on, with zeros
    between them. The sizes of these are static.
    """
    for place, step in enumerate(steps, axis):
        if step == 1:
            continue
        shape, size = entries(value), shape_of(value)[place]
        shape.insert(place + 1, 1)
        apart = n.reshape(value, shape)
        low, high = [0] * len(shape), [0] * len(shape)
        high[place + 1] = step - 1
        apart = n.add(graph.PadOp(apart, low, high, 0))
        merged = merge(n, apart, place)
        value = cut(n, merged, place, 0, (size - 1) * step + 1)
    return value


def merge(n: Node, value: SSAValue, axis: int, count: int = 2) -> SSAValue:
    """A value with so many dimensions from one on as one dimension."""
    shape = shape_of(value)
    sizes = shape[axis : axis + count]
    merged = -1 if -1 in sizes else math.prod(sizes)
    own = entries(value)
    return n.reshape(value, [*own[:axis], merged, *own[axis + count :]])


def split(n: Node, value: SSAValue, axis: int, sizes: Sequence[int]) -> SSAValue:
    """A value with one dimension as several; one of their sizes may be -1."""
    own = entries(value)
    return n.reshape(value, [*own[:axis], *sizes, *own[axis + 1 :]])


def repeated(n: Node, x: SSAValue, axis: int, factor: int) -> SSAValue:
    """Each element along an axis so often."""
    shape = entries(x)
    apart = n.reshape(x, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
    sizes = [None if size < 0 else size for size in shape_of(apart)]
    sizes[axis + 1] = factor
    return merge(n, n.add(graph.BroadcastOp(apart, sizes)), axis)


def check_parts(count: int) -> None:
    """Raise `Unsupported` for more values than are built one by one."""
    if count > MAX_PARTS:
        raise Unsupported(f"expected at most {MAX_PARTS} parts, but got {count}")


def total(
    n: Node, op: Callable[[SSAValue, SSAValue], Operation], values: Sequence[SSAValue]
) -> SSAValue:
    """Values combined from the left."""
    result = values[0]
    for value in values[1:]:
        result = n.add(op(result, value))
    return result

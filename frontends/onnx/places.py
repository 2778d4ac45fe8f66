"""
Operators that pick elements by place, or ask where they are.
"""

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import (
    Node,
    Unsupported,
    positive_axis,
    shape_of,
    type_of,
)
from transom.frontends.onnx.values import cast, cut, entries


def gather_elements(n: Node) -> SSAValue:
    axis = n.axis("axis", 0, n.rank())
    return n.add(graph.GatherElementsOp(n.input(0), n.input(1), axis))


def nonzero(n: Node) -> SSAValue:
    if n.rank() == 0:
        raise Unsupported("a scalar as input is not supported")
    return n.add(graph.NonzeroOp(n.input()))


def static_shape(value: SSAValue, what: str) -> tuple[int, ...]:
    """The shape of a value. Raises `Unsupported` if a size is not known."""
    shape = shape_of(value)
    if -1 in shape:
        raise Unsupported(f"{what} with a size that is not static is not supported")
    return shape


def from_start(n: Node, indices: SSAValue, size: int) -> SSAValue:
    """Indices of which negative ones count from the end, as i64."""
    if type_of(indices).element_type != i64:
        indices = n.add(graph.CastOp(indices, i64))
    moved = n.add(graph.AddOp(indices, n.splat(size, i64)))
    negative = n.add(graph.CompareOp("lt", indices, n.splat(0, i64)))
    return n.add(graph.SelectOp(negative, moved, indices))


def flat_places(n: Node, places: SSAValue, extents: Sequence[int]) -> SSAValue:
    """
    The number of each place among all of these extents; the last dim of `places` has
    one index per extent.
    """
    shape = shape_of(places)
    outer = shape[:-1]
    result: SSAValue | None = None
    for axis, extent in enumerate(extents):
        starts = [*(0 for _ in outer), axis]
        part = n.add(graph.SliceOp(places, starts, [*outer, 1]))
        index = from_start(n, n.reshape(part, outer), extent)
        stride = math.prod(extents[axis + 1 :])
        scaled = n.add(graph.MulOp(index, n.splat(stride, i64)))
        result = scaled if result is None else n.add(graph.AddOp(result, scaled))
    assert result is not None, "there is at least one index"
    return result


def gather_nd(n: Node) -> SSAValue:
    data, places = n.input(0), n.input(1)
    shape = static_shape(data, "an input")
    outer = static_shape(places, "a list of places")
    batch = n.int_attr("batch_dims", 0)
    depth = outer[-1] if outer else 0
    if not depth or batch < 0 or batch + depth > len(shape) or batch >= len(outer):
        raise Unsupported(
            f"expected places in {len(shape)} dimensions, but got {depth}"
        )
    extents = shape[batch : batch + depth]
    at = flat_places(n, places, extents)
    inner = shape[batch + depth :]
    count = math.prod(shape[:batch])
    if batch:  # each batch has elements of its own
        at = n.reshape(at, [count, -1])
        row = n.add(graph.IotaOp(at, 0))
        scaled = n.add(graph.MulOp(row, n.splat(math.prod(extents), i64)))
        at = n.reshape(n.add(graph.AddOp(at, scaled)), outer[:-1])
    flat = n.reshape(data, [count * math.prod(extents), *inner])
    return n.add(graph.GatherOp(flat, at, 0))


def scatter_nd(n: Node) -> SSAValue:
    data, places, updates = n.input(0), n.input(1), n.input(2)
    shape = static_shape(data, "an input")
    outer = static_shape(places, "a list of places")
    combine = n.string_attr("reduction", "none")
    if combine not in ("none", "add", "mul", "min", "max"):
        raise Unsupported(f"reduction '{combine}' is not supported")
    depth = outer[-1] if outer else 0
    if not depth or depth > len(shape):
        raise Unsupported(
            f"expected places in {len(shape)} dimensions, but got {depth}"
        )
    at = flat_places(n, places, shape[:depth])
    rows, width = math.prod(outer[:-1]), math.prod(shape[depth:])
    spread = graph.BroadcastOp(n.reshape(at, [rows, 1]), [rows, width])
    result = graph.ScatterOp(
        n.reshape(data, [math.prod(shape[:depth]), width]),
        n.add(spread),
        n.reshape(updates, [rows, width]),
        0,
        combine,
    )
    return n.reshape(n.add(result), shape)


def trilu(n: Node) -> SSAValue:
    value = n.input()
    rank = n.rank()
    if rank < 2:
        raise Unsupported(f"expected at least 2 dimensions, but got {rank}")
    upper = n.flag("upper", default=True)
    offset = n.scalar(1) if n.has(1) else 0
    row, column = (n.add(graph.IotaOp(value, rank - back)) for back in (2, 1))
    distance = n.add(graph.SubOp(column, row))
    predicate = "ge" if upper else "le"
    kept = n.add(graph.CompareOp(predicate, distance, n.splat(offset, i64)))
    return n.add(graph.SelectOp(kept, value, n.splat(0, type_of(value).element_type)))


def eye_like(n: Node) -> SSAValue:
    from transom.dialects.dtypes import element_type
    from transom.dialects.onnx_weights import dtype_of_kind

    value = n.input()
    element = type_of(value).element_type
    if n.given("dtype"):
        dtype = dtype_of_kind(n.int_attr("dtype"))
        if dtype is None:
            raise Unsupported("elements of this type are not supported")
        element = element_type(dtype)
    row, column = (n.add(graph.IotaOp(value, axis)) for axis in (0, 1))
    moved = n.add(graph.AddOp(row, n.splat(n.int_attr("k", 0), i64)))
    return n.add(graph.CastOp(n.add(graph.CompareOp("eq", column, moved)), element))


def one_hot(n: Node) -> SSAValue:
    indices, values = n.input(0), n.input(2)
    depth = int(n.scalar(1))
    shape = entries(indices)
    axis = positive_axis(n.int_attr("axis", -1), len(shape) + 1)
    at = from_start(n, indices, depth)
    spread = n.reshape(at, [*shape[:axis], 1, *shape[axis:]])
    full = [size if size >= 0 else None for size in shape_of(spread)]
    full[axis] = depth
    place = n.add(graph.IotaOp(n.add(graph.BroadcastOp(spread, full)), axis))
    hot = n.add(graph.CompareOp("eq", place, spread))
    off, on = (
        n.reshape(n.add(graph.SliceOp(values, [number], [1])), []) for number in (0, 1)
    )
    return n.add(graph.SelectOp(hot, on, off))


def hardmax(n: Node) -> SSAValue:
    value = n.input()
    if n.opset < 13:
        raise Unsupported(
            "rows of several dimensions (before opset 13) are not supported"
        )
    axis = n.axis("axis", -1, n.rank())
    best = n.add(graph.ArgReduceOp("argmax", value, axis=axis, keepdims=True))
    place = n.add(graph.IotaOp(value, axis))
    hot = n.add(graph.CompareOp("eq", place, best))
    return n.add(graph.CastOp(hot, type_of(value).element_type))


def reverse_sequence(n: Node) -> SSAValue:
    """The first elements of each row along an axis turn round; how many is an input."""
    value, lengths = n.input(0), n.input(1)
    rank = n.rank()
    time, batch = n.int_attr("time_axis", 0), n.int_attr("batch_axis", 1)
    if {time, batch} != {0, 1} or rank < 2:
        raise Unsupported(f"expected axes 0 and 1, but got {time} and {batch}")
    spread = [-1 if axis == batch else 1 for axis in range(rank)]
    count = n.reshape(lengths, spread)
    place = n.add(graph.IotaOp(value, time))
    last = n.add(graph.SubOp(count, n.splat(1, i64)))
    turned = n.add(graph.SubOp(last, place))
    inside = n.add(graph.CompareOp("lt", place, count))
    at = n.add(graph.SelectOp(inside, turned, place))
    return n.add(graph.GatherElementsOp(value, at, time))


def optional_get_element(n: Node) -> SSAValue:
    """Values are tensors that are there."""
    return n.input()


def optional_has_element(n: Node) -> SSAValue:
    return n.splat(1 if n.has(0) else 0, i1)


def top_k(n: Node) -> list[SSAValue]:
    value = n.input()
    axis = n.axis("axis", -1, n.rank())
    count = int(n.scalar(1)) if n.opset >= 10 else n.int_attr("k")
    largest = n.flag("largest", default=True) if n.opset >= 11 else True
    if n.opset >= 11:
        n.ignore("sorted")  # it is sorted in any case
    size = n.shape()[axis]
    if count < 0 or count > size >= 0:
        raise Unsupported(f"expected 0 to {size} elements, but got {count}")
    first = count if size >= 0 else None
    places = n.add(graph.ArgsortOp(value, axis, first=first, descending=largest))
    if first is None:
        places = cut(n, places, axis, 0, count)
    return [n.add(graph.GatherElementsOp(value, places, axis)), places]


def tensor_scatter(n: Node) -> SSAValue:
    """Updates go to neighbouring places along an axis, from one on for each batch."""
    cache, update = n.input(0), n.input(1)
    axis = n.axis("axis", -2, n.rank())
    size = n.shape()[axis]
    if size < 0 and n.string_attr("mode", "linear") == "circular":
        raise Unsupported(f"axis {axis} is a circle of a size that is not static")
    mode = n.string_attr("mode", "linear")
    if axis == 0 or mode not in ("linear", "circular"):
        raise Unsupported(
            "expected an axis that is not the first, and a mode of 'linear' or "
            f"'circular', but got {axis} and '{mode}'"
        )
    at = n.add(graph.IotaOp(update, axis))
    if n.has(2):
        starts = n.reshape(n.input(2), [-1, *[1] * (n.rank() - 1)])
        at = n.add(graph.AddOp(at, cast(n, starts, i64)))
    if mode == "circular":
        at = n.add(graph.ModOp(at, n.splat(size, i64)))
    return n.add(graph.ScatterOp(cache, at, update, axis))


HANDLERS: dict[str, Callable[[Node], SSAValue | list[SSAValue]]] = {
    "EyeLike": eye_like,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "Hardmax": hardmax,
    "NonZero": nonzero,
    "OneHot": one_hot,
    "OptionalGetElement": optional_get_element,
    "OptionalHasElement": optional_has_element,
    "ReverseSequence": reverse_sequence,
    "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter,
    "TopK": top_k,
    "Trilu": trilu,
}

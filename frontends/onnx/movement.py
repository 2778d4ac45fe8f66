"""
Operators that move elements, and constants.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import (
    Node,
    Unsupported,
    positive_axis,
)

MAX_ELEMENTS = 2**31
"""Elements that a constant of a model may ask for."""

Shape = list[int | graph.InputDim]


def sizes_of(n: Node, index: int = 0) -> Shape:
    """The shape of an input, as a reshape of that input says it."""
    return [
        graph.InputDim(axis) if size < 0 else size
        for axis, size in enumerate(n.shape(index))
    ]


def reshape(n: Node) -> SSAValue:
    wanted = n.integers(1) if n.opset >= 5 else n.int_list("shape", ())
    keep_zero = bool(n.int_attr("allowzero", 0))
    own = sizes_of(n)
    shape: Shape = []
    for axis, size in enumerate(wanted):
        if size == 0 and not keep_zero:
            if axis >= len(own):
                raise Unsupported(f"there is no dimension {axis} to keep")
            shape.append(own[axis])
        else:
            shape.append(size)
    return n.reshape(n.input(), shape)


def flatten(n: Node) -> SSAValue:
    rank = n.rank()
    axis = n.int_attr("axis", 1)
    axis = rank if axis == rank else positive_axis(axis, rank)
    shape = n.shape()
    leading, trailing = shape[:axis], shape[axis:]
    if -1 not in leading:
        return n.reshape(n.input(), [int(np.prod(leading, dtype=object)), -1])
    if -1 not in trailing:
        return n.reshape(n.input(), [-1, int(np.prod(trailing, dtype=object))])
    raise Unsupported("sizes that are not static on both sides of the axis")


def transpose(n: Node) -> SSAValue:
    order = n.int_list("perm", range(n.rank())[::-1])
    return n.add(graph.TransposeOp(n.input(), order))


def axes_of(n: Node, rank: int) -> list[int] | None:
    """Axes that are an input from opset 13 on, and an attribute before."""
    if n.opset >= 13:
        axes = n.integers(1) if n.has(1) else None
    else:
        axes = n.int_list("axes", ()) if n.given("axes") else None
    return None if axes is None else sorted(positive_axis(a, rank) for a in axes)


def squeeze(n: Node) -> SSAValue:
    own = sizes_of(n)
    axes = axes_of(n, len(own))
    if axes is None:
        if any(isinstance(size, graph.InputDim) for size in own):
            raise Unsupported("expected axes where sizes are not static")
        axes = [axis for axis, size in enumerate(own) if size == 1]
    if wrong := [axis for axis in axes if own[axis] != 1]:
        raise Unsupported(f"expected a size of 1 at axis {wrong[0]}")
    return n.reshape(n.input(), [s for axis, s in enumerate(own) if axis not in axes])


def unsqueeze(n: Node) -> SSAValue:
    own = sizes_of(n)
    axes = n.integers(1) if n.opset >= 13 else n.int_list("axes", ())
    rank = len(own) + len(axes)
    axes = [positive_axis(axis, rank) for axis in axes]
    if len(set(axes)) != len(axes):
        raise Unsupported(f"expected each axis once, but got {axes}")
    rest = iter(own)
    return n.reshape(n.input(), [1 if a in axes else next(rest) for a in range(rank)])


def concat(n: Node) -> SSAValue:
    return n.add(graph.ConcatOp(n.inputs(), n.axis("axis", 1, n.rank())))


def slice_(n: Node) -> SSAValue:
    rank, shape = n.rank(), n.shape()
    if n.opset < 10:
        starts, ends = n.int_list("starts", ()), n.int_list("ends", ())
        axes = n.int_list("axes", range(len(starts)))
        steps = [1] * len(starts)
    else:
        starts, ends = n.integers(1), n.integers(2)
        axes = n.integers(3) if n.has(3) else list(range(len(starts)))
        steps = n.integers(4) if n.has(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Unsupported("starts, ends, axes and steps differ in number")
    begin, count, step = [0] * rank, [-1] * rank, [1] * rank
    for start, end, axis, stride in zip(starts, ends, axes, steps, strict=True):
        axis = positive_axis(axis, rank)
        if shape[axis] < 0:
            raise Unsupported(f"axis {axis} is sliced, and its size is not static")
        if stride == 0:
            raise Unsupported("a step of 0")
        bounds = range(shape[axis])[slice(start, end, stride)]
        begin[axis], step[axis], count[axis] = bounds.start, stride, len(bounds)
        if not len(bounds):
            begin[axis] = 0
    return n.add(graph.SliceOp(n.input(), begin, count, step))


def split(n: Node) -> list[SSAValue]:
    axis = n.axis("axis", 0, n.rank())
    size, count = n.shape()[axis], len(n.proto.output)
    if size < 0:
        raise Unsupported("the axis is of a size that is not static")
    if n.opset >= 13:
        parts = n.integers(1) if n.has(1) else None
        count = n.int_attr("num_outputs", count)
    else:
        parts = n.int_list("split", ()) if n.given("split") else None
    if parts is None:
        largest = -(-size // count)
        parts = [min(largest, size - i * largest) for i in range(count)]
    if sum(parts) != size or min(parts, default=0) < 0:
        raise Unsupported(f"expected parts of {size} together, but got {parts}")
    values: list[SSAValue] = []
    start = 0
    for part in parts:
        begin, counts = [0] * n.rank(), [-1] * n.rank()
        begin[axis], counts[axis] = start, part
        values.append(n.add(graph.SliceOp(n.input(), begin, counts)))
        start += part
    return values


def pad(n: Node) -> SSAValue:
    if n.string_attr("mode", "constant") != "constant":
        raise Unsupported("only padding with a constant is supported")
    rank = n.rank()
    value: float = 0
    if n.opset < 11:
        pads, value = n.int_list("pads", ()), n.float_attr("value", 0.0)
        axes = list(range(rank))
    else:
        pads = n.integers(1)
        if n.has(2):
            value = n.constant(2).reshape(-1)[0].item()
        axes = n.integers(3) if n.has(3) else list(range(rank))
    axes = [positive_axis(axis, rank) for axis in axes]
    if len(pads) != 2 * len(axes):
        raise Unsupported(f"expected {2 * len(axes)} pads, but got {len(pads)}")
    low, high = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[i + len(axes)]
    if min(*low, *high, 0) < 0:
        raise Unsupported("negative pads are not supported")
    return n.add(graph.PadOp(n.input(), low, high, value))


def gather(n: Node) -> SSAValue:
    axis = n.axis("axis", 0, n.rank())
    return n.add(graph.GatherOp(n.input(0), n.input(1), axis))


def scatter(n: Node) -> SSAValue:
    combine = n.string_attr("reduction", "none")
    axis = n.axis("axis", 0, n.rank())
    return n.add(graph.ScatterOp(n.input(0), n.input(1), n.input(2), axis, combine))


def expand(n: Node) -> SSAValue:
    wanted = n.integers(1)
    own = n.shape()
    rank = max(len(own), len(wanted))
    aligned = [1] * (rank - len(wanted)) + wanted
    shape: list[Any] = [1] * (rank - len(own)) + list(own)
    for axis, size in enumerate(aligned):
        if size != 1:
            shape[axis] = size
    if -1 in shape:
        raise Unsupported("sizes that are not static are not supported")
    return n.add(graph.BroadcastOp(n.input(), shape))


def constant(n: Node) -> SSAValue:
    dtypes: dict[str, Any] = {
        "value_float": np.float32,
        "value_int": np.int64,
        "value_floats": np.float32,
        "value_ints": np.int64,
    }
    array = n.tensor_attr("value")
    for name, dtype in dtypes.items():
        if n.given(name):
            array = np.asarray(n.raw(name), dtype)
    if array is None:
        raise Unsupported("strings and sparse tensors are not supported")
    return n.known(array)


def constant_of_shape(n: Node) -> SSAValue:
    shape = n.integers(0)
    if min(shape, default=0) < 0:
        raise Unsupported(f"expected sizes >= 0, but got {shape}")
    if int(np.prod(shape, dtype=object)) > MAX_ELEMENTS:
        raise Unsupported(f"expected at most {MAX_ELEMENTS} elements, but got {shape}")
    value = n.tensor_attr("value")
    if value is None:
        value = np.zeros(1, np.float32)
    if value.size != 1:
        raise Unsupported(f"expected one value, but got {value.size}")
    # A view: every element is the same one.
    return n.known(np.broadcast_to(value.reshape(()), shape))


def shape(n: Node) -> SSAValue:
    rank = n.rank()
    sizes = list(n.shape())[n.int_attr("start", 0) : n.int_attr("end", rank)]
    if -1 in sizes:
        raise Unsupported("sizes that are not static are not supported")
    return n.known(np.array(sizes, np.int64))


HANDLERS: dict[str, Callable[[Node], SSAValue | Sequence[SSAValue]]] = {
    "Concat": concat,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "Expand": expand,
    "Flatten": flatten,
    "Gather": gather,
    "Pad": pad,
    "Reshape": reshape,
    "ScatterElements": scatter,
    "Shape": shape,
    "Slice": slice_,
    "Split": split,
    "Squeeze": squeeze,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}

"""
Operators that move elements, and constants.
"""

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.dtypes import element_type
from transom.frontends.onnx.node import (
    Node,
    Unsupported,
    positive_axes,
    positive_axis,
)
from transom.frontends.onnx.sizes import RuntimeSize, Size, sizes_of
from transom.frontends.onnx.values import entries, merge
from transom.frontends.onnx.values import split as split_dimension

MAX_CONSTANT = 2**28
"""Elements that `ConstantOfShape` may ask for."""

COMBINES = ("none", "add", "max", "min", "mul")

KEEP = 0
"""What stands in the shape of a `Reshape` for a size of the input."""


def reshape(n: Node) -> SSAValue:
    keep = KEEP if not n.flag("allowzero") else None
    own = entries(n.input())
    shape: list[int | graph.InputDim] = []
    wanted = wanted_sizes(n, 1)
    for axis, size in enumerate(wanted):
        if isinstance(size, RuntimeSize):
            shape.append(dimension_of(n.input(), size))
        elif size == keep:
            if axis >= len(own):
                raise Unsupported(f"there is no dimension {axis} to keep")
            shape.append(own[axis])
        else:
            shape.append(size)
    if shape.count(-1) > 1 and any(isinstance(size, RuntimeSize) for size in wanted):
        raise Unsupported(
            "expected sizes of the input and at most one other that is not static, but "
            f"got {shape.count(-1)}; give the sizes by --dim or --shape"
        )
    return n.reshape(n.input(), shape)


def wanted_sizes(n: Node, index: int) -> list[Size]:
    """An input that is a shape."""
    array = n.known(index)
    if array.dtype == object:
        sizes: list[Size] = list(array.reshape(-1))
        return sizes
    return [*n.integers(index)]


def dimension_of(value: SSAValue, size: RuntimeSize) -> int | graph.InputDim:
    """What a reshape of a value says of a size: a dimension with it, else the rest."""
    for axis, own in enumerate(sizes_of(value)):
        if isinstance(own, RuntimeSize) and size.is_size_of(value, axis):
            return graph.InputDim(axis)
    return -1


def flatten(n: Node) -> SSAValue:
    rank = n.rank()
    axis = n.int_attr("axis", 1)
    axis = rank if axis == rank else positive_axis(axis, rank)
    shape = n.shape()
    leading, trailing = shape[:axis], shape[axis:]
    if -1 in leading and -1 in trailing:
        raise Unsupported("sizes that are not static on both sides of the axis")
    sizes = [-1 if -1 in side else math.prod(side) for side in (leading, trailing)]
    return n.reshape(n.input(), sizes)


def transpose(n: Node) -> SSAValue:
    order = n.int_list("perm", range(n.rank())[::-1])
    return n.add(graph.TransposeOp(n.input(), order))


def squeezed_axes(n: Node, rank: int) -> list[int] | None:
    """The axes of `Squeeze`: an input from opset 13 on, an attribute before."""
    if n.opset >= 13:
        axes = n.integers(1) if n.has(1) else None
    else:
        axes = n.int_list("axes") if n.given("axes") else None
    return None if axes is None else positive_axes(axes, rank)


def squeeze(n: Node) -> SSAValue:
    own = entries(n.input())
    axes = squeezed_axes(n, len(own))
    if axes is None:
        if -1 in n.shape():
            raise Unsupported("expected axes where sizes are not static")
        axes = [axis for axis, size in enumerate(own) if size == 1]
    for axis in axes:
        if own[axis] != 1:
            raise Unsupported(f"expected a size of 1 at axis {axis}")
    return n.reshape(n.input(), [s for axis, s in enumerate(own) if axis not in axes])


def unsqueezed_axes(n: Node, rank: int) -> list[int]:
    """The axes of `Unsqueeze`, which count dimensions of the result."""
    axes = n.integers(1) if n.opset >= 13 else n.int_list("axes")
    return positive_axes(axes, rank + len(axes))


def unsqueeze(n: Node) -> SSAValue:
    own = entries(n.input())
    axes = set(unsqueezed_axes(n, len(own)))
    rest = iter(own)
    rank = len(own) + len(axes)
    return n.reshape(n.input(), [1 if a in axes else next(rest) for a in range(rank)])


def concat(n: Node) -> SSAValue:
    return n.add(graph.ConcatOp(n.inputs(), n.axis("axis", None, n.rank())))


def slices_of(n: Node, rank: int) -> dict[int, slice]:
    """What `Slice` takes of each axis: attributes before opset 10, inputs since."""
    if n.opset < 10:
        starts, ends = n.int_list("starts"), n.int_list("ends")
        axes = n.int_list("axes", range(len(starts)))
        steps = [1] * len(starts)
    else:
        starts, ends = n.integers(1), n.integers(2)
        axes = n.integers(3) if n.has(3) else list(range(len(starts)))
        steps = n.integers(4) if n.has(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Unsupported("starts, ends, axes and steps differ in number")
    if 0 in steps:
        raise Unsupported("expected steps other than 0")
    axes = [positive_axis(axis, rank) for axis in axes]
    if len(set(axes)) != len(axes):
        raise Unsupported(f"expected each axis once, but got {axes}")
    slices = map(slice, starts, ends, steps)
    return dict(zip(axes, slices, strict=True))


def slice_(n: Node) -> SSAValue:
    rank, shape = n.rank(), n.shape()
    begin, count, step = [0] * rank, [-1] * rank, [1] * rank
    for axis, numbers in slices_of(n, rank).items():
        if shape[axis] < 0:
            open_slice = slice_of_open(axis, numbers)
            begin[axis], count[axis], step[axis] = open_slice
            continue
        places = range(shape[axis])[numbers]
        step[axis], count[axis] = places.step, len(places)
        begin[axis] = places.start if places else 0
    return n.add(graph.SliceOp(n.input(), begin, count, step))


LIMIT = 2**31 - 1
"""What exporters write for the end of an axis; numbers above it mean the same."""


def slice_of_open(axis: int, numbers: slice) -> tuple[int, int, int]:
    """
    Start, size and step along an axis of any size, if the slice is never cut short: it
    goes from a place at one end to the other end, or up to a place from the end. That
    the axis is long enough is checked at run time.
    """
    start, end, step = numbers.start, numbers.stop, numbers.step
    if step > 0 and end >= LIMIT:
        return (0 if start <= -LIMIT else start), -1, step
    if step == 1 and start >= 0 > end:
        return start, end - 1, 1
    if step == 1 and start < 0 and start < end < 0:
        return start, end - start, 1
    if step < 0 and end <= -LIMIT and (start == -1 or start >= LIMIT):
        return -1, -1, step
    raise Unsupported(
        f"axis {axis} of a size that is not static is sliced from {start} to {end}"
    )


def split(n: Node) -> list[SSAValue]:
    axis = n.axis("axis", 0, n.rank())
    size = n.shape()[axis]
    if size < 0:
        raise Unsupported("the axis is of a size that is not static, and is split")
    values: list[SSAValue] = []
    start = 0
    for part in split_sizes(n, size):
        begin, count = [0] * n.rank(), [-1] * n.rank()
        begin[axis], count[axis] = start, part
        values.append(n.add(graph.SliceOp(n.input(), begin, count)))
        start += part
    return values


def split_sizes(n: Node, size: int) -> list[int]:
    """The sizes of the parts along the axis: an attribute before opset 13."""
    count = len(n.proto.output)
    if n.int_attr("num_outputs", count) != count:
        raise Unsupported(f"expected 'num_outputs' of {count}, the number of outputs")
    if n.opset >= 13:
        parts = n.integers(1) if n.has(1) else None
    else:
        parts = n.int_list("split") if n.given("split") else None
    if parts is None:
        most = -(-size // count)
        parts = [max(min(most, size - i * most), 0) for i in range(count)]
    if len(parts) != count or sum(parts) != size or min(parts) < 0:
        raise Unsupported(f"expected {count} parts of {size} together, but got {parts}")
    return parts


def gather(n: Node) -> SSAValue:
    axis = n.axis("axis", 0, n.rank())
    return n.add(graph.GatherOp(n.input(0), n.input(1), axis))


def scatter(n: Node) -> SSAValue:
    combine = n.string_attr("reduction", "none")
    if combine not in COMBINES:
        raise Unsupported(f"'reduction' is '{combine}'")
    axis = n.axis("axis", 0, n.rank())
    return n.add(graph.ScatterOp(n.input(0), n.input(1), n.input(2), axis, combine))


def expand(n: Node) -> SSAValue:
    wanted, own = n.integers(1), n.shape()
    rank = max(len(own), len(wanted))
    shape: list[int] = [1] * (rank - len(own)) + list(own)
    for axis, size in enumerate([1] * (rank - len(wanted)) + wanted):
        if size < 1:
            raise Unsupported(f"expected sizes of 1 and more, but got {size}")
        if size != 1:
            shape[axis] = size
    if -1 in shape:
        raise Unsupported("sizes that are not static are not supported")
    return n.add(graph.BroadcastOp(n.input(), shape))


def tile(n: Node) -> SSAValue:
    """All elements along an axis so often, one after the other."""
    value, counts = n.input(), n.integers(1)
    if len(counts) != n.rank() or min(counts, default=1) < 0:
        raise Unsupported(f"expected a count for each dimension, but got {counts}")
    for axis, count in enumerate(counts):
        if count == 1:
            continue
        own = entries(value)
        apart = n.reshape(value, [*own[:axis], 1, *own[axis:]])
        sizes = [size if isinstance(size, int) else None for size in entries(apart)]
        sizes[axis] = count
        value = merge(n, n.add(graph.BroadcastOp(apart, sizes)), axis)
    return value


def block_of(n: Node) -> tuple[int, bool]:
    """The size of blocks, and whether the depth is what moves slowest in channels."""
    if n.rank() != 4:
        raise Unsupported("expected an input of 4 dimensions")
    block, mode = n.int_attr("blocksize"), n.string_attr("mode", "DCR")
    if block < 1:
        raise Unsupported(f"expected a 'blocksize' of 1 and more, but got {block}")
    if mode not in ("DCR", "CRD"):
        raise Unsupported(f"'mode' is '{mode}'")
    return block, mode == "CRD"


def depth_to_space(n: Node) -> SSAValue:
    block, depth_first = block_of(n)
    channels = n.shape()[1]
    if channels >= 0 and channels % block**2:
        raise Unsupported(
            f"expected channels in blocks of {block**2}, but got {channels}"
        )
    depth = -1 if channels < 0 else channels // block**2
    sizes = (depth, block, block) if depth_first else (block, block, depth)
    order = (0, 1, 4, 2, 5, 3) if depth_first else (0, 3, 4, 1, 5, 2)
    apart = split_dimension(n, n.input(), 1, sizes)
    return merge(n, merge(n, n.add(graph.TransposeOp(apart, order)), 2), 3)


def space_to_depth(n: Node) -> SSAValue:
    block, depth_first = block_of(n)
    value = n.input()
    for axis, size in ((3, n.shape()[3]), (2, n.shape()[2])):
        if size >= 0 and size % block:
            raise Unsupported(f"expected sizes in blocks of {block}, but got {size}")
        count = -1 if size < 0 else size // block
        value = split_dimension(n, value, axis, (count, block))
    order = (0, 1, 3, 5, 2, 4) if depth_first else (0, 3, 5, 1, 2, 4)
    return merge(n, n.add(graph.TransposeOp(value, order)), 1, 3)


def constant(n: Node) -> SSAValue:
    raise Unsupported("strings and sparse tensors are not supported")


def constant_of_shape(n: Node) -> SSAValue:
    shape = n.integers(0)
    if any(size < 0 for size in shape) or math.prod(shape) > MAX_CONSTANT:
        raise Unsupported(
            f"expected a shape of at most {MAX_CONSTANT} elements, but got {shape}"
        )
    value = n.tensor_attr("value")
    if value is not None and value.size != 1:
        raise Unsupported(f"expected one element as 'value', but got {value.size}")
    # A constant would hold each of the elements.
    element = f32 if value is None else element_type(value.dtype)
    scalar = n.splat(0 if value is None else value.item(), element)
    return n.add(graph.BroadcastOp(scalar, shape))


HANDLERS: dict[str, Callable[[Node], SSAValue | Sequence[SSAValue]]] = {
    "Concat": concat,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "DepthToSpace": depth_to_space,
    "Expand": expand,
    "Flatten": flatten,
    "Gather": gather,
    "Reshape": reshape,
    "Scatter": scatter,
    "ScatterElements": scatter,
    "Slice": slice_,
    "SpaceToDepth": space_to_depth,
    "Split": split,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}

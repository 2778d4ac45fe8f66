"""
Tensors with more elements around them, or fewer.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.dialects.weight_files import Array
from transom.frontends.onnx.node import Node, Unsupported, positive_axis, shape_of
from transom.frontends.onnx.values import constant, cut, pad

Mode = Literal["edge", "reflect", "wrap"]

MODES: dict[str, Mode] = {"edge": "edge", "reflect": "reflect", "wrap": "wrap"}
"""Those that repeat elements, as NumPy calls them."""

MAX_SIZE = 2**20
"""Elements along an axis that is padded with its own."""

MAX_PIECES = 16
"""Pieces of an axis that are put together; more are picked one by one."""


def padded(n: Node) -> SSAValue:
    name = n.string_attr("mode", "constant")
    mode = MODES.get(name)
    if mode is None and name != "constant":
        raise Unsupported(f"'mode' is '{name}'")
    low, high = _pads(n)
    # What is taken away goes first.
    x = _cropped(n, n.input(), low, high)
    low, high = [max(0, size) for size in low], [max(0, size) for size in high]
    if mode is not None:
        for axis, sizes in enumerate(zip(low, high, strict=True)):
            if any(sizes):
                x = _repeated(n, x, axis, sizes, mode)
        return x
    if n.opset < 11:
        return pad(n, x, low, high, n.float_attr("value", 0.0))
    if not n.has(2):
        return pad(n, x, low, high)
    return padded_with(n, x, low, high, 2)


def _pads(n: Node) -> tuple[list[int], list[int]]:
    """How many elements are added to each dimension, at its start and its end."""
    rank = n.rank()
    axes = list(range(rank))
    if n.opset < 11:
        pads = n.int_list("pads")
    else:
        pads = n.integers(1)
        if n.has(3):
            axes = [positive_axis(axis, rank) for axis in n.integers(3)]
    if len(pads) != 2 * len(axes) or len(set(axes)) != len(axes):
        raise Unsupported(f"expected two pads for each axis, but got {pads}")
    low, high = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[i + len(axes)]
    return low, high


def _cropped(n: Node, x: SSAValue, low: Sequence[int], high: Sequence[int]) -> SSAValue:
    """A tensor without as many elements as negative pads say."""
    starts = [max(0, -size) for size in low]
    ends = [max(0, -size) for size in high]
    if not any((*starts, *ends)):
        return x
    return n.add(graph.SliceOp(x, starts, [-1 - size for size in ends]))


def padded_with(
    n: Node, x: SSAValue, low: Sequence[int], high: Sequence[int], index: int
) -> SSAValue:
    """A tensor with an element around it that is an input of the node."""
    known = n.values.constant(n.input_name(index))
    if known is not None and known.dtype != object:
        return pad(n, x, low, high, n.scalar(index))
    if not any((*low, *high)):
        return x
    place = n.add(graph.IotaOp(x, 0))
    inside = n.add(graph.CompareOp("ge", place, n.splat(0, i64)))
    inside = pad(n, inside, low, high)
    value = n.reshape(n.input(index), [])
    return n.add(graph.SelectOp(inside, pad(n, x, low, high), value))


def _repeated(
    n: Node, x: SSAValue, axis: int, sizes: tuple[int, int], mode: Mode
) -> SSAValue:
    """A tensor with elements of its own around it along an axis."""
    size = shape_of(x)[axis]
    if not 0 < size <= MAX_SIZE or max(sizes) > MAX_SIZE:
        raise Unsupported(
            f"axis {axis} is padded with its elements, and its size is not static, "
            "0 or huge"
        )
    places = np.pad(np.arange(size), sizes, mode=mode)
    pieces = _pieces(places)
    if len(pieces) > MAX_PIECES:
        return n.add(graph.GatherOp(x, constant(n, places), axis))
    parts = [_piece(n, x, axis, *piece) for piece in pieces]
    return n.add(graph.ConcatOp(parts, axis)) if len(parts) > 1 else parts[0]


def _pieces(places: Array) -> list[tuple[int, int, int]]:
    """Places as pieces with steps of -1, 0 or 1: the first, how many, and the step."""
    pieces: list[tuple[int, int, int]] = []
    start = 0
    while start < len(places):
        step, end = 1, start + 1
        if end < len(places):
            step = int(places[end] - places[start])
            if abs(step) > 1:
                step = 1
            changes = np.diff(places[start:]) != step
            length = int(np.argmax(changes)) if changes.any() else len(changes)
            end = start + length + 1
        pieces.append((int(places[start]), end - start, step))
        start = end
    return pieces


def _piece(
    n: Node, x: SSAValue, axis: int, start: int, count: int, step: int
) -> SSAValue:
    if step:
        return cut(n, x, axis, start, count, step)
    sizes = [None if size < 0 else size for size in shape_of(x)]
    sizes[axis] = count
    return n.add(graph.BroadcastOp(cut(n, x, axis, start, 1), sizes))


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {"Pad": padded}

"""
Operators that select elements: how many is only known when a model runs.
"""

import math
from collections.abc import Callable

import numpy as np
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
from transom.frontends.onnx.places import static_shape
from transom.frontends.onnx.values import check_parts, constant, cut, transpose

MAX_BOXES = 256
"""Boxes of one suppression, which takes a step for each."""


def compress(n: Node) -> SSAValue:
    value, condition = n.input(0), n.input(1)
    if n.rank(1) != 1 or type_of(condition).element_type != i1:
        raise Unsupported("expected a condition of one dimension of truth values")
    if n.given("axis"):
        axis = positive_axis(n.int_attr("axis"), n.rank())
    else:
        value, axis = n.reshape(value, [-1]), 0
    places = n.reshape(n.add(graph.NonzeroOp(condition)), [-1])
    return n.add(graph.GatherOp(value, places, axis))


def non_max_suppression(n: Node) -> SSAValue:
    """
    Boxes by falling score, without those that overlap one that was selected.

    Each class of each batch is a row; in all rows the next best box is looked at at
    once, so that there is a step per box.
    """
    boxes, scores = n.input(0), n.input(1)
    if (n.rank(0), n.rank(1)) != (3, 3):
        raise Unsupported("expected boxes and scores of 3 dimensions")
    batches, count, _ = static_shape(boxes, "an input")
    classes = static_shape(scores, "an input")[1]
    limit = int(n.scalar(2)) if n.has(2) else 0
    if not 1 <= count <= MAX_BOXES:
        raise Unsupported(f"expected 1 to {MAX_BOXES} boxes, but got {count}")
    element = type_of(boxes).element_type
    rows = batches * classes
    every = n.reshape(scores, [rows, count])
    order = n.add(graph.ArgsortOp(every, 1, descending=True))
    ranked = n.add(graph.GatherElementsOp(n.reshape(scores, [rows, count]), order, 1))
    spread = graph.BroadcastOp(
        n.reshape(boxes, [batches, 1, count, 4]), [batches, classes, count, 4]
    )
    every = n.reshape(n.add(spread), [rows, count, 4])
    at = graph.BroadcastOp(n.reshape(order, [rows, count, 1]), [rows, count, 4])
    every = n.add(graph.GatherElementsOp(every, n.add(at), 1))
    overlaps = _overlaps(n, every, rows, count)
    bound = n.scalar(3) if n.has(3) else 0.0
    near = n.add(graph.CompareOp("gt", overlaps, n.splat(bound, element)))
    kept = _kept(n, ranked, near, rows, count, limit)
    found = n.add(graph.NonzeroOp(n.reshape(kept, [batches, classes, count])))
    flat = n.add(graph.NonzeroOp(n.reshape(kept, [rows * count])))
    box = n.add(
        graph.GatherOp(n.reshape(order, [rows * count]), n.reshape(flat, [-1]), 0)
    )
    first = n.add(graph.SliceOp(found, [0, 0], [2, -1]))
    columns = n.add(graph.ConcatOp([first, n.reshape(box, [1, -1])], 0))
    return n.add(graph.TransposeOp(columns, (1, 0)))


def _overlaps(n: Node, boxes: SSAValue, rows: int, count: int) -> SSAValue:
    """The intersection over union of all pairs of boxes, `[rows, count, count]`."""
    parts = [
        n.reshape(n.add(graph.SliceOp(boxes, [0, 0, i], [-1, -1, 1])), [rows, count])
        for i in range(4)
    ]
    if n.flag("center_point_box"):  # x, y, width, height
        half = n.splat(0.5, type_of(boxes).element_type)
        sizes = [n.add(graph.MulOp(part, half)) for part in (parts[2], parts[3])]
        low = [n.add(graph.SubOp(parts[i], sizes[i])) for i in (0, 1)]
        high = [n.add(graph.AddOp(parts[i], sizes[i])) for i in (0, 1)]
    else:  # two corners in any order
        low = [n.add(graph.MinimumOp(parts[i], parts[i + 2])) for i in (0, 1)]
        high = [n.add(graph.MaximumOp(parts[i], parts[i + 2])) for i in (0, 1)]
    extents = [n.add(graph.SubOp(high[i], low[i])) for i in (0, 1)]
    area = n.add(graph.MulOp(extents[0], extents[1]))
    common: list[SSAValue] = []
    for i in (0, 1):
        top = graph.MinimumOp(*_pairs(n, high[i], rows, count))
        bottom = graph.MaximumOp(*_pairs(n, low[i], rows, count))
        extent = n.add(graph.SubOp(n.add(top), n.add(bottom)))
        common.append(n.add(graph.ReluOp(extent)))
    shared = n.add(graph.MulOp(common[0], common[1]))
    total = n.add(graph.AddOp(*_pairs(n, area, rows, count)))
    union = n.add(graph.SubOp(total, shared))
    ratio = n.add(graph.DivOp(shared, union))
    zero = n.splat(0, type_of(boxes).element_type)
    none = n.add(graph.CompareOp("le", union, zero))
    return n.add(graph.SelectOp(none, zero, ratio))


def _pairs(
    n: Node, value: SSAValue, rows: int, count: int
) -> tuple[SSAValue, SSAValue]:
    return (
        n.reshape(value, [rows, count, 1]),
        n.reshape(value, [rows, 1, count]),
    )


def _kept(
    n: Node, scores: SSAValue, near: SSAValue, rows: int, count: int, limit: int
) -> SSAValue:
    """Whether each box of a row, best first, is selected."""
    usable = n.add(graph.BroadcastOp(n.splat(1, i1), [rows, count]))
    if n.has(4):
        bound = n.splat(n.scalar(4), type_of(scores).element_type)
        usable = n.add(graph.CompareOp("gt", scores, bound))
    columns: list[SSAValue] = []
    selected = n.add(graph.BroadcastOp(n.splat(0, i64), [rows, 1]))
    for step in range(count):
        keep = n.add(graph.SliceOp(usable, [0, step], [-1, 1]))
        room = n.add(graph.CompareOp("lt", selected, n.splat(limit, i64)))
        keep = n.add(graph.AndOp(keep, room))
        columns.append(keep)
        added = n.add(graph.CastOp(keep, i64))
        selected = n.add(graph.AddOp(selected, added))
        row = n.add(graph.SliceOp(near, [0, step, 0], [-1, 1, -1]))
        hit = n.add(graph.AndOp(n.reshape(row, [rows, count]), keep))
        usable = n.add(graph.AndOp(usable, n.add(graph.NotOp(hit))))
    return columns[0] if count == 1 else n.add(graph.ConcatOp(columns, 1))


def unique(n: Node) -> list[SSAValue]:
    """
    Equal elements are neighbours in order, and the first of each run stands for it.
    """
    value = n.input()
    if n.given("axis"):
        axis = positive_axis(n.int_attr("axis"), n.rank())
    else:
        value, axis = n.reshape(value, [-1]), 0
    order, starts = _runs(n, value, axis)
    places = n.reshape(n.add(graph.NonzeroOp(starts)), [-1])
    firsts = n.add(graph.GatherOp(order, places, 0))
    run = n.add(graph.CumulateOp("sum", n.add(graph.CastOp(starts, i64)), 0))
    run = n.add(graph.SubOp(run, n.splat(1, i64)))
    inverse = n.add(graph.ScatterOp(order, order, run, 0))
    total = constant(n, np.array([shape_of(value)[axis]], np.int64))
    ends = n.add(graph.ConcatOp([cut(n, places, 0, 1, -1), total], 0))
    counts = n.add(graph.SubOp(ends, places))
    if not n.flag("sorted", default=True):  # as they come in the input
        again = n.add(graph.ArgsortOp(firsts, 0))
        rank = n.add(graph.ArgsortOp(again, 0))
        firsts = n.add(graph.GatherOp(firsts, again, 0))
        counts = n.add(graph.GatherOp(counts, again, 0))
        inverse = n.add(graph.GatherOp(rank, inverse, 0))
    return [n.add(graph.GatherOp(value, firsts, axis)), firsts, inverse, counts]


def _runs(n: Node, value: SSAValue, axis: int) -> tuple[SSAValue, SSAValue]:
    """
    The order of the elements along an axis, and which of them in that order differ
    from the one before. Parts of several numbers are sorted by the last one first.
    """
    shape = static_shape(value, "an input")
    size, width = shape[axis], math.prod(shape) // max(shape[axis], 1)
    if not size or not width:
        raise Unsupported("expected elements along the axis")
    check_parts(width)
    first = [axis, *(a for a in range(len(shape)) if a != axis)]
    rows = n.reshape(transpose(n, value, first), [size, width])
    order: SSAValue | None = None
    for column in reversed(range(width)):
        key = n.reshape(cut(n, rows, 1, column, 1), [size])
        if order is None:
            order = n.add(graph.ArgsortOp(key, 0))
            continue
        found = n.add(graph.ArgsortOp(n.add(graph.GatherOp(key, order, 0)), 0))
        order = n.add(graph.GatherOp(order, found, 0))
    assert order is not None, "there is a column"
    start = n.add(graph.BroadcastOp(n.splat(1, i1), [1]))
    if size == 1:
        return order, start
    ordered = n.add(graph.GatherOp(rows, order, 0))
    pairs = cut(n, ordered, 0, 1, -1), cut(n, ordered, 0, 0, size - 1)
    differ = n.add(graph.CastOp(n.add(graph.CompareOp("ne", *pairs)), i64))
    count = n.add(graph.ReduceOp("max", differ, axes=[1], keepdims=False))
    return order, n.add(graph.ConcatOp([start, n.add(graph.CastOp(count, i1))], 0))


HANDLERS: dict[str, Callable[[Node], SSAValue | list[SSAValue]]] = {
    "Compress": compress,
    "NonMaxSuppression": non_max_suppression,
    "Unique": unique,
}

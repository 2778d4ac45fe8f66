"""
Sums of products by the letters of dimensions.
"""

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import SSAValue

from transom.dialects import graph
from transom.frontends.onnx.node import Node, Unsupported, shape_of
from transom.frontends.onnx.values import constant, entries, transpose

TERM = re.compile(r"([a-zA-Z]*)(\.\.\.)?([a-zA-Z]*)")

Labels = tuple[str, ...]
"""The name of each dimension: a letter, or `.k` for one of an ellipsis."""


def einsum(n: Node) -> SSAValue:
    """
    Operands are multiplied one after the other; what no other operand and not the
    result has is summed as early as it can be.
    """
    equation = n.string_attr("equation", "").replace(" ", "")
    values = n.inputs() if n.proto.input else []
    operands, wanted = parsed(equation, [len(shape_of(value)) for value in values])
    terms = [
        _diagonal(n, value, labels)
        for value, labels in zip(values, operands, strict=True)
    ]
    value, labels = terms[0]
    for index, (other, others) in enumerate(terms[1:], 1):
        later = {label for _, names in terms[index + 1 :] for label in names}
        kept = set(wanted) | later
        value, labels = _product(n, (value, labels), (other, others), kept)
    value, labels = _summed(n, value, labels, set(wanted))
    return transpose(n, value, [labels.index(label) for label in wanted])


def parsed(equation: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """The dimensions of operands and result. Raises `Unsupported`."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise Unsupported(f"expected {len(ranks)} terms, but got '{equation}'")
    operands = [_labels(term, rank) for term, rank in zip(terms, ranks, strict=True)]
    dots = max(operands, key=lambda labels: sum("." in label for label in labels))
    ellipsis = tuple(label for label in dots if "." in label)
    if arrow:
        before, has_dots, after = _matched(right)
        result = (*before, *(ellipsis if has_dots else ()), *after)
    else:
        letters = [label for labels in operands for label in labels if "." not in label]
        result = (*ellipsis, *sorted(x for x in letters if letters.count(x) == 1))
    known = {label for labels in operands for label in labels}
    if len(set(result)) != len(result) or not known.issuperset(result):
        raise Unsupported(
            f"expected each dimension of the result once and in a term: '{equation}'"
        )
    return operands, result


def _matched(term: str) -> tuple[str, bool, str]:
    match = TERM.fullmatch(term)
    if match is None:
        raise Unsupported(f"expected letters and '...', but got '{term}'")
    return match[1], match[2] is not None, match[3]


def _labels(term: str, rank: int) -> Labels:
    before, has_dots, after = _matched(term)
    rest = rank - len(before) - len(after)
    if rest < 0 or (rest and not has_dots):
        raise Unsupported(f"expected {rank} dimensions, but got '{term}'")
    # They are counted from the end, as they broadcast.
    return (*before, *(f".{k}" for k in reversed(range(rest))), *after)


def _diagonal(n: Node, value: SSAValue, labels: Labels) -> tuple[SSAValue, Labels]:
    """The elements whose indices agree in all dimensions of one letter."""
    for label in labels:
        axes = [axis for axis, found in enumerate(labels) if found == label]
        if len(axes) == 1:
            continue
        size = shape_of(value)[axes[0]]
        if size < 1 or any(shape_of(value)[axis] != size for axis in axes):
            raise Unsupported(f"expected dimensions '{label}' of one static size")
        rest = [axis for axis in range(len(labels)) if axis not in axes]
        value = transpose(n, value, [*axes, *rest])
        own = entries(value)[len(axes) :]
        # The diagonal of a cube of this size, as one dimension.
        stride = sum(size**power for power in range(len(axes)))
        value = (
            n.reshape(value, [size ** len(axes), *own])
            if own
            else n.reshape(value, [size ** len(axes)])
        )
        places = constant(n, np.arange(size, dtype=np.int64) * stride)
        value = n.add(graph.GatherOp(value, places, 0))
        labels = (label, *(labels[axis] for axis in rest))
    return value, labels


def _summed(
    n: Node, value: SSAValue, labels: Labels, kept: set[str]
) -> tuple[SSAValue, Labels]:
    axes = [axis for axis, label in enumerate(labels) if label not in kept]
    if not axes:
        return value, labels
    total = graph.ReduceOp("sum", value, axes=axes, keepdims=False)
    return n.add(total), tuple(label for label in labels if label in kept)


def _product(
    n: Node,
    left: tuple[SSAValue, Labels],
    right: tuple[SSAValue, Labels],
    kept: set[str],
) -> tuple[SSAValue, Labels]:
    """The product of two terms, summed over what is not kept."""
    left = _summed(n, *left, kept | set(right[1]))
    right = _summed(n, *right, kept | set(left[1]))
    common = [label for label in left[1] if label in right[1]]
    batch = [label for label in common if label in kept]
    summed = [label for label in common if label not in kept]
    rows = [label for label in left[1] if label not in right[1]]
    columns = [label for label in right[1] if label not in left[1]]
    sizes = _sizes(left), _sizes(right)
    grouped = (*summed, *rows, *columns)
    is_static = all(sizes[i].get(label, 1) > 0 for label in grouped for i in (0, 1))
    agree = all(sizes[0][label] == sizes[1][label] for label in summed)
    if not summed or not is_static or not agree:
        return _broadcast(n, left, right, kept, [*batch, *rows, *columns, *summed])
    a = _grouped(n, left, batch, rows, summed)
    b = _grouped(n, right, batch, summed, columns)
    product = n.add(graph.MatmulOp(a, b))
    shape = entries(product)[: len(batch)]
    shape += [sizes[0][label] for label in rows]
    shape += [sizes[1][label] for label in columns]
    return n.reshape(product, shape), (*batch, *rows, *columns)


def _sizes(term: tuple[SSAValue, Labels]) -> dict[str, int]:
    return dict(zip(term[1], shape_of(term[0]), strict=True))


def _grouped(
    n: Node,
    term: tuple[SSAValue, Labels],
    batch: Sequence[str],
    first: Sequence[str],
    second: Sequence[str],
) -> SSAValue:
    """A term as matrices: batch dimensions, and two groups that are one each."""
    value, labels = term
    order = [labels.index(label) for label in (*batch, *first, *second)]
    value = transpose(n, value, order)
    sizes = _sizes(term)
    groups = [math.prod(sizes[label] for label in group) for group in (first, second)]
    return n.reshape(value, [*entries(value)[: len(batch)], *groups])


def _broadcast(
    n: Node,
    left: tuple[SSAValue, Labels],
    right: tuple[SSAValue, Labels],
    kept: set[str],
    labels: Sequence[str],
) -> tuple[SSAValue, Labels]:
    """The products of all elements, and their sums."""
    factors: list[SSAValue] = []
    for value, own in (left, right):
        present = [label for label in labels if label in own]
        moved = transpose(n, value, [own.index(label) for label in present])
        sizes = iter(entries(moved))
        shape = [next(sizes) if label in own else 1 for label in labels]
        factors.append(n.reshape(moved, shape))
    product = n.add(graph.MulOp(*factors))
    return _summed(n, product, tuple(labels), kept)


HANDLERS: dict[str, Callable[[Node], SSAValue]] = {"Einsum": einsum}

"""
Single graph ops on tensors of random layouts, and arrays as such layouts store them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from transom.dialects import graph

FILLS = (0.0, 0.0, 7.5, -3.0, float("-inf"))


def random_layout(random: Random, rank: int) -> graph.LayoutAttr:
    """Blocks on some dimensions, borders on others."""
    blocks = [random.choice((1, 1, 2, 3, 4)) for _ in range(rank)]
    borders = [random.choice((0, 0, 1, 2)) if block == 1 else 0 for block in blocks]
    return graph.LayoutAttr.get(blocks, borders, random.choice(FILLS))


def stored(layout: graph.LayoutAttr | None, array: Any) -> Any:
    """The array that holds another in a layout, element by element."""
    if layout is None:
        return array
    rank = array.ndim
    blocks, borders = layout.blocks(rank), layout.borders(rank)
    found = np.full(layout.physical_shape(array.shape), layout.fill_value, array.dtype)
    for at in np.ndindex(array.shape):
        outer = [
            (i + border) // block
            for i, block, border in zip(at, blocks, borders, strict=True)
        ]
        inner = [i % block for i, block in zip(at, blocks, strict=True) if block > 1]
        found[(*outer, *inner)] = array[at]
    return found


@dataclass
class Case:
    """An op: its operands' shapes, its text without types, the result's shape."""

    text: str
    shapes: Sequence[tuple[int, ...]]
    result: tuple[int, ...]
    images: int = 1
    """How many operands, the first ones, may have a layout."""
    same: bool = False
    """Whether result and images have one layout."""


def window_result(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, int]:
    """Rows and columns of the result of windows."""
    places = [
        (n + padding[a] + padding[a + 2] - (kernel[a] - 1) * dilations[a] - 1)
        // strides[a]
        + 1
        for a, n in enumerate(sizes)
    ]
    return places[0], places[1]


def convolution(random: Random) -> Case:
    groups = random.choice((1, 1, 1, 2, 3))
    depth, filters = random.randint(1, 6), random.randint(1, 6) * groups
    if groups > 1 and random.random() < 0.5:
        depth, filters = 1, groups  # depthwise
    kernel = (random.randint(1, 3), random.randint(1, 3))
    strides = [random.randint(1, 2) for _ in range(2)]
    dilations = [random.randint(1, 2) for _ in range(2)]
    padding = [random.randint(0, 2) for _ in range(4)]
    sizes = (random.randint(5, 7), random.randint(5, 7))
    places = window_result(sizes, kernel, strides, padding, dilations)
    batch = random.randint(1, 2)
    return Case(
        f"graph.conv2d %a, %b strides {strides} padding {padding} "
        f"dilations {dilations} groups {groups}",
        [(batch, depth * groups, *sizes), (filters, depth, *kernel)],
        (batch, filters, *places),
    )


def pool(random: Random) -> Case:
    kernel = [random.randint(2, 3), random.randint(2, 3)]
    strides = [random.randint(1, 2) for _ in range(2)]
    padding = [random.randint(0, 1) for _ in range(4)]
    sizes = (random.randint(4, 7), random.randint(4, 7))
    places = window_result(sizes, kernel, strides, padding, (1, 1))
    channels = random.randint(1, 9)
    kind = random.choice(("max", "avg"))
    counting = " count_include_pad" if kind == "avg" and random.random() < 0.5 else ""
    return Case(
        f"graph.{kind}_pool2d %a kernel {kernel} strides {strides} "
        f"padding {padding}{counting}",
        [(1, channels, *sizes)],
        (1, channels, *places),
    )


def any_shape(random: Random) -> tuple[int, ...]:
    return tuple(random.randint(1, 9) for _ in range(random.randint(2, 4)))


def unary(random: Random) -> Case:
    shape = any_shape(random)
    name = random.choice(("relu", "exp", "sigmoid", "neg"))
    return Case(f"graph.{name} %a", [shape], shape, same=True)


def binary(random: Random) -> Case:
    shape = any_shape(random)
    other = tuple(n if random.random() < 0.6 else 1 for n in shape)
    name = random.choice(("add", "mul", "sub"))
    images = 2 if other == shape else 1
    return Case(f"graph.{name} %a, %b", [shape, other], shape, images, same=True)


def relayout(random: Random) -> Case:
    shape = any_shape(random)
    return Case("graph.relayout %a", [shape], shape)


def concatenation(random: Random) -> Case:
    shape = list(any_shape(random))
    axis = random.randrange(len(shape))
    other = list(shape)
    other[axis] = random.randint(1, 9)
    result = list(shape)
    result[axis] += other[axis]
    return Case(
        f"graph.concat %a, %b axis {axis}",
        [tuple(shape), tuple(other)],
        tuple(result),
        2,
    )


def transposition(random: Random) -> Case:
    shape = any_shape(random)
    order = list(range(len(shape)))
    random.shuffle(order)
    return Case(
        f"graph.transpose %a permutation {order}",
        [shape],
        tuple(shape[i] for i in order),
    )


def padding(random: Random) -> Case:
    shape = any_shape(random)
    low = [random.randint(0, 2) for _ in shape]
    high = [random.randint(0, 2) for _ in shape]
    return Case(
        f"graph.pad %a low {low} high {high} value 0.5 : f32",
        [shape],
        tuple(n + a + b for n, a, b in zip(shape, low, high, strict=True)),
    )


def reduction(random: Random) -> Case:
    shape = any_shape(random)
    count = random.randint(1, len(shape))
    axes = sorted(random.sample(range(len(shape)), count))
    kind = random.choice(("sum", "mean", "max", "prod"))
    kept = random.random() < 0.7
    result = [
        1 if i in axes else n for i, n in enumerate(shape) if kept or i not in axes
    ]
    return Case(
        f"graph.reduce {kind} %a axes {axes}{' keepdims' if kept else ''}",
        [shape],
        tuple(result),
    )


def product(random: Random) -> Case:
    m, n, k = (random.randint(1, 9) for _ in range(3))
    return Case("graph.matmul %a, %b", [(m, k), (k, n)], (m, n), 2)


def normalisation(random: Random) -> Case:
    shape = any_shape(random)
    return Case(f"graph.softmax %a axis {random.randrange(len(shape))}", [shape], shape)


CASES = (
    binary,
    concatenation,
    convolution,
    convolution,
    normalisation,
    padding,
    pool,
    product,
    reduction,
    relayout,
    transposition,
    unary,
)


def random_case(random: Random) -> Case:
    """An op of some kind."""
    return random.choice(CASES)(random)


def type_of(shape: Sequence[int], layout: graph.LayoutAttr | None) -> str:
    """A tensor of f32 as text."""
    extents = "".join(f"{n}x" for n in shape)
    desc = "" if layout is None else f", #graph.desc<layout = {layout}>"
    return f"tensor<{extents}f32{desc}>"

"""
The shapes that graph ops infer, against NumPy and against counting, with static and
with unknown sizes.
"""

import operator
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
import pytest
from graph_cases import Maker, check_sizes, shape_of, value
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes
from xdsl.dialects.builtin import bf16, f32, i1, i8, i32, i64
from xdsl.utils.exceptions import VerifyException

from transom.dialects import graph
from transom.dialects.graph.shapes import (
    Dim,
    DimOf,
    add,
    broadcast,
    ceil_divide,
    evaluate,
    floor_divide,
    maximum,
    minimum,
    multiply,
    same,
)

SHAPES = array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
SOME_DIMS = array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


def zeros(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape, np.int8)


def masks(data: st.DataObject, shapes: list[tuple[int, ...]]) -> list[list[bool]]:
    """Which sizes are static."""
    return [
        data.draw(st.lists(st.booleans(), min_size=len(s), max_size=len(s)))
        for s in shapes
    ]


# The algebra


Function = Callable[[Sequence[int]], int]
OPERATIONS: list[tuple[Callable[[Dim, Dim], Dim], Callable[[int, int], int]]] = [
    (add, operator.add),
    (multiply, operator.mul),
    (maximum, max),
    (minimum, min),
]


@st.composite
def dims(draw: st.DrawFn, depth: int = 3) -> tuple[Dim, Function]:
    """A size, and a function that computes it from the operands' sizes."""
    kind = draw(st.integers(0, 6 if depth else 1))
    if kind == 0:
        return (number := draw(st.integers(-4, 6))), constantly(number)
    if kind == 1:
        axis = draw(st.integers(0, 2))
        return DimOf(0, axis), operator.itemgetter(axis)
    a, f = draw(dims(depth - 1))
    if kind == 2:
        k = draw(st.integers(1, 4))
        return floor_divide(a, k), combined(lambda x, y: x // y, f, constantly(k))
    b, g = draw(dims(depth - 1))
    build, apply = OPERATIONS[kind - 3]
    return build(a, b), combined(apply, f, g)


def constantly(number: int) -> Function:
    return lambda sizes: number


def combined(apply: Callable[[int, int], int], f: Function, g: Function) -> Function:
    return lambda sizes: apply(f(sizes), g(sizes))


@settings(max_examples=400)
@given(dims(), st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_simplification_keeps_the_value(dim: tuple[Dim, Function], sizes: list[int]):
    expression, function = dim
    assert evaluate(expression, lambda _, axis: sizes[axis]) == function(sizes)


def test_operators():
    n = DimOf(0, 0)
    for expression, expected in (
        (n + 2, 9),
        (2 + n, 9),
        (n - 2, 5),
        (2 - n, -5),
        (n * 3, 21),
        (3 * n, 21),
        (n // 2, 3),
        ((n + n) * n, 98),
    ):
        assert evaluate(expression, lambda operand, axis: 7) == expected


def test_a_size_that_is_an_operands_stays_one():
    n = DimOf(0, 0)
    assert floor_divide(n + 2 - 3, 1) + 1 == n
    assert (n * 4) // 4 == n
    assert ceil_divide(n, 1) == n
    assert (n + 8) // 4 == n // 4 + 2


def test_names_make_sizes_equal():
    named = [DimOf(i, 0, graph.Symbol("N")) for i in (0, 1)]
    assert same(named[0], named[1])
    assert same(named[0] + 1, named[1] + 1)
    assert not same(DimOf(0, 0), DimOf(1, 0))
    assert broadcast(named[0], named[1]) == named[0]
    assert maximum(named[0], named[1]) == named[0]


def test_sizes_that_do_not_broadcast():
    two = broadcast(DimOf(0, 0), DimOf(1, 0))
    assert two is not None
    with pytest.raises(VerifyException, match="expected sizes that broadcast: 2 and 3"):
        evaluate(two, lambda operand, _: operand + 2)
    for sizes, common in (((1, 0), 0), ((3, 1), 3), ((2, 2), 2)):
        assert evaluate(two, lambda i, _: sizes[i]) == common  # noqa: B023


# Element-wise ops


@given(mutually_broadcastable_shapes(num_shapes=3, min_side=0), st.data())
def test_broadcasting(drawn: Any, data: st.DataObject):
    shapes = list(drawn.input_shapes)
    binary, ternary = shapes[:2], shapes
    check_sizes(
        lambda v: graph.AddOp(v[0], v[1]),
        binary,
        np.broadcast_shapes(*binary),
        masks(data, binary),
    )
    check_sizes(
        lambda v: graph.SelectOp(graph.CompareOp("lt", v[0], v[0]), *v[1:]),
        ternary,
        np.broadcast_shapes(*ternary),
        masks(data, ternary),
    )
    check_sizes(
        lambda v: graph.QuantizeOp(v[0], v[1], graph.CastOp(v[2], i8)),
        ternary,
        np.broadcast_shapes(*ternary),
        masks(data, ternary),
    )


@given(st.tuples(SHAPES, SHAPES))
def test_broadcasting_is_refused_where_numpy_refuses(shapes: Any):
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(VerifyException, match="expected shapes that broadcast"):
            graph.AddOp(*(value(*shape) for shape in shapes))
    else:
        assert shape_of(graph.AddOp(*(value(*shape) for shape in shapes))) == expected


def test_result_element_types():
    x = value(4)
    assert graph.CompareOp("lt", x, x).declared_type().element_type == i1
    assert graph.CastOp(x, i32).declared_type().element_type == i32
    assert graph.NegOp(x).declared_type().element_type == f32


# Contractions and windows


@given(st.data())
def test_matmul(data: st.DataObject):
    batches = data.draw(mutually_broadcastable_shapes(num_shapes=2, min_side=0))
    m, k, n = data.draw(st.tuples(*[st.integers(0, 4)] * 3))
    a, b = batches.input_shapes
    shapes = [(*a, m, k), (*b, k, n)]
    expected = np.matmul(zeros(shapes[0]), zeros(shapes[1])).shape
    check_sizes(
        lambda v: graph.MatmulOp(v[0], v[1]), shapes, expected, masks(data, shapes)
    )


@pytest.mark.parametrize(
    "operands, result", [((bf16, bf16), f32), ((i8, i8), i32), ((f32, f32), None)]
)
def test_accumulators(operands: Any, result: Any):
    a, b = (value(2, 2, type=type) for type in operands)
    expected = operands[0] if result is None else result
    assert graph.MatmulOp(a, b, result).declared_type().element_type == expected
    x, w = (value(1, 1, 4, 4, type=type) for type in operands)
    conv = graph.Conv2dOp(x, w, element_type=result)
    assert conv.declared_type().element_type == expected


def places(size: int, kernel: int, stride: int, low: int, high: int, dilation: int):
    """How many windows lie inside the padded input, counted."""
    span = (kernel - 1) * dilation + 1
    return len(range(0, low + size + high - span + 1, stride))


@given(
    st.tuples(*[st.integers(1, 9)] * 2),
    st.tuples(*[st.integers(1, 4)] * 2),
    st.tuples(*[st.integers(1, 3)] * 2),
    st.tuples(*[st.integers(0, 3)] * 4),
    st.tuples(*[st.integers(1, 2)] * 2),
    st.integers(1, 2),
    st.data(),
)
def test_conv2d(
    size: Any,
    kernel: Any,
    strides: Any,
    padding: Any,
    dilations: Any,
    groups: int,
    data: Any,
):
    expected = [
        places(size[i], kernel[i], strides[i], padding[i], padding[i + 2], dilations[i])
        for i in (0, 1)
    ]
    assume(all(expected))
    shapes = [(2, 3 * groups, *size), (4 * groups, 3, *kernel)]
    check_sizes(
        lambda v: graph.Conv2dOp(
            *v, strides=strides, padding=padding, dilations=dilations, groups=groups
        ),
        shapes,
        (2, 4 * groups, *expected),
        masks(data, shapes),
    )


def pooled(
    size: int, kernel: int, stride: int, low: int, high: int, dilation: int, ceil: bool
):
    """
    How many windows there are, counted: with `ceil` those that start before the end of
    the input and do not lie beyond the padding as a whole.
    """
    span = (kernel - 1) * dilation + 1
    for windows in count():
        start = windows * stride
        beyond = start + span - (low + size + high)
        partly = ceil and beyond < stride and start < low + size
        if not ((beyond <= 0 and (not ceil or start < low + size)) or partly):
            return windows
    raise AssertionError("counting has no end")


@given(
    st.integers(1, 9),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(1, 2),
    st.booleans(),
)
def test_pools(
    size: int, kernel: int, stride: int, low: int, high: int, dilation: int, ceil: bool
):
    span = (kernel - 1) * dilation + 1
    assume(max(low, high) < span <= size + low + high)
    expected = pooled(size, kernel, stride, low, high, dilation, ceil)
    for result in (0, 1):
        check_sizes(
            lambda v: graph.MaxPool2dOp(
                v[0],
                (kernel, 1),
                strides=(stride, 1),
                padding=(low, 0, high, 0),
                dilations=(dilation, 1),
                ceil_mode=ceil,
                indices=True,
            ),
            [(1, 2, size, 5)],
            (1, 2, expected, 5),
            result=result,
        )
    check_sizes(
        lambda v: graph.AvgPool2dOp(
            v[0],
            (1, kernel),
            strides=(1, stride),
            padding=(0, low, 0, high),
            dilations=(1, dilation),
            ceil_mode=ceil,
        ),
        [(1, 2, 5, size)],
        (1, 2, 5, expected),
    )


# Reductions


@given(SHAPES, st.booleans(), st.data())
def test_reduce(shape: Any, keepdims: bool, data: st.DataObject):
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1))) if shape else set[int]()
    check_sizes(
        lambda v: graph.ReduceOp("sum", v[0], axes=sorted(axes), keepdims=keepdims),
        [shape],
        np.sum(zeros(shape), axis=tuple(axes), keepdims=keepdims).shape,
        masks(data, [shape]),
    )


@given(array_shapes(max_dims=4), st.booleans(), st.data())
def test_arg_reduce(shape: Any, keepdims: bool, data: st.DataObject):
    axis = data.draw(st.sampled_from(range(len(shape))))
    check_sizes(
        lambda v: graph.ArgReduceOp("argmax", v[0], axis, keepdims),
        [shape],
        np.argmax(zeros(shape), axis=axis, keepdims=keepdims).shape,
    )


# Movement


@given(SHAPES, st.data())
def test_reshape(shape: Any, data: st.DataObject):
    flat = zeros(shape).reshape(-1)
    first = data.draw(st.sampled_from([d for d in range(1, 9) if flat.size % d == 0]))
    new: list[int | graph.InputDim] = [first, -1]
    check_sizes(
        lambda v: graph.ReshapeOp(v[0], new),
        [shape],
        flat.reshape(first, -1).shape,
        masks(data, [shape]),
    )


def test_reshape_cancels_what_is_equal():
    x = value("N", 3, "M")
    op = graph.ReshapeOp(x, [graph.InputDim(2), -1])
    assert op.result_dims() == ((DimOf(0, 2), DimOf(0, 0) * 3),)
    op = graph.ReshapeOp(x, [-1, 3, graph.InputDim(2)])
    assert graph.dim_symbols(op.declared_type()) == (
        graph.Symbol("N"),
        None,
        graph.Symbol("M"),
    )


@given(SHAPES, st.data())
def test_transpose(shape: Any, data: st.DataObject):
    order = data.draw(st.permutations(range(len(shape))))
    check_sizes(
        lambda v: graph.TransposeOp(v[0], order),
        [shape],
        zeros(shape).transpose(order).shape,
        masks(data, [shape]),
    )
    assert shape_of(graph.TransposeOp(value(*shape))) == zeros(shape).T.shape


@given(mutually_broadcastable_shapes(num_shapes=1, base_shape=(2, 3, 4), max_dims=3))
def test_broadcast(drawn: Any):
    (shape,) = drawn.input_shapes
    result = np.broadcast_shapes(shape, (2, 3, 4))
    assert shape_of(graph.BroadcastOp(value(*shape), result)) == result


def test_broadcast_keeps_unknown_sizes():
    op = graph.BroadcastOp(value("N", 1), (2, None, 4))
    assert op.result_dims() == ((2, DimOf(0, 0), 4),)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), SOME_DIMS, st.data())
def test_concat(sizes: list[int], shape: Any, data: st.DataObject):
    axis = data.draw(st.sampled_from(range(len(shape))))
    shapes = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]
    check_sizes(
        lambda v: graph.ConcatOp(v, axis),
        shapes,
        np.concatenate([zeros(s) for s in shapes], axis).shape,
        masks(data, shapes),
    )


@given(st.integers(0, 9), st.data())
def test_slice_of_explicit_size(size: int, data: st.DataObject):
    step = data.draw(st.integers(-3, 3).filter(bool))
    start = data.draw(st.integers(-size, size))
    elements = data.draw(st.integers(0, 9))
    first = start + size if start < 0 else start
    places = [first + k * step for k in range(elements)]
    if all(0 <= place < size for place in places):
        check_sizes(
            lambda v: graph.SliceOp(v[0], [start], [elements], [step]),
            [(size,)],
            (elements,),
        )
    else:
        with pytest.raises(VerifyException, match="to be inside dimension 0"):
            graph.SliceOp(value(size), [start], [elements], [step])


@given(st.integers(0, 9), st.integers(1, 3), st.integers(0, 3), st.data())
def test_slice_to_the_end(size: int, step: int, left_out: int, data: st.DataObject):
    start = data.draw(st.integers(0, size))
    assume(start <= size - left_out)
    python = slice(start, size - left_out, step)
    check_sizes(
        lambda v: graph.SliceOp(v[0], [start], [-1 - left_out], [step]),
        [(size,)],
        zeros((size,))[python].shape,
    )


@given(st.integers(1, 9), st.integers(1, 3), st.data())
def test_slice_backwards(size: int, step: int, data: st.DataObject):
    start = data.draw(st.integers(-size, size - 1))
    check_sizes(
        lambda v: graph.SliceOp(v[0], [start], [-1], [-step]),
        [(size,)],
        zeros((size,))[start::-step].shape,
    )


@given(SHAPES, st.data())
def test_pad(shape: Any, data: st.DataObject):
    pads = data.draw(
        st.tuples(*[st.tuples(st.integers(0, 3), st.integers(0, 3))] * len(shape))
    )
    expected = np.pad(zeros(shape), pads).shape if pads else ()
    check_sizes(
        lambda v: graph.PadOp(v[0], [a for a, _ in pads], [b for _, b in pads], 0.0),
        [shape],
        expected,
        masks(data, [shape]),
    )


@given(array_shapes(max_dims=3), SHAPES, st.data())
def test_gather(data_shape: Any, indices: Any, data: st.DataObject):
    axis = data.draw(st.sampled_from(range(len(data_shape))))
    check_sizes(
        lambda v: graph.GatherOp(v[0], v[1], axis),
        [data_shape, indices],
        np.take(zeros(data_shape), zeros(indices), axis).shape,
        masks(data, [data_shape, indices]),
        type=i64,
    )


@given(SOME_DIMS)
def test_shapes_that_stay(shape: Any):
    makers: list[Maker] = [
        lambda v: graph.SoftmaxOp(v[0], 0),
        lambda v: graph.LogSoftmaxOp(v[0], len(shape) - 1),
        lambda v: graph.CumulateOp("sum", v[0], 0, exclusive=True),
        lambda v: graph.ArgsortOp(v[0], 0),
        lambda v: graph.BitcastOp(v[0], i32),
        lambda v: graph.ReluOp(v[0]),
    ]
    for make in makers:
        check_sizes(make, [shape], shape)
    check_sizes(
        lambda v: graph.ScatterOp(v[0], v[1], v[2], 0, "add"),
        [shape] * 3,
        shape,
        type=i64,
    )

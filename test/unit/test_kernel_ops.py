"""
Kernels of reductions, windows and moving ops: NaN and infinities, integers that wrap
around, sizes of 0 and 1, and sizes that are only known when the kernel runs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from op_checks import FLOATS, INTEGERS, Array, check, edges, ui8
from xdsl.dialects.builtin import AnyFloat, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from transom.dialects import graph
from transom.dialects.dtypes import numpy_dtype

DYNAMIC = pytest.mark.parametrize("dynamic", (False, True), ids=("static", "dynamic"))
SIZES = pytest.mark.parametrize("sizes", ((3, 4, 5), (1, 4, 1), (2, 0, 3)), ids=str)


def numbers(type: Attribute, *sizes: int, seed: int = 0) -> Array:
    """Small numbers, halves among the floats."""
    rng = np.random.default_rng(seed)
    if type == i1:
        return rng.integers(0, 2, sizes).astype(np.bool_)
    if isinstance(type, AnyFloat):
        return (rng.integers(-8, 9, sizes) / 2).astype(numpy_dtype(type))
    low = 0 if type == ui8 else -4
    return rng.integers(low, 9, sizes).astype(numpy_dtype(type))


@pytest.mark.parametrize("keepdims", (False, True))
@pytest.mark.parametrize("axes", ((), (1,), (0, 2), (0, 1, 2)), ids=str)
@pytest.mark.parametrize("type", (f32, i32, ui8, bf16), ids=str)
@DYNAMIC
def test_reduce(
    type: Attribute, axes: Sequence[int], keepdims: bool, dynamic: bool
) -> None:
    x = numbers(type, 3, 4, 2)
    for kind in graph.ReduceKind:
        if kind == "mean" and type in INTEGERS:
            continue
        check(
            lambda v, k=kind: graph.ReduceOp(k, v[0], axes, keepdims),
            type,
            x,
            dynamic=dynamic,
        )


@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
@pytest.mark.parametrize("kind", ("sum", "prod", "max", "min"))
def test_reduce_edges(kind: str, type: Attribute) -> None:
    """Integers wrap around; NaN wins, and an infinity of each sign gives it."""
    x = edges(type)
    if isinstance(type, AnyFloat):
        x = x[np.abs(x) < 100] if kind in ("sum", "prod") else x
    rows = np.stack((x, x[::-1], np.roll(x, 3)))
    check(lambda v: graph.ReduceOp(kind, v[0], [1]), type, rows)


@pytest.mark.parametrize("type", (f32, f16), ids=str)
@pytest.mark.parametrize(
    "row", ([np.nan, 1], [np.inf, 1], [-np.inf, 1], [-np.inf, -np.inf]), ids=str
)
def test_rows_that_are_not_finite(type: Attribute, row: Sequence[float]) -> None:
    x = np.array([row, [1, 2]], numpy_dtype(type))
    for kind in ("sum", "mean", "max", "min"):
        check(lambda v, k=kind: graph.ReduceOp(k, v[0], [1]), type, x)
    check(lambda v: graph.SoftmaxOp(v[0], 1), type, x)
    check(lambda v: graph.LogSoftmaxOp(v[0], 1), type, x)
    check(lambda v: graph.ArgReduceOp("argmax", v[0], 1), type, x)
    check(lambda v: graph.ArgReduceOp("argmin", v[0], 1), type, x)


@pytest.mark.parametrize("kind", ("sum", "prod"))
@DYNAMIC
def test_reduce_nothing(kind: str, dynamic: bool) -> None:
    x = np.zeros((2, 0, 3), np.float32)
    check(lambda v: graph.ReduceOp(kind, v[0], [1]), f32, x, dynamic=dynamic)
    check(lambda v: graph.ReduceOp(kind, v[0], [0]), f32, x, dynamic=dynamic)


@pytest.mark.parametrize("type", (f32, bf16, i8, ui8, i64), ids=str)
@pytest.mark.parametrize("kind", graph.ArgReduceKind)
@DYNAMIC
def test_arg_reduce(kind: graph.ArgReduceKind, type: Attribute, dynamic: bool) -> None:
    """The first of equal ones; the least number is found too."""
    x = numbers(type, 3, 5)
    x[0] = edges(type)[0]
    for axis in (0, 1):
        for keep in (False, True):
            check(
                lambda v, a=axis, k=keep: graph.ArgReduceOp(kind, v[0], a, k),
                type,
                x,
                dynamic=dynamic,
            )


@pytest.mark.parametrize("exclusive", (False, True))
@pytest.mark.parametrize("type", (f32, f16, ui8, i64), ids=str)
@SIZES
def test_cumulate(type: Attribute, sizes: Sequence[int], exclusive: bool) -> None:
    for kind in graph.CumulateKind:
        for reverse in (False, True):
            check(
                lambda v, k=kind, r=reverse: graph.CumulateOp(
                    k, v[0], 1, exclusive=exclusive, reverse=r
                ),
                type,
                numbers(type, *sizes),
                dynamic=reverse,
            )


@pytest.mark.parametrize("axis", (0, 1, 2))
@SIZES
@DYNAMIC
def test_argsort(sizes: Sequence[int], axis: int, dynamic: bool) -> None:
    check(
        lambda v: graph.ArgsortOp(v[0], axis, descending=dynamic),
        f32,
        numbers(f32, *sizes),
        dynamic=dynamic,
    )


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
def test_argsort_edges(type: Attribute, descending: bool) -> None:
    """NaN is larger than infinity, zeros are equal, and so keep their order."""
    rng = np.random.default_rng(1)
    x = rng.permutation(np.tile(edges(type), 3))
    check(lambda v: graph.ArgsortOp(v[0], 0, descending=descending), type, x)


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("type", (*FLOATS, *INTEGERS), ids=str)
@pytest.mark.parametrize("count", (0, 1, 3, 32, 33))
def test_argsort_first(count: int, type: Attribute, descending: bool) -> None:
    """Kept in order, or the first of all; also of rows that are in order already."""
    rng = np.random.default_rng(count)
    some = rng.permutation(np.tile(edges(type), 12))[:40]
    x = np.stack([some, np.sort(some), np.sort(some)[::-1], some[::-1]])
    for axis, array in ((1, x), (0, np.ascontiguousarray(x.T))):
        check(
            lambda v, a=axis: graph.ArgsortOp(
                v[0], a, first=count, descending=descending
            ),
            type,
            array,
        )


@pytest.mark.parametrize("count", (0, 1, 2, 3, 5, 32, 33, 1000))
def test_argsort_sizes(count: int) -> None:
    """Powers of two, which have no rest, and other sizes."""
    x = np.random.default_rng(count).integers(0, 50, count).astype(np.int32)
    check(lambda v: graph.ArgsortOp(v[0], 0), i32, x, dynamic=True)


@pytest.mark.parametrize("type", (f32, f16, bf16, f64), ids=str)
@pytest.mark.parametrize("axis", (0, 1, 2))
@DYNAMIC
def test_softmax(type: Attribute, axis: int, dynamic: bool) -> None:
    for op in (graph.SoftmaxOp, graph.LogSoftmaxOp):
        x = numbers(type, 2, 3, 5)
        check(lambda v, o=op: o(v[0], axis), type, x, dynamic=dynamic)


SHAPES = (
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 1)),
    ((2, 1, 2, 3), (1, 4, 3, 2)),
    ((1, 3), (3, 1)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("type", (f32, f16, f64, i32), ids=str)
@DYNAMIC
def test_matmul(
    type: Attribute, shapes: tuple[Sequence[int], Sequence[int]], dynamic: bool
) -> None:
    a, b = (numbers(type, *shape, seed=i) for i, shape in enumerate(shapes))
    check(lambda v: graph.MatmulOp(v[0], v[1]), type, a, b, dynamic=dynamic)


@pytest.mark.parametrize("type", (i8, ui8), ids=str)
def test_matmul_of_bytes(type: Attribute) -> None:
    a, b = (edges(type)[:8].reshape(2, 4), edges(type)[-8:].reshape(4, 2))
    check(lambda v: graph.MatmulOp(v[0], v[1], i32), type, a, b)


@pytest.mark.parametrize("groups", (1, 2, 4))
@pytest.mark.parametrize("type", (f32, bf16), ids=str)
@pytest.mark.parametrize(
    "windows",
    (
        {},
        {"padding": (1, 0, 2, 1)},
        {"strides": (2, 1), "padding": (1, 1, 1, 1)},
        {"dilations": (2, 1), "padding": (2, 1, 0, 1)},
    ),
    ids=str,
)
@DYNAMIC
def test_conv2d(
    type: Attribute, groups: int, windows: dict[str, Any], dynamic: bool
) -> None:
    if dynamic and groups > 1:
        pytest.skip("groups ask for channels that are known")
    x, w = numbers(type, 2, 4, 5, 6), numbers(type, 8, 4 // groups, 3, 2, seed=1)
    check(
        lambda v: graph.Conv2dOp(v[0], v[1], groups=groups, **windows),
        type,
        x,
        w,
        dynamic=dynamic,
    )


@pytest.mark.parametrize("ceil", (False, True))
@pytest.mark.parametrize("strides", ((1, 1), (2, 3)), ids=str)
@pytest.mark.parametrize("padding", ((0, 0, 0, 0), (1, 0, 2, 1)), ids=str)
@pytest.mark.parametrize("type", (f32, f16), ids=str)
@DYNAMIC
def test_pools(
    type: Attribute,
    padding: Sequence[int],
    strides: Sequence[int],
    ceil: bool,
    dynamic: bool,
) -> None:
    x = numbers(type, 2, 3, 7, 6)
    x[0, 0] = -np.inf  # no padding is larger
    windows: Any = {"strides": strides, "padding": padding, "ceil_mode": ceil}
    check(
        lambda v: graph.MaxPool2dOp(v[0], (3, 2), indices=True, **windows),
        type,
        x,
        dynamic=dynamic,
    )
    x[0, 0] = 1
    for counted in (False, True):
        check(
            lambda v, c=counted: graph.AvgPool2dOp(
                v[0], (3, 2), count_include_pad=c, **windows
            ),
            type,
            x,
            dynamic=dynamic,
        )


def test_dilated_pool() -> None:
    x = numbers(f32, 1, 2, 6, 7)
    check(
        lambda v: graph.MaxPool2dOp(v[0], (2, 2), dilations=(2, 3), indices=True),
        f32,
        x,
    )
    windows: Any = {"strides": (2, 3), "dilations": (2, 3)}
    for padding, ceil in (((0, 0, 0, 0), False), ((2, 1, 3, 2), True)):
        for counted in (False, True):
            check(
                lambda v, p=padding, c=ceil, all=counted: graph.AvgPool2dOp(
                    v[0],
                    (3, 2),
                    padding=p,
                    ceil_mode=c,
                    count_include_pad=all,
                    **windows,
                ),
                f32,
                x,
            )


def test_pool_of_integers() -> None:
    for type in (i8, ui8):
        check(
            lambda v: graph.MaxPool2dOp(v[0], (2, 2), padding=(1, 1, 0, 0)),
            type,
            numbers(type, 1, 2, 4, 4),
        )


@pytest.mark.parametrize("type", (f32, i1, i8), ids=str)
@DYNAMIC
def test_slices(type: Attribute, dynamic: bool) -> None:
    x = numbers(type, 5, 6)
    for starts, sizes, steps in (
        ((0, 0), (-1, -1), (1, 1)),
        ((1, -2), (2, 1), (1, 1)),
        ((-1, -1), (-1, -1), (-1, -2)),
        ((0, 1), (-2, -3), (2, 1)),
        ((4, 5), (3, 2), (-2, -4)),
        ((5, 0), (-1, 0), (1, 1)),
    ):
        check(
            lambda v, s=starts, n=sizes, t=steps: graph.SliceOp(v[0], s, n, t),
            type,
            x,
            dynamic=dynamic,
        )


@pytest.mark.parametrize("type", (f32, i1, ui8, i64), ids=str)
@SIZES
@DYNAMIC
def test_moves(type: Attribute, sizes: Sequence[int], dynamic: bool) -> None:
    x = numbers(type, *sizes)
    value = True if type == i1 else 3
    check(
        lambda v: graph.PadOp(v[0], (1, 0, 2), (0, 2, 1), value),
        type,
        x,
        dynamic=dynamic,
    )
    check(lambda v: graph.TransposeOp(v[0], (2, 0, 1)), type, x, dynamic=dynamic)
    check(lambda v: graph.ConcatOp([v[0], v[1], v[0]], 1), type, x, x, dynamic=dynamic)
    dims = [graph.InputDim(0), 1, graph.InputDim(1), graph.InputDim(2)]
    check(lambda v: graph.ReshapeOp(v[0], dims), type, x, dynamic=dynamic)
    check(lambda v: graph.ReshapeOp(v[0], [-1]), type, x, dynamic=dynamic)


PLACES = np.array([[0, -1, 7], [-9, 2, 1]])


@pytest.mark.parametrize("places", (i32, i64), ids=str)
@pytest.mark.parametrize("type", (f32, i1, i8), ids=str)
@DYNAMIC
def test_gather(type: Attribute, places: Attribute, dynamic: bool) -> None:
    """Negative places count from the end; those out of range are clamped."""
    x = numbers(type, 3, 4)
    at = PLACES.astype(numpy_dtype(places))
    for axis in (0, 1):
        check(
            lambda v, a=axis: graph.GatherOp(v[0], v[1], a),
            (type, places),
            x,
            at,
            dynamic=dynamic,
        )
    one = np.array(-1, numpy_dtype(places))
    check(lambda v: graph.GatherOp(v[0], v[1], 0), (type, places), x, one)


@pytest.mark.parametrize("combine", graph.ScatterCombine)
@pytest.mark.parametrize("type", (f32, f16, i8, ui8), ids=str)
@DYNAMIC
def test_scatter(type: Attribute, combine: str, dynamic: bool) -> None:
    """Clamped as well; of several updates of one place the last stays."""
    x, updates = numbers(type, 3, 4), numbers(type, 2, 3, seed=1)
    for axis in (0, 1):
        check(
            lambda v, a=axis: graph.ScatterOp(v[0], v[1], v[2], a, combine),
            (type, i64, type),
            x,
            PLACES,
            updates,
            dynamic=dynamic,
        )


@DYNAMIC
@pytest.mark.parametrize("scale", (f32, f64, f16, bf16), ids=str)
@pytest.mark.parametrize("type", (i8, ui8, i16), ids=str)
def test_quantization(type: Attribute, scale: Attribute, dynamic: bool) -> None:
    """Ties go to even, what does not fit saturates; scales per channel broadcast."""
    x = edges(f32).reshape(-1, 1) * np.ones((1, 3), np.float32)
    scales = np.array([[0.5, 2.0, -0.25]]).astype(numpy_dtype(scale))
    zero = np.array([3, 0, 100]).astype(numpy_dtype(type))
    check(
        lambda v: graph.QuantizeOp(v[0], v[1], v[2]),
        (f32, scale, type),
        x,
        scales,
        zero,
        dynamic=dynamic,
    )
    q = edges(type).reshape(-1, 1) * np.ones((1, 3), numpy_dtype(type))
    check(
        lambda v: graph.DequantizeOp(v[0], v[1], v[2]),
        (type, scale, type),
        q,
        scales,
        zero,
        dynamic=dynamic,
    )


@DYNAMIC
def test_batch_norm(dynamic: bool) -> None:
    x, p = numbers(f32, 2, 3, 4), np.arange(1, 4, dtype=np.float32)
    check(
        lambda v: graph.BatchNormOp(*v, epsilon=0.5),
        f32,
        x,
        p,
        p,
        p,
        p,
        dynamic=dynamic,
    )


@pytest.mark.parametrize("shapes", (((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 2))))
def test_broadcast_at_run_time(
    shapes: tuple[Sequence[int], Sequence[int]],
) -> None:
    a, b = (numbers(f32, *shape, seed=i) for i, shape in enumerate(shapes))
    check(lambda v: graph.SubOp(v[0], v[1]), f32, a, b, dynamic=True)

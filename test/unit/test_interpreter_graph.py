"""
Graph ops where ONNX says nothing or means something else: ranges, narrow types, empty
tensors, sizes that are known when they run; constants, weights, groups and marks.
"""

import itertools
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter_cases import evaluate, interpret, parse, same
from safetensors import numpy as safetensors_numpy

from transom.dialects import graph
from transom.dialects.diagnostics import OpError
from transom.interpreters.entry import InputError
from transom.interpreters.interpreter import Interpreter
from transom.interpreters.weights import WeightStore

BF16 = ml_dtypes.bfloat16
NAN, INF = float("nan"), float("inf")


def unary(op: str, x: Any, type: str, result: str | None = None) -> Any:
    """The result of an op of one operand on an array."""
    shape = "x".join(map(str, x.shape)) + "x"
    given, to = f"tensor<{shape}{type}>", f"tensor<{shape}{result or type}>"
    signature = f"{given} -> {to}" if result else given
    return evaluate(f"{op.format('%0')} : {signature}", x, types=f"({given}) -> {to}")


def binary(op: str, a: Any, b: Any, type: str) -> Any:
    size = f"tensor<{a.size}x{type}>"
    return evaluate(
        f"graph.{op} %0, %1 : {size}", a, b, types=f"({size}, {size}) -> {size}"
    )


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("add", [100, -128], [100, -1], [-56, 127]),
        ("mul", [100, -128], [3, -1], [44, -128]),
        ("div", [-7, -128], [2, -1], [-3, -128]),
        ("mod", [-7, 7], [3, -3], [2, -2]),
        ("pow", [2, -2, 2, -1], [7, 3, -1, -3], [-128, -8, 0, -1]),
        ("minimum", [-1, 1], [0, 0], [-1, 0]),
        ("maximum", [-1, 1], [0, 0], [0, 1]),
    ],
)
def test_bytes(op: str, a: list[int], b: list[int], expected: list[int]):
    found = binary(op, np.array(a, np.int8), np.array(b, np.int8), "i8")
    same(found, np.array(expected, np.int8))


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("add", [200], [100], [44]),
        ("sub", [1], [2], [255]),
        ("div", [200], [3], [66]),
        ("mod", [200], [7], [4]),
        ("pow", [3], [5], [243]),
        ("maximum", [200], [100], [200]),
    ],
)
def test_unsigned_bytes(op: str, a: list[int], b: list[int], expected: list[int]):
    found = binary(op, np.array(a, np.uint8), np.array(b, np.uint8), "ui8")
    same(found, np.array(expected, np.uint8))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("neg", [-1, -128, 1]),
        ("abs", [1, -128, 1]),
        ("sign", [1, -1, -1]),
        ("relu", [1, 0, 0]),
    ],
)
def test_unary_on_bytes(op: str, expected: list[int]):
    found = unary(f"graph.{op} {{}}", np.array([1, -128, -1], np.int8), "i8")
    same(found, np.array(expected, np.int8))


@pytest.mark.parametrize("op", ["relu", "abs", "sign", "neg", "floor", "round"])
@pytest.mark.parametrize("type", ["f32", "bf16", "f16"])
def test_nan_stays(op: str, type: str):
    dtype = {"f32": np.float32, "f16": np.float16, "bf16": BF16}[type]
    assert np.isnan(unary(f"graph.{op} {{}}", np.array([NAN], dtype), type))[0]


def test_minimum_and_maximum_of_nan():
    a, b = np.array([NAN, 1], np.float32), np.array([1, NAN], np.float32)
    assert np.isnan(binary("minimum", a, b, "f32")).all()
    assert np.isnan(binary("maximum", a, b, "f32")).all()
    found = unary("graph.clamp {} min 0.0 : f32 max 1.0 : f32", a, "f32")
    same(found, np.array([NAN, 1], np.float32))


@pytest.mark.parametrize(
    ("op", "exact"),
    [("add", np.add), ("mul", np.multiply), ("div", np.divide), ("pow", np.power)],
)
def test_bfloat16_is_rounded_once(op: str, exact: Any):
    generator = np.random.default_rng(1)
    a = (generator.random(1000) + 0.5).astype(BF16)
    b = (generator.random(1000) + 0.5).astype(BF16)
    expected = exact(a.astype(np.float32), b.astype(np.float32)).astype(BF16)
    same(binary(op, a, b, "bf16"), expected)


# Casts.

CASTS: list[tuple[Any, str, str, Any]] = [
    ([1.9, -1.9, 300, -300, NAN, INF], "f32", "i8", [1, -1, 127, -128, 0, 127]),
    ([1.9, -1.9, 300, -300, NAN, INF], "f32", "ui8", [1, 0, 255, 0, 0, 255]),
    ([0.5, -0.0, NAN, 2], "f32", "i1", [True, False, True, True]),
    ([True, False], "i1", "i32", [1, 0]),
    ([True, False], "i1", "bf16", [1, 0]),
    ([-1, 256, 127], "i32", "i8", [-1, 0, 127]),
    ([-1, 256, 127], "i32", "ui8", [255, 0, 127]),
    ([-1, 0, 4], "i8", "i1", [True, False, True]),
    ([-1], "i8", "ui32", [2**32 - 1]),
    ([255], "ui8", "i32", [255]),
    ([2**24 + 1, -3], "i32", "f32", [2**24, -3]),
    ([65520.0, 1 + 2.0**-11], "f32", "f16", [INF, 1]),
    ([1e30], "f64", "i64", [2**63 - 1]),
    ([7], "index", "i64", [7]),
]


@pytest.mark.parametrize(("values", "source", "target", "expected"), CASTS)
def test_casts(values: Any, source: str, target: str, expected: Any):
    dtypes = {
        "i1": np.bool_,
        "i8": np.int8,
        "i32": np.int32,
        "i64": np.int64,
        "index": np.int64,
        "ui8": np.uint8,
        "ui32": np.uint32,
        "f16": np.float16,
        "bf16": BF16,
        "f32": np.float32,
        "f64": np.float64,
    }
    x = np.array(values, dtypes[source])
    found = unary("graph.cast {}", x, source, target)
    same(found, np.array(expected, dtypes[target]))


# Contractions.


def test_matmul_of_bytes_accumulates_in_i32():
    a, b = np.full((2, 1000), -128, np.int8), np.full((1000, 3), 255, np.uint8)
    found = evaluate(
        "graph.matmul %0, %1 : tensor<2x1000xi8>, tensor<1000x3xui8> "
        "-> tensor<2x3xi32>",
        a,
        b,
        types="(tensor<2x1000xi8>, tensor<1000x3xui8>) -> tensor<2x3xi32>",
    )
    same(found, np.full((2, 3), -128 * 255 * 1000, np.int32))


@pytest.mark.parametrize(
    ("type", "dtype"), [("i32", np.int32), ("i64", np.int64), ("ui64", np.uint64)]
)
def test_matmul_of_integers_wraps(type: str, dtype: Any):
    info = np.iinfo(dtype)
    generator = np.random.default_rng(0)
    a = generator.integers(info.min, info.max, (3, 4), dtype, endpoint=True)
    b = generator.integers(info.min, info.max, (4, 2), dtype, endpoint=True)
    expected = [
        [sum(int(x) * int(y) for x, y in zip(row, col, strict=True)) for col in b.T]
        for row in a
    ]
    wrapped = np.array(expected, object) % (1 << info.bits)
    types = f"(tensor<3x4x{type}>, tensor<4x2x{type}>) -> tensor<3x2x{type}>"
    found = evaluate(
        f"graph.matmul %0, %1 : tensor<3x4x{type}>, tensor<4x2x{type}> "
        f"-> tensor<3x2x{type}>",
        a,
        b,
        types=types,
    )
    same(found, wrapped.astype(f"u{dtype().itemsize}").view(dtype))


def test_matmul_of_bfloat16_is_rounded_once():
    a = np.full((1, 512), 1, BF16)
    b = np.full((512, 1), 1 + 2.0**-7, BF16)
    for result, dtype in (("bf16", BF16), ("f32", np.float32)):
        found = evaluate(
            "graph.matmul %0, %1 : tensor<1x512xbf16>, tensor<512x1xbf16> "
            f"-> tensor<1x1x{result}>",
            a,
            b,
            types=f"(tensor<1x512xbf16>, tensor<512x1xbf16>) -> tensor<1x1x{result}>",
        )
        same(found, np.full((1, 1), 516, dtype))


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[Any, ...]:
    groups = draw(st.integers(1, 2))
    channels = draw(st.integers(1, 2))
    outputs = draw(st.integers(1, 2)) * groups
    kernel = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    dilations = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    size = [draw(st.integers(span, span + 4)) for span in spans]
    strides = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    padding = draw(st.tuples(*[st.integers(0, 2)] * 4))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    x = generator.integers(-9, 9, (2, channels * groups, *size)).astype(np.int8)
    w = generator.integers(-9, 9, (outputs, channels, *kernel)).astype(np.int8)
    return x, w, strides, padding, dilations, groups


@settings(max_examples=60, deadline=None, derandomize=True)
@given(convolutions())
def test_conv2d(case: tuple[Any, ...]):
    """Against the definition, one product at a time."""
    x, w, strides, padding, dilations, groups = case
    top, left, bottom, right = padding
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right))).astype(int)
    sizes = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, d, s in zip(
            padded.shape[2:], w.shape[2:], dilations, strides, strict=True
        )
    ]
    expected = np.zeros((x.shape[0], w.shape[0], *sizes), np.int32)
    for n, o, i, j in np.ndindex(expected.shape):
        group = o // (w.shape[0] // groups)
        for c, p, q in np.ndindex(w.shape[1:]):
            expected[n, o, i, j] += (
                padded[
                    n,
                    group * w.shape[1] + c,
                    i * strides[0] + p * dilations[0],
                    j * strides[1] + q * dilations[1],
                ]
                * w[o, c, p, q]
            )
    given, weight = ("x".join(map(str, a.shape)) for a in (x, w))
    to = "x".join(map(str, expected.shape))
    types = f"tensor<{given}xi8>, tensor<{weight}xi8>"
    found = evaluate(
        f"graph.conv2d %0, %1 strides {list(strides)} padding {list(padding)} "
        f"dilations {list(dilations)} groups {groups} : {types} -> tensor<{to}xi32>",
        x,
        w,
        types=f"({types}) -> tensor<{to}xi32>",
    )
    same(found, expected)


@st.composite
def pools(draw: st.DrawFn) -> tuple[Any, ...]:
    kernel = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    strides = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    limits = [k - 1 for k in (*kernel, *kernel)]
    padding = tuple(draw(st.integers(0, limit)) for limit in limits)
    size = [draw(st.integers(k, k + 5)) for k in kernel]
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    x = generator.integers(-5, 5, (1, 2, *size)).astype(np.float32)
    return x, kernel, strides, padding, draw(st.booleans())


def window_starts(case: tuple[Any, ...]) -> list[list[int]]:
    x, kernel, strides, padding, ceil = case
    starts: list[list[int]] = []
    size: int
    k: int
    s: int
    for axis in (0, 1):
        size, k, s = x.shape[axis + 2], kernel[axis], strides[axis]
        before, after = padding[axis], padding[axis + 2]
        padded = size + before + after - k
        count = (-(-padded // s) if ceil else padded // s) + 1
        if ceil:
            count = min(count, -(-(size + before) // s))
        starts.append([i * s - before for i in range(count)])
    return starts


@settings(max_examples=80, deadline=None, derandomize=True)
@given(pools())
def test_pools(case: tuple[Any, ...]):
    x, kernel, strides, padding, ceil = case
    rows, columns = window_starts(case)
    shape = (1, 2, len(rows), len(columns))
    largest, places = np.zeros(shape, np.float32), np.zeros(shape, np.int64)
    means, padded_means = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    height, width = x.shape[2:]
    for c, i, j in np.ndindex(2, len(rows), len(columns)):
        cells = [
            (r, q)
            for r in range(rows[int(i)], rows[int(i)] + kernel[0])
            for q in range(columns[int(j)], columns[int(j)] + kernel[1])
        ]
        seen = [(r, q) for r, q in cells if 0 <= r < height and 0 <= q < width]
        counted = [
            1 for r, q in cells if r < height + padding[2] and q < width + padding[3]
        ]
        values = [float(x[0, c, r, q]) for r, q in seen]
        at = (0, c, i, j)
        largest[at] = max(values)
        r, q = seen[values.index(max(values))]
        places[at] = (c * height + r) * width + q
        means[at] = sum(values) / len(values)
        padded_means[at] = sum(values) / len(counted)
    given = "tensor<" + "x".join(map(str, x.shape)) + "xf32>"
    to = "x".join(map(str, shape))
    how = f"kernel {list(kernel)} strides {list(strides)} padding {list(padding)}"
    how += " ceil_mode" if ceil else ""
    found = interpret(
        f"""
func.func @main(%x: {given}) -> (tensor<{to}xf32>, tensor<{to}xi64>, tensor<{to}xf32>,
                                 tensor<{to}xf32>) {{
  %m, %i = graph.max_pool2d %x {how} : {given} -> tensor<{to}xf32>, tensor<{to}xi64>
  %a = graph.avg_pool2d %x {how} : {given} -> tensor<{to}xf32>
  %p = graph.avg_pool2d %x {how} count_include_pad : {given} -> tensor<{to}xf32>
  func.return %m, %i, %a, %p
      : tensor<{to}xf32>, tensor<{to}xi64>, tensor<{to}xf32>, tensor<{to}xf32>
}}""",
        x,
    )
    same(found[0], largest)
    same(found[1], places)
    same(found[2], means)
    same(found[3], padded_means)


# Reductions.


@pytest.mark.parametrize(
    ("kind", "type", "expected"),
    [
        ("sum", "f32", 0),
        ("prod", "f32", 1),
        ("max", "f32", -INF),
        ("min", "f32", INF),
        ("mean", "f32", NAN),
        ("max", "i8", -128),
        ("min", "ui8", 255),
    ],
)
def test_reduction_of_nothing(kind: str, type: str, expected: float):
    dtype = {"f32": np.float32, "i8": np.int8, "ui8": np.uint8}[type]
    found = evaluate(
        f"graph.reduce {kind} %0 axes [1] : tensor<2x0x{type}> -> tensor<2x{type}>",
        np.zeros((2, 0), dtype),
        types=f"(tensor<2x0x{type}>) -> tensor<2x{type}>",
    )
    same(found, np.full(2, expected, dtype))


def test_sum_of_floats_is_rounded_once():
    x = np.array([2.0**24, 1, 1, 1], np.float32)
    found = evaluate(
        "graph.reduce sum %0 axes [0] : tensor<4xf32> -> tensor<f32>",
        x,
        types="(tensor<4xf32>) -> tensor<f32>",
    )
    same(found, np.float32(2**24 + 4))


def test_sum_of_bytes_wraps():
    found = evaluate(
        "graph.reduce sum %0 axes [0] : tensor<3xi8> -> tensor<i8>",
        np.array([100, 100, 100], np.int8),
        types="(tensor<3xi8>) -> tensor<i8>",
    )
    same(found, np.array(44, np.int8))


def test_softmax_of_large_numbers():
    x = np.array([[1000, 1000, -INF]], np.float32)
    found = unary("graph.softmax {} axis 1", x, "f32")
    same(found, np.array([[0.5, 0.5, 0]], np.float32))


@pytest.mark.parametrize("type", ["bf16", "f16"])
def test_cumsum_of_narrow_floats(type: str):
    dtype = BF16 if type == "bf16" else np.float16
    x = np.ones(4096, dtype)
    found = unary("graph.cumsum {} axis 0", x, type)
    same(found, np.arange(1, 4097).astype(np.float64).astype(dtype))


# Movement.


@pytest.mark.parametrize(
    ("start", "size", "step", "expected"),
    [
        (1, 2, 2, slice(1, 4, 2)),
        (-2, 2, 1, slice(-2, None)),
        (1, -1, 1, slice(1, None)),
        (1, -1, 2, slice(1, None, 2)),
        (0, -3, 1, slice(0, -2)),
        (-1, -1, -2, slice(None, None, -2)),
        (3, 2, -1, slice(3, 1, -1)),
        (2, 0, 1, slice(2, 2)),
    ],
)
def test_slice(start: int, size: int, step: int, expected: slice):
    x = np.arange(6, dtype=np.int32)
    text = f"""
func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {{
  %y = graph.slice %x starts [{start}] sizes [{size}] steps [{step}]
      : tensor<?xi32> -> tensor<{len(x[expected]) if size >= 0 else "?"}xi32>
  %z = tensor.cast %y
      : tensor<{len(x[expected]) if size >= 0 else "?"}xi32> to tensor<?xi32>
  func.return %z : tensor<?xi32>
}}"""
    same(interpret(text, x), x[expected])


def test_slice_that_leaves_a_dynamic_size():
    text = """
func.func @main(%x: tensor<?xi32>) -> tensor<3xi32> {
  %y = graph.slice %x starts [1] sizes [3] steps [1] : tensor<?xi32> -> tensor<3xi32>
  func.return %y : tensor<3xi32>
}"""
    x = np.arange(6, dtype=np.int32)
    same(interpret(text, x), x[1:4])
    with pytest.raises(OpError) as raised:
        interpret(text, x[:3])
    assert raised.value.message == (
        "cannot evaluate 'graph.slice': expected a window within [3], but got offsets "
        "[1], sizes [3] and strides [1]"
    )


def test_gather_counts_from_the_end_and_clamps():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    i = np.array([[-1, 9], [-9, 0]])
    found = evaluate(
        "graph.gather %0, %1 axis 1 : tensor<3x4xf32>, tensor<2x2xi64> "
        "-> tensor<3x2x2xf32>",
        x,
        i,
        types="(tensor<3x4xf32>, tensor<2x2xi64>) -> tensor<3x2x2xf32>",
    )
    same(found, x[:, [[3, 3], [0, 0]]])


def second(a: Any, b: Any) -> Any:
    return b


@pytest.mark.parametrize("combine", ["none", "add", "mul", "min", "max"])
def test_scatter(combine: str):
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    i = np.array([[-1, 0], [1, 2]], np.int32)
    u = np.array([[10, 20], [0.5, -2]], np.float32)
    expected = x.copy()
    fold: Any = {
        "none": second,
        "add": np.add,
        "mul": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
    }[combine]
    for r, c in itertools.product((0, 1), (0, 1)):
        expected[r, i[r, c]] = fold(expected[r, i[r, c]], u[r, c])
    types = "tensor<2x3xf32>, tensor<2x2xi32>, tensor<2x2xf32>"
    found = evaluate(
        f"graph.scatter {combine} %0, %1, %2 axis 1 : {types} -> tensor<2x3xf32>",
        x,
        i,
        u,
        types=f"({types}) -> tensor<2x3xf32>",
    )
    same(found, expected)


def test_scatter_outside_is_refused():
    types = "tensor<3xf32>, tensor<1xi64>, tensor<1xf32>"
    with pytest.raises(OpError) as raised:
        evaluate(
            f"graph.scatter none %0, %1, %2 axis 0 : {types} -> tensor<3xf32>",
            np.zeros(3, np.float32),
            np.array([3]),
            np.ones(1, np.float32),
            types=f"({types}) -> tensor<3xf32>",
        )
    assert raised.value.message == (
        "cannot evaluate 'graph.scatter': expected indices within 3 elements"
    )


# Sizes that are known when they run.

BROADCAST = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %y = graph.add %a, %b : tensor<?xf32>
  func.return %y : tensor<?xf32>
}"""


def test_dynamic_sizes_broadcast():
    a = np.ones(3, np.float32)
    same(interpret(BROADCAST, a, a[:1]), a + a)
    with pytest.raises(OpError, match=r"cannot evaluate 'graph.add': shape mismatch"):
        interpret(BROADCAST, a, a[:2])


def test_a_result_of_another_size_than_its_type_says():
    text = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<3xf32> {
  %y = graph.add %a, %b : tensor<?xf32>, tensor<?xf32> -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}"""
    a = np.ones(3, np.float32)
    same(interpret(text, a, a), a + a)
    with pytest.raises(OpError) as raised:
        interpret(text, a[:2], a[:2])
    assert raised.value.message == (
        "cannot evaluate 'graph.add': expected 'tensor<3xf32>', but the sizes are [2]"
    )


def test_a_huge_broadcast_is_refused():
    text = """
func.func @main(%a: tensor<?x1xf32>, %b: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %y = graph.add %a, %b : tensor<?x1xf32>, tensor<1x?xf32> -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}"""
    a = np.zeros(10**6, np.float32)
    with pytest.raises(OpError) as raised:
        interpret(text, a[:, None], a[None])
    assert raised.value.message.startswith("expected at most 4294967296 bytes")


# Structure.


def test_constants():
    text = """
func.func @main() -> (tensor<2x2xi8>, tensor<2xui8>, tensor<i1>, tensor<2xbf16>) {
  %a = graph.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  %b = graph.constant dense<255> : tensor<2xui8>
  %c = graph.constant dense<true> : tensor<i1>
  %d = graph.constant dense<1.5> : tensor<2xbf16>
  func.return %a, %b, %c, %d : tensor<2x2xi8>, tensor<2xui8>, tensor<i1>, tensor<2xbf16>
}"""
    a, b, c, d = interpret(text)
    same(a, np.array([[1, -2], [3, 4]], np.int8))
    same(b, np.array([255, 255], np.uint8))
    same(c, np.array(True))
    same(d, np.array([1.5, 1.5], BF16))


def test_groups_and_marks():
    place = "#target.place<@npu, ?, @sram>"
    stored = f"tensor<2xf32, #graph.desc<place = {place}>>"
    text = f"""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %y = graph.composite "acme.double" (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {{
    %s = graph.add %a, %a : tensor<2xf32>
    graph.yield %s : tensor<2xf32>
  }}
  %z = graph.fused (%b = %y : tensor<2xf32>, %c = %x : tensor<2xf32>)
      -> (tensor<2xf32>) {{
    %t = graph.sub %b, %c : tensor<2xf32>
    graph.yield %t : tensor<2xf32>
  }}
  %w = graph.on_device %z hint {place} : tensor<2xf32>
  %v = graph.copy %w : tensor<2xf32> -> {stored}
  %u = tensor.cast %v : {stored} to tensor<2xf32>
  func.return %u : tensor<2xf32>
}}"""
    x = np.array([1, 2], np.float32)
    same(interpret(text, x), x)


WEIGHTS = """
graph.weight @w = #graph.file<"m.safetensors", "w"> : tensor<2xf32>
graph.weight @c = dense<[3.0, 4.0]> : tensor<2xf32>
graph.weight @folded : tensor<2xf32> {
  %w = graph.weight_ref @w : tensor<2xf32>
  %c = graph.weight_ref @c : tensor<2xf32>
  %p = graph.mul %w, %c : tensor<2xf32>
  graph.yield %p : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %f = graph.weight_ref @folded : tensor<2xf32>
  %y = graph.add %x, %f : tensor<2xf32>
  func.return %y : tensor<2xf32>
}"""


def test_weights(tmp_path: Path):
    w = np.array([1, 2], np.float32)
    (tmp_path / "m.safetensors").write_bytes(safetensors_numpy.save({"w": w}))
    module = parse(WEIGHTS)
    store = WeightStore(module, tmp_path)
    interpreter = Interpreter(module, weights=store)
    (y,) = interpreter.run("main", [w])
    same(y, np.array([4, 10], np.float32))
    folded = next(
        op
        for op in module.ops
        if isinstance(op, graph.WeightOp) and op.sym_name.data == "folded"
    )
    assert store(folded) is store(folded)
    assert not store(folded).flags.writeable


def test_weights_without_a_folder():
    with pytest.raises(OpError) as raised:
        interpret(WEIGHTS, np.ones(2, np.float32))
    assert raised.value.message == (
        "expected a folder to read 'm.safetensors' from, but got none"
    )


def test_weight_that_cannot_be_read(tmp_path: Path):
    module = parse(WEIGHTS)
    with pytest.raises(OpError) as raised:
        Interpreter(module, weights=WeightStore(module, tmp_path)).run(
            "main", [np.ones(2, np.float32)]
        )
    assert raised.value.message == (
        "cannot read 'm.safetensors': No such file or directory"
    )


def test_weight_of_itself():
    text = """
graph.weight @a : tensor<2xf32> {
  %b = graph.weight_ref @b : tensor<2xf32>
  graph.yield %b : tensor<2xf32>
}
graph.weight @b : tensor<2xf32> {
  %a = graph.weight_ref @a : tensor<2xf32>
  graph.yield %a : tensor<2xf32>
}
func.func @main() -> tensor<2xf32> {
  %a = graph.weight_ref @a : tensor<2xf32>
  func.return %a : tensor<2xf32>
}"""
    with pytest.raises(OpError) as raised:
        interpret(text)
    assert raised.value.message == "'@a' is an expression over itself"


# Arguments.

SYMBOLS = """
func.func @main(%x: tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 4]>>
                    {graph.name = "x"},
                %y: tensor<?xf32, #graph.desc<dims = ["N" : 1 to 4]>>, %n: index)
    -> index {
  func.return %n : index
}"""


DESCRIBED = 'tensor<?x3xf32, #graph.desc<dims = ["N" : 1 to 4]>>'


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            [np.zeros((5, 3), "f4"), np.zeros(5, "f4"), 1],
            "input 0 'x': expected a size of \"N\" : 1 to 4, but got 5",
        ),
        (
            [np.zeros((2, 3), "f4"), np.zeros(3, "f4"), 1],
            "input 1: expected size 2 of \"N\", as in input 0 'x', but got 3",
        ),
        (
            [np.zeros((2, 3), "f8"), np.zeros(2, "f4"), 1],
            f"input 0 'x': expected '{DESCRIBED}', but got an array of float64 "
            "with shape [2, 3]",
        ),
        (
            [np.zeros((2, 4), "f4"), np.zeros(2, "f4"), 1],
            f"input 0 'x': expected '{DESCRIBED}', but got an array of float32 "
            "with shape [2, 4]",
        ),
        (
            [np.zeros(2, "f4"), np.zeros(2, "f4"), 1],
            f"input 0 'x': expected '{DESCRIBED}', but got an array of float32 "
            "with shape [2]",
        ),
        (
            [np.zeros((2, 3), "f4"), np.zeros(2, "f4"), np.float32(1)],
            "input 2: expected 'index', but got a number of float32",
        ),
        (
            [np.zeros((2, 3), "f4"), np.zeros(2, "f4"), [1]],
            "input 2: expected 'index', but got an array of int64",
        ),
        ([np.zeros((2, 3), "f4")], "expected 3 inputs, but got 1"),
    ],
)
def test_wrong_inputs(inputs: list[Any], message: str):
    with pytest.raises(InputError) as raised:
        interpret(SYMBOLS, *inputs)
    assert str(raised.value) == message


def test_right_inputs():
    found = interpret(SYMBOLS, np.zeros((2, 3), "f4"), np.zeros(2, "f4"), 5)
    same(found, np.array(5))

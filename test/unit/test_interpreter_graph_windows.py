"""
Matrix products, convolution and pools, against their definitions.
"""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter_cases import evaluate, interpret, same

BF16 = ml_dtypes.bfloat16


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
    dilations = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    limits = [span - 1 for span in (*spans, *spans)]
    padding = tuple(draw(st.integers(0, limit)) for limit in limits)
    size = [draw(st.integers(k, k + 5)) for k in spans]
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    x = generator.integers(-5, 5, (1, 2, *size)).astype(np.float32)
    return x, kernel, strides, padding, dilations, draw(st.booleans())


def window_starts(case: tuple[Any, ...]) -> list[list[int]]:
    x, kernel, strides, padding, dilations, ceil = case
    starts: list[list[int]] = []
    size: int
    k: int
    s: int
    for axis in (0, 1):
        size, s = x.shape[axis + 2], strides[axis]
        k = (kernel[axis] - 1) * dilations[axis] + 1
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
    x, kernel, strides, padding, dilations, ceil = case
    rows, columns = window_starts(case)
    shape = (1, 2, len(rows), len(columns))
    largest, places = np.zeros(shape, np.float32), np.zeros(shape, np.int64)
    means, padded_means = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    height, width = x.shape[2:]
    for c, i, j in np.ndindex(2, len(rows), len(columns)):
        cells = [
            (r, q)
            for r in (rows[int(i)] + p * dilations[0] for p in range(kernel[0]))
            for q in (columns[int(j)] + p * dilations[1] for p in range(kernel[1]))
        ]
        seen = [(r, q) for r, q in cells if 0 <= r < height and 0 <= q < width]
        counted = [
            1 for r, q in cells if r < height + padding[2] and q < width + padding[3]
        ]
        values = [float(x[0, c, r, q]) for r, q in seen]
        at = (0, c, i, j)
        if not seen:  # between the elements of the window
            largest[at], places[at] = -np.inf, -1 + c * height * width
            means[at] = np.nan
            padded_means[at] = 0
            continue
        largest[at] = max(values)
        r, q = seen[values.index(max(values))]
        places[at] = (c * height + r) * width + q
        means[at] = sum(values) / len(values)
        padded_means[at] = sum(values) / len(counted)
    given = "tensor<" + "x".join(map(str, x.shape)) + "xf32>"
    to = "x".join(map(str, shape))
    how = f"kernel {list(kernel)} strides {list(strides)} padding {list(padding)}"
    how += f" dilations {list(dilations)}"
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

"""
Element-wise graph ops where ONNX says nothing: ranges, narrow types, NaN, casts.
"""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from interpreter_cases import evaluate, same

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

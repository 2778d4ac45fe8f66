"""
Reductions and graph ops that move elements, where ONNX says nothing.
"""

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from interpreter_cases import evaluate, interpret, same

from transom.dialects.diagnostics import OpError

BF16 = ml_dtypes.bfloat16
NAN, INF = float("nan"), float("inf")


def unary(op: str, x: Any, type: str, result: str | None = None) -> Any:
    """The result of an op of one operand on an array."""
    shape = "x".join(map(str, x.shape)) + "x"
    given, to = f"tensor<{shape}{type}>", f"tensor<{shape}{result or type}>"
    signature = f"{given} -> {to}" if result else given
    return evaluate(f"{op.format('%0')} : {signature}", x, types=f"({given}) -> {to}")


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
    found = unary("graph.cumulate sum {} axis 0", x, type)
    same(found, np.arange(1, 4097).astype(np.float64).astype(dtype))


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


@pytest.mark.parametrize("rows", [0, 2])
def test_reshape_what_is_left_over_of_nothing(rows: int):
    x = np.ones((rows, 3, 4), np.float32)
    for shape, result in (("[dim(0), -1]", (rows, 12)), ("[2, -1, 6]", (2, rows, 6))):
        type = "tensor<?x12xf32>" if len(result) == 2 else "tensor<2x?x6xf32>"
        types = f"tensor<?x3x4xf32> -> {type}"
        found = evaluate(f"graph.reshape %0 to {shape} : {types}", x, types=types)
        assert found.shape == result


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


def test_scatter_outside_is_clamped():
    types = "tensor<3xf32>, tensor<4xi64>, tensor<4xf32>"
    found = evaluate(
        f"graph.scatter none %0, %1, %2 axis 0 : {types} -> tensor<3xf32>",
        np.zeros(3, np.float32),
        np.array([3, 9, -4, -9]),
        np.array([1, 2, 3, 4], np.float32),
        types=f"({types}) -> tensor<3xf32>",
    )
    same(found, np.array([4, 0, 2], np.float32))


def test_scatter_the_last_in_row_major_order_stays():
    types = "tensor<2x1xf32>, tensor<300x1xi64>, tensor<300x1xf32>"
    updates = np.arange(300, dtype=np.float32).reshape(300, 1)
    found = evaluate(
        f"graph.scatter none %0, %1, %2 axis 0 : {types} -> tensor<2x1xf32>",
        np.zeros((2, 1), np.float32),
        np.asfortranarray(np.arange(300).reshape(300, 1) % 2),
        np.asfortranarray(updates),
        types=f"({types}) -> tensor<2x1xf32>",
    )
    same(found, np.array([[298], [299]], np.float32))

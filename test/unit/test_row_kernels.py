"""
Softmax along any axis and of rows of any length, and moves of elements, whose squares
are transposed in registers: compiled, and compared with NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import transom

Array = np.ndarray[Any, Any]


ELEMENTS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def computed(op: str, x: Array, *, dynamic: bool = False, result: str = "") -> Array:
    """What one op of the graph dialect makes of an array."""
    sizes = "x".join("?" if dynamic else str(size) for size in x.shape)
    type = f"tensor<{sizes}x{ELEMENTS[x.dtype.name]}>"
    module = transom.parse(
        f"func.func @main(%x: {type}) -> {result or type} {{\n"
        f"  %y = {op} : {f'{type} -> {result}' if result else type}\n"
        f"  func.return %y : {result or type}\n}}\n"
    )
    (value,) = transom.compile(module)(x).values()
    return value


def softmax(x: Array, axis: int) -> Array:
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        powers = np.exp(wide - wide.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def numbers(shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(5)
    return rng.normal(0, 5, shape).astype(np.float32)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((2, 1), 1),
        ((2, 3), 1),
        ((2, 1000), 1),
        ((1, 4097), 1),
        ((5, 33), 0),
        ((3, 7, 10), 1),
    ],
    ids=str,
)
def test_softmax(shape: tuple[int, ...], axis: int):
    x = numbers(shape)
    found = computed(f"graph.softmax %x axis {axis}", x)
    np.testing.assert_allclose(found, softmax(x, axis), rtol=5e-6, atol=1e-12)


def test_softmax_of_sizes_that_are_known_late():
    x = numbers((3, 45))
    found = computed("graph.softmax %x axis 1", x, dynamic=True)
    np.testing.assert_allclose(found, softmax(x, 1), rtol=5e-6, atol=1e-12)


def test_softmax_where_nothing_is_let_through():
    """A mask of -inf leaves exact zeros."""
    x = numbers((2, 20))
    x[0, 3:] = -np.inf
    found = computed("graph.softmax %x axis 1", x)
    assert (found[0, 3:] == 0).all()
    np.testing.assert_allclose(found, softmax(x, 1), rtol=5e-6)


@pytest.mark.parametrize("length", [1, 7, 17, 64, 1000, 1023])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_softmax_of_short_and_odd_rows(length: int, dtype: str):
    x = numbers((3, length)).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    expected = softmax(x, 1)
    rtol = {"float32": 5e-6, "float16": 2e-3, "bfloat16": 1e-2}[dtype]
    for dynamic in (False, True):
        found = computed("graph.softmax %x axis 1", x, dynamic=dynamic)
        assert found.dtype == x.dtype
        np.testing.assert_allclose(
            found.astype(np.float64), expected, rtol=rtol, atol=1e-7
        )


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
@pytest.mark.parametrize("length", [3, 64, 100])
def test_what_is_no_number_spoils_its_own_row(op: str, length: int):
    """Wherever NaN stands in a row; a row of infinities has no shares."""
    x = numbers((8, length))
    places = [0, length // 2, length - 1]
    for row, place in enumerate(places):
        x[row, place] = np.nan
    x[3] = np.nan
    x[4], x[4, -1] = -np.inf, np.nan
    x[5] = -np.inf
    x[6, 1] = np.inf
    found = computed(f"graph.{op} %x axis 1", x)
    assert np.isnan(found[:6]).all()
    assert np.isnan(found[6, 1])
    share = np.log(softmax(x, 1)[7]) if op == "log_softmax" else softmax(x, 1)[7]
    np.testing.assert_allclose(found[7], share, rtol=5e-6)


def gelu(x: Array) -> Array:
    wide = x.astype(np.float64)
    shares = [0.5 + 0.5 * math.erf(v / math.sqrt(2)) for v in wide.tolist()]
    return wide * np.array(shares)


def test_gelu():
    x = np.concatenate(
        [
            np.linspace(-8, 8, 4001),
            np.geomspace(1e-40, 1e30, 301),
            -np.geomspace(1e-40, 1e30, 301),
        ]
    ).astype(np.float32)
    found, exact = computed("graph.gelu %x", x).astype(np.float64), gelu(x)
    assert (np.abs(found - exact) <= 3e-7 * np.maximum(np.abs(x), 1e-36)).all()
    near = np.abs(x) < 1
    assert (np.abs(found - exact) <= 4e-7 * np.abs(exact) + 1e-36)[near].all()


def test_gelu_at_special_values():
    x = np.array([0.0, -0.0, np.inf, -1e38, np.nan, 1e-45, -1e-45], np.float32)
    found = computed("graph.gelu %x", x)
    np.testing.assert_array_equal(found[:4], [0.0, -0.0, np.inf, -0.0])
    assert np.signbit(found[[1, 3]]).all()
    assert np.isnan(found[4])
    assert (np.abs(found[5:]) <= 1e-45).all()


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((5, 9), (1, 0)),
        ((16, 24), (1, 0)),
        ((8, 33), (1, 0)),
        ((2, 19, 16), (0, 2, 1)),
        ((9, 3, 17), (2, 1, 0)),
    ],
    ids=str,
)
def test_transpose(shape: tuple[int, ...], order: tuple[int, ...]):
    x = numbers(shape)
    result = "x".join(str(shape[axis]) for axis in order)
    found = computed(
        f"graph.transpose %x permutation {list(order)}",
        x,
        result=f"tensor<{result}xf32>",
    )
    np.testing.assert_array_equal(found, x.transpose(order))


LAYER_NORM = """
func.func @main(%x: {type}) -> {type} {{
  %m = graph.reduce mean %x axes [1] keepdims : {type} -> {row}
  %c = graph.sub %x, %m : {type}, {row} -> {type}
  %s = graph.mul %c, %c : {type}
  %v = graph.reduce mean %s axes [1] keepdims : {type} -> {row}
  %e = graph.constant dense<1.0e-3> : tensor<{element}>
  %ve = graph.add %v, %e : {row}, tensor<{element}> -> {row}
  %f = graph.rsqrt %ve : {row}
  %y = graph.mul %c, %f : {type}, {row} -> {type}
  func.return %y : {type}
}}
"""


@pytest.mark.parametrize("length", [1, 7, 17, 1000, 1023])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("sizes", ["3x{}", "?x{}"])
def test_layer_norm_of_short_and_odd_rows(length: int, dtype: str, sizes: str):
    x = numbers((3, length)).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    element = ELEMENTS[dtype]
    type = f"tensor<{sizes.format(length)}x{element}>"
    row = f"tensor<{sizes.format(1)}x{element}>"
    text = LAYER_NORM.format(type=type, row=row, element=element)
    (found,) = transom.compile(transom.parse(text))(x).values()
    wide = x.astype(np.float64)
    centred = wide - wide.mean(1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-3)
    atol = {"float32": 2e-6, "float16": 1e-2, "bfloat16": 8e-2}[dtype]
    np.testing.assert_allclose(found.astype(np.float64), expected, atol=atol)

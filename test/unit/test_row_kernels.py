"""
Softmax along any axis and of rows of any length, and moves of elements, whose squares
are transposed in registers: compiled, and compared with NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transom

Array = np.ndarray[Any, Any]


def computed(op: str, x: Array, *, dynamic: bool = False, result: str = "") -> Array:
    """What one op of the graph dialect makes of an array of f32."""
    sizes = "x".join("?" if dynamic else str(size) for size in x.shape)
    type = f"tensor<{sizes}xf32>"
    module = transom.parse(
        f"func.func @main(%x: {type}) -> {result or type} {{\n"
        f"  %y = {op} : {f'{type} -> {result}' if result else type}\n"
        f"  func.return %y : {result or type}\n}}\n"
    )
    (value,) = transom.compile(module)(x).values()
    return value


def softmax(x: Array, axis: int) -> Array:
    wide = x.astype(np.float64)
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
    """A mask of -inf leaves exact zeros; a NaN spoils its own row."""
    x = numbers((3, 20))
    x[0, 3:] = -np.inf
    x[1, 5] = np.nan
    found = computed("graph.softmax %x axis 1", x)
    assert (found[0, 3:] == 0).all()
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[::2], softmax(x, 1)[::2], rtol=5e-6)


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

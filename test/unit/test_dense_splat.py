"""Large splats cost nothing, and equal values are equal attributes."""

import tracemalloc
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f32, i1, i8

import transom
from transom.dialects import graph
from transom.dialects.dense_splat import (
    MAX_FULL_BYTES,
    Dense,
    compact,
    element_count,
    splat,
)
from transom.dialects.parser import parse_attribute_text, parse_ir
from transom.dialects.verifier import verify_module
from transom.passes.constant_evaluation import array_of, dense_of
from transom.registry import new_context
from transom.testing import interpret
from transom.tools.round_trip import verify_roundtrip

FULL = MAX_FULL_BYTES // 4
"""The most elements of f32 that are all held."""

HUGE = """
func.func @f() -> tensor<100000000xf32> {
  %c = graph.constant dense<1.0> : tensor<100000000xf32>
  func.return %c : tensor<100000000xf32>
}
"""


def parsed(text: str) -> Dense:
    attr = parse_attribute_text(new_context(), text)
    assert isinstance(attr, DenseIntOrFPElementsAttr)
    return cast(Dense, attr)


def test_a_huge_splat_costs_nothing() -> None:
    ctx = new_context()
    parse_ir(ctx, HUGE.replace("00000000", ""))  # so that all is loaded
    tracemalloc.start()
    module = parse_ir(ctx, HUGE)
    verify_module(module)
    verify_roundtrip(ctx, module)
    transom.lower(module, "tensor")
    assert "dense<1.000000e+00> : tensor<100000000xf32>" in str(module.clone())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("count", [1, 3, FULL, FULL + 1])
def test_equal_however_they_are_made(count: int) -> None:
    type = TensorType(f32, (count,))
    ones = np.ones(count, np.float32)
    value = splat(type, np.float32(1).tobytes())
    assert element_count(value) == count
    assert len(value.data.data) == (4 if count > FULL else 4 * count)
    for other in (
        compact(DenseIntOrFPElementsAttr.from_list(type, ones.tolist())),
        dense_of(ones, type),
        dense_of(np.broadcast_to(np.float32(1), count), type),
        graph.ConstantOp.splat(type, 1.0).value,
        graph.ConstantOp.from_bytes(type, ones.tobytes()).value,
        parsed(f"dense<1.0> : tensor<{count}xf32>"),
        parsed(f'dense<"0x{ones.tobytes().hex()}"> : tensor<{count}xf32>'),
    ):
        assert other == value
        assert hash(other) == hash(value)
    assert parsed(str(value)) == value
    assert np.array_equal(array_of(value), ones)


def test_what_is_no_splat_holds_all() -> None:
    for place in (0, FULL // 2, FULL):
        ones = np.ones(FULL + 1, np.float32)
        ones[place] = 2
        value = dense_of(ones, TensorType(f32, (FULL + 1,)))
        assert value.data.data == ones.tobytes()
        assert element_count(value) == FULL + 1


@pytest.mark.parametrize(
    ("text", "type", "element"),
    [("true", i1, b"\xff"), ("-1", i8, b"\xff"), ("false", i1, b"\0")],
)
def test_bytes(text: str, type: Any, element: bytes) -> None:
    value = parsed(f"dense<{text}> : tensor<99999x{type}>")
    assert value == splat(TensorType(type, (99999,)), element)


def test_none_and_one_element() -> None:
    assert splat(TensorType(f32, (0, 4)), bytes(4)).data.data == b""
    assert splat(TensorType(f32, ()), bytes(4)).data.data == bytes(4)
    few = DenseIntOrFPElementsAttr.from_list(TensorType(f32, (1,)), [1.0])
    assert element_count(few) == 1


def test_programs_compute_the_same() -> None:
    text = """
func.func @main(%x: tensor<300x400xf32>) -> (tensor<300x400xf32>, tensor<300x400xi1>) {
  %c = graph.constant dense<2.5> : tensor<300x400xf32>
  %y = graph.add %x, %c : tensor<300x400xf32>
  %b = graph.constant dense<true> : tensor<300x400xi1>
  func.return %y, %b : tensor<300x400xf32>, tensor<300x400xi1>
}
"""
    module = parse_ir(new_context(), text)
    x = np.arange(120000, dtype=np.float32).reshape(300, 400)
    for results in (
        transom.compile(module)(x).values(),
        interpret(module, {"arg0": x}).values(),
    ):
        y, b = results
        assert np.array_equal(y, x + np.float32(2.5))
        assert b.all()

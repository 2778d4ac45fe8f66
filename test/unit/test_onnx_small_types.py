"""
Elements of 8 bits and less are what `ml_dtypes` makes of them, to the bit.
"""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import node, save

import transom
from transom.dialects.diagnostics import OpError
from transom.frontends.onnx.small_types import SmallType
from transom.frontends.onnx_backend import TransomBackend
from transom.testing import interpret

FLOATS = (
    "FLOAT4E2M1",
    "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ",
    "FLOAT8E5M2",
    "FLOAT8E5M2FNUZ",
)
FINFO: Any = ml_dtypes.finfo  # whose fields have no types
INTEGERS = ("INT2", "INT4", "UINT2", "UINT4")
KINDS = {np.float32: "FLOAT", np.float16: "FLOAT16", np.float64: "DOUBLE"}


def model(
    nodes: list[onnx.NodeProto],
    x: tuple[str, Any],
    y: tuple[str, Any],
    weights: list[onnx.TensorProto] | None = None,
) -> onnx.ModelProto:
    """A model from `x` to `y`, with types by their names in ONNX."""
    infos = [
        helper.make_tensor_value_info(
            name, TensorProto.DataType.Value(kind), list(shape)
        )
        for name, (kind, shape) in (("x", x), ("y", y))
    ]
    graph = helper.make_graph(nodes, "small", infos[:1], infos[1:], weights or [])
    opset = helper.make_opsetid("", 25)
    return helper.make_model(graph, opset_imports=[opset], ir_version=11)


def converted(kind: str, x: Any, **attributes: Any) -> Any:
    """Numbers as elements of a type, by a compiled program."""
    source = KINDS[x.dtype.type]
    cast = node("Cast", "x", "y", to=TensorProto.DataType.Value(kind), **attributes)
    proto = model([cast], (source, x.shape), (kind, x.shape))
    return TransomBackend.prepare(proto).run([x])[0]


def saturated(x: Any, dtype: Any) -> Any:
    """What ONNX says of numbers that are too large, NaN left alone."""
    largest = float(FINFO(dtype).max)
    clipped = x.clip(-largest, largest)  # keeps NaN
    return clipped.astype(x.dtype)


def every(dtype: Any) -> Any:
    """Numbers of all sizes: all of 16 bits, or with neighbours in more bits."""
    halves = np.arange(65536, dtype=np.uint16)
    if dtype == np.float16:
        return halves.view(np.float16)
    values = halves.view(ml_dtypes.bfloat16).astype(np.float32)
    near = np.nextafter(values[::7], np.float32(0))
    return np.concatenate([values, near]).astype(dtype)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("source", KINDS)
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.filterwarnings("ignore:overflow")
def test_codes(kind: str, source: Any) -> None:
    x, dtype = every(source), SmallType(kind).dtype
    found = converted(kind, x)
    # From f32 to the type there is one rounding; f16 and what is here of f64 are f32.
    expected = saturated(x, dtype).astype(np.float32).astype(dtype)
    some = ~np.isnan(x)
    np.testing.assert_array_equal(
        found.view(np.uint8)[some], expected.view(np.uint8)[some]
    )
    if SmallType(kind).nan is not None:
        assert np.isnan(found.astype(np.float32)[~some]).all()


@pytest.mark.parametrize("kind", FLOATS[1:])
def test_too_large(kind: str) -> None:
    dtype = SmallType(kind).dtype
    x = np.array([1e5, -1e5, np.inf, -np.inf, 3], np.float32)
    found = converted(kind, x, saturate=0).astype(np.float32)
    np.testing.assert_array_equal(found, x.astype(dtype).astype(np.float32))
    largest = np.float32(FINFO(dtype).max)
    found = converted(kind, x).astype(np.float32)
    np.testing.assert_array_equal(found[:4], [largest, -largest, largest, -largest])


@pytest.mark.parametrize("kind", [*FLOATS, "FLOAT8E8M0", *INTEGERS])
def test_numbers(kind: str) -> None:
    """Of all codes."""
    small = SmallType(kind)
    codes = np.arange(2**small.bits, dtype=np.uint8)
    if small.is_integer:
        low, high = small.range
        x = np.arange(low, high + 1).astype(np.int32).astype(small.dtype)
    else:
        x = codes.view(small.dtype)
    cast = node("Cast", "x", "y", to=TensorProto.FLOAT)
    proto = model([cast], (kind, x.shape), ("FLOAT", x.shape))
    (found,) = TransomBackend.prepare(proto).run([x])
    np.testing.assert_array_equal(found, x.astype(np.float32))


@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
def test_powers_of_two(round_mode: str) -> None:
    x = np.array([1, 1.5, 1.25, 1.75, 3, 5e-39, 9e-39, 3e38, np.inf], np.float32)
    found = converted("FLOAT8E8M0", x, round_mode=round_mode)
    expected = numpy_helper.to_float8e8m0(x, round_mode=round_mode)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("raw", [True, False])
def test_packed_weights(tmp_path: Path, kind: str, raw: bool) -> None:
    """Several numbers in a byte of the file, an odd number of them."""
    small = SmallType(kind)
    low, high = small.range
    rng = np.random.default_rng(1)
    w = rng.integers(low, high, (3, 5), np.int32, endpoint=True).astype(small.dtype)
    stored = numpy_helper.from_array(w, "w")
    if not raw:
        stored.int32_data.extend(stored.raw_data)
        stored.ClearField("raw_data")
    scale = numpy_helper.from_array(np.array([0.5, 2, 0.25], np.float32), "s")
    nodes = [
        node("DequantizeLinear", "w s", "v", axis=0),
        node("Add", "x v", "y"),
    ]
    proto = model(nodes, ("FLOAT", (3, 5)), ("FLOAT", (3, 5)), [stored, scale])
    x = np.ones((3, 5), np.float32)
    expected = 1 + w.astype(np.float32) * [[0.5], [2], [0.25]]
    (found,) = TransomBackend.prepare(proto).run([x])
    np.testing.assert_array_equal(found, expected)
    module = transom.load(save(tmp_path, proto))
    (found,) = interpret(module, {"x": x}, base=tmp_path).values()
    np.testing.assert_array_equal(found, expected)


def test_borders(tmp_path: Path) -> None:
    """Arguments and results of main say what their bytes are."""
    cast = node("Cast", "x", "y", to=TensorProto.INT4)
    path = save(tmp_path, model([cast], ("FLOAT8E5M2", (4,)), ("INT4", (4,))))
    text = str(transom.load(path))
    assert '%x: tensor<4xui8> {graph.name = "x", graph.element = "float8_e5m2"}' in text
    assert 'tensor<4xi8> {graph.name = "y", graph.element = "int4"}' in text


def test_no_arithmetic(tmp_path: Path) -> None:
    proto = model([node("Add", "x x", "y")], ("INT4", (4,)), ("INT4", (4,)))
    with pytest.raises(OpError) as caught:
        transom.load(save(tmp_path, proto))
    assert caught.value.notes[0].message == (
        "'Add' x1 (elements of type INT4 are not supported): 'y'"
    )

"""
Quantised numbers, and arithmetic on them, are what onnxruntime makes of them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_cases import RNG, check, floats
from onnx_models import KINDS, model, node, save, value

import transom
from transom.dialects.diagnostics import OpError
from transom.testing import interpret

INTEGERS = [np.uint8, np.int8, np.uint16, np.int16]


def numbers(type: Any, *shape: int) -> Any:
    info = np.iinfo(type)
    return RNG.integers(info.min, info.max, shape, type, endpoint=True)


def factors(type: Any, *shape: int) -> Any:
    """
    Right sides of products, of 7 bits: on CPUs without an instruction for sums of
    products, onnxruntime takes those of an unsigned and a signed byte in 16 bits, where
    pairs of larger ones saturate.
    """
    low, high = (-64, 63) if type == np.int8 else (0, 127)
    return RNG.integers(low, high, shape, type, endpoint=True)


def scales(*shape: int) -> Any:
    return RNG.uniform(0.01, 0.1, shape).astype(np.float32)


@pytest.mark.parametrize("type", INTEGERS)
def test_quantize(tmp_path: Path, type: Any):
    """Halves go to the even number, what is too large to the largest."""
    x = np.concatenate([np.arange(-20, 20) * np.float32(0.25), [1e9, -1e9, 1e30]])
    weights = {"s": np.array(0.5, np.float32), "z": np.array(3, type)}
    inputs = {"x": x.astype(np.float32)}
    check(tmp_path, [node("QuantizeLinear", "x s z")], inputs, weights, opset=21)


@pytest.mark.parametrize("type", INTEGERS)
def test_along_an_axis(tmp_path: Path, type: Any):
    for axis, size in ((1, 4), (0, 3), (-1, 5)):
        weights = {"s": scales(size), "z": numbers(type, size)}
        for inputs in ("x s z", "x s"):
            nodes = [
                node("QuantizeLinear", inputs, "q", axis=axis),
                node("DequantizeLinear", "q" + inputs[1:], "y", axis=axis),
            ]
            x = {"x": floats(3, 4, 5) * 10}
            check(tmp_path, nodes, x, weights, outputs=["q", "y"], opset=21)


def test_in_blocks(tmp_path: Path):
    weights = {"s": scales(2, 3, 2), "z": numbers(np.int8, 2, 3, 2)}
    attributes: dict[str, Any] = {"axis": 1, "block_size": 2}
    nodes = [
        node("QuantizeLinear", "x s z", "q", **attributes),
        node("DequantizeLinear", "q s z", "y", **attributes),
    ]
    inputs = {"x": floats(2, 6, 2) * 4}
    check(tmp_path, nodes, inputs, weights, outputs=["q", "y"], opset=21)
    inputs = {"x": floats(2, 5, 2) * 4}  # the last block is cut
    check(tmp_path, nodes, inputs, weights, outputs=["q", "y"], opset=21)


def test_types_of_results(tmp_path: Path):
    weights: dict[str, Any] = {"s": np.array(0.5, np.float32)}
    quantize = node("QuantizeLinear", "x s", output_dtype=KINDS["i16"])
    check(tmp_path, [quantize], {"x": floats(3, 4) * 100}, weights, opset=21)
    x = numbers(np.int32, 3, 4)
    check(tmp_path, [node("DequantizeLinear", "x s")], {"x": x}, weights)
    weights["z"] = np.array(0, np.int32)
    check(tmp_path, [node("DequantizeLinear", "x s z")], {"x": x}, weights)


def test_dynamic_quantization(tmp_path: Path):
    for x in (floats(3, 4), np.abs(floats(3, 4)) + 1, -np.abs(floats(3, 4))):
        quantize = node("DynamicQuantizeLinear", "x", "y s z")
        check(tmp_path, [quantize], {"x": x}, outputs=["y", "s", "z"])


@pytest.mark.parametrize("left", [np.uint8, np.int8])
@pytest.mark.parametrize("right", [np.uint8, np.int8])
def test_matmul_integer(tmp_path: Path, left: Any, right: Any):
    inputs = {"a": numbers(left, 2, 3, 5), "b": factors(right, 5, 4)}
    zeros = {"za": numbers(left, 1)[0], "zb": numbers(right, 4)}
    for names in ("a b", "a b za", "a b _ zb", "a b za zb"):
        product = node("MatMulInteger", names)
        if left == np.int8 and right == np.uint8:
            continue  # which onnxruntime lacks
        check(tmp_path, [product], inputs, zeros)


def test_products_of_vectors(tmp_path: Path):
    for a, b in (((5,), (5, 4)), ((3, 5), (5,)), ((5,), (5,))):
        inputs = {"a": numbers(np.uint8, *a), "b": numbers(np.uint8, *b)}
        zeros = {"za": np.array(7, np.uint8), "zb": np.array(9, np.uint8)}
        infos = [value(name, array.shape, "ui8") for name, array in inputs.items()]
        proto = model([node("MatMulInteger", "a b za zb")], infos, weights=zeros)
        module = transom.load(save(tmp_path, proto))
        (found,) = interpret(module, inputs).values()
        wide = {name: array.astype(np.int32) for name, array in inputs.items()}
        np.testing.assert_array_equal(found, (wide["a"] - 7) @ (wide["b"] - 9))


@pytest.mark.parametrize("type", [np.uint8, np.int8])
def test_qlinear_matmul(tmp_path: Path, type: Any):
    inputs = {"a": numbers(type, 2, 3, 5)}
    for many in (False, True):
        weights = {
            "sa": scales(),
            "za": numbers(type, 1)[0],
            "b": factors(np.int8, 5, 4),
            "sb": scales(4) if many else scales(),
            "zb": np.zeros(4, np.int8) if many else np.array(0, np.int8),
            "sy": np.array(0.7, np.float32),
            "zy": np.array(5, type),
        }
        product = node("QLinearMatMul", "a sa za b sb zb sy zy")
        check(tmp_path, [product], inputs, weights)


CONVOLUTIONS: list[dict[str, Any]] = [
    {},
    {"pads": [1, 2, 0, 1], "strides": [2, 1]},
    {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"dilations": [2, 2]},
    {"group": 2, "pads": [1, 1, 1, 1]},
]


@pytest.mark.parametrize("attributes", CONVOLUTIONS)
def test_conv_integer(tmp_path: Path, attributes: dict[str, Any]):
    channels = 4 // attributes.get("group", 1)
    inputs = {
        "x": numbers(np.uint8, 2, 4, 6, 7),
        "w": numbers(np.uint8, 8, channels, 3, 2),
    }
    zeros = {"zx": np.array(130, np.uint8), "zw": np.array(90, np.uint8)}
    for names in ("x w", "x w zx", "x w zx zw", "x w _ zw"):
        check(tmp_path, [node("ConvInteger", names, **attributes)], inputs, zeros)
    inputs["zx"] = zeros.pop("zx")  # that is only known when the model runs
    for names in ("x w zx", "x w zx zw"):
        check(tmp_path, [node("ConvInteger", names, **attributes)], inputs, zeros)


@pytest.mark.parametrize("attributes", CONVOLUTIONS)
def test_qlinear_conv(tmp_path: Path, attributes: dict[str, Any]):
    channels = 4 // attributes.get("group", 1)
    inputs = {"x": numbers(np.uint8, 2, 4, 6, 7)}
    for many in (False, True):
        weights = {
            "sx": scales(),
            "zx": np.array(111, np.uint8),
            "w": factors(np.int8, 8, channels, 3, 2),
            "sw": scales(8) if many else scales(),
            "zw": np.zeros(8, np.int8) if many else np.array(0, np.int8),
            "sy": np.array(0.9, np.float32),
            "zy": np.array(100, np.uint8),
            "b": RNG.integers(-9999, 9999, 8).astype(np.int32),
        }
        for names in ("x sx zx w sw zw sy zy", "x sx zx w sw zw sy zy b"):
            check(tmp_path, [node("QLinearConv", names, **attributes)], inputs, weights)


def test_qlinear_conv_of_a_line(tmp_path: Path):
    weights = {
        "s": scales(),
        "z": np.array(3, np.uint8),
        "w": numbers(np.uint8, 2, 4, 3),
    }
    conv = node("QLinearConv", "x s z w s z s z", pads=[1, 1])
    check(tmp_path, [conv], {"x": numbers(np.uint8, 2, 4, 9)}, weights)


# Refusals


def refused(
    folder: Path,
    one: onnx.NodeProto,
    shapes: dict[str, Any],
    weights: dict[str, Any],
    kind: str = "f32",
) -> str:
    infos = [value(name, shape, kind) for name, shape in shapes.items()]
    with pytest.raises(OpError) as caught:
        transom.load(save(folder, model([one], infos, weights=weights, opset=23)))
    return caught.value.notes[0].message


def test_refusals(tmp_path: Path):
    x: dict[str, Any] = {"x": [2, 6]}
    many = {"s": scales(2, 3), "i": np.array(1, np.int32)}
    assert refused(tmp_path, node("QuantizeLinear", "x s"), x, many) == (
        "'QuantizeLinear' x1 (expected a scale or a row of them, but got the shape "
        "[2, 3]): 'y'"
    )
    blocks = node("QuantizeLinear", "x s", block_size=4)
    assert refused(tmp_path, blocks, x, many) == (
        "'QuantizeLinear' x1 (expected scales of blocks of 4 along axis 1 of [2, 6], "
        "but got the shape [2, 3]): 'y'"
    )
    blocks = node("QuantizeLinear", "x s", block_size=-1)
    assert refused(tmp_path, blocks, x, many) == (
        "'QuantizeLinear' x1 (expected 'block_size' of 0 and more, not -1): 'y'"
    )
    assert refused(tmp_path, node("QuantizeLinear", "x i"), x, many) == (
        "'QuantizeLinear' x1 (expected a scale of floats, but got 'i32'): 'y'"
    )
    one = {"s": scales(), "z": np.zeros(1, np.float32)}
    assert refused(tmp_path, node("QuantizeLinear", "x s z"), x, one) == (
        "'QuantizeLinear' x1 (expected a result of integers, but got 'f32'): 'y'"
    )
    small = node("QuantizeLinear", "x s", output_dtype=onnx.TensorProto.STRING)
    assert refused(tmp_path, small, x, one) == (
        "'QuantizeLinear' x1 (elements of type STRING are not supported): 'y'"
    )


def test_refusals_of_integer_arithmetic(tmp_path: Path):
    x: dict[str, Any] = {"x": [2, 6]}
    weights = {"w": numbers(np.uint8, 6, 3)}
    assert refused(tmp_path, node("MatMulInteger", "x w"), x, weights) == (
        "'MatMulInteger' x1 (expected bytes, but got 'f32'): 'y'"
    )
    weights = {"w": numbers(np.uint8, 3, 2, 3), "z": np.array([1, 2], np.uint8)}
    conv = node("ConvInteger", "x w z")
    assert refused(tmp_path, conv, {"x": [1, 2, 6]}, weights, "ui8") == (
        "'ConvInteger' x1 (expected one zero point of the input): 'y'"
    )

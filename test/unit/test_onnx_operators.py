"""
Each operator, in the forms that it had over the opsets, computes what onnxruntime does.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_cases import RNG, M, X, check, floats, ints
from onnx_models import KINDS, node

Case = tuple[onnx.NodeProto, dict[str, Any], dict[str, Any]]
"""A node, its inputs and its weights."""


@pytest.mark.parametrize(
    "kind",
    [
        "Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSigmoid", "Identity",
        "LeakyRelu", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin",
        "Tanh",
    ],
)  # fmt: skip
def test_element_wise(tmp_path: Path, kind: str):
    check(tmp_path, [node(kind, "x")], X)


@pytest.mark.parametrize("kind", ["Log", "Sqrt"])
def test_element_wise_on_positive_numbers(tmp_path: Path, kind: str):
    check(tmp_path, [node(kind, "x")], {"x": np.abs(X["x"])})


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"])
def test_broadcasting(tmp_path: Path, kind: str):
    check(tmp_path, [node(kind, "x a")], X, {"a": floats(3, 1, 7)})
    check(tmp_path, [node(kind, "x a")], X, {"a": np.float32(1.5)})


@pytest.mark.parametrize("kind", ["Sum", "Mean", "Max", "Min"])
def test_any_number_of_inputs(tmp_path: Path, kind: str):
    inputs = {name: floats(2, 3) for name in "abc"}
    check(tmp_path, [node(kind, "a b c")], inputs)
    check(tmp_path, [node(kind, "a")], {"a": floats(2, 3)})


@pytest.mark.parametrize(
    "kind", ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]
)
def test_comparisons(tmp_path: Path, kind: str):
    inputs = {name: RNG.integers(0, 3, (3, 4)).astype(np.float32) for name in "ab"}
    nodes = [node(kind, "a b", "c"), node("Not", "c", "d"), node("Xor", "c d", "y")]
    check(tmp_path, [*nodes, node("Where", "c a b", "z")], inputs, outputs=["y", "z"])


def test_integers(tmp_path: Path):
    inputs = {"a": ints(-7, 7, 9), "b": ints(2, -2, 4)}
    for kind in ("Add", "Mul", "Div", "Mod"):
        check(tmp_path, [node(kind, "a b")], inputs)
    check(tmp_path, [node("Mod", "x a", fmod=1)], M, {"a": floats(6)})


def test_powers(tmp_path: Path):
    x = {"x": np.abs(M["x"])}
    check(tmp_path, [node("Pow", "x a")], x, {"a": np.float32(2.5)})
    check(tmp_path, [node("Pow", "x a")], x, {"a": ints(3)})


@pytest.mark.parametrize("kind", ["f16", "f64", "i32", "i64", "i1", "ui8"])
def test_casts(tmp_path: Path, kind: str):
    check(tmp_path, [node("Cast", "x", to=KINDS[kind])], {"x": floats(3, 4) * 0.4 + 1})


def test_clip(tmp_path: Path):
    check(tmp_path, [node("Clip", "x", min=-0.5, max=0.5)], X, opset=6)
    check(tmp_path, [node("Clip", "x", max=0.5)], X, opset=10)
    bounds = {"low": np.float32(-0.5), "high": np.float32(0.5)}
    for inputs in ("x low high", "x low", "x _ high", "x"):
        check(tmp_path, [node("Clip", inputs)], X, bounds, opset=11)


def test_dropout(tmp_path: Path):
    check(tmp_path, [node("Dropout", "x", "y", ratio=0.3)], X, opset=9)
    check(tmp_path, [node("Dropout", "x", "y unread", ratio=0.3)], X, opset=9)
    both = ["y", "mask"]
    check(tmp_path, [node("Dropout", "x", "y mask")], X, outputs=both, opset=13)


CONVOLUTIONS = [
    {},
    {"pads": [1, 2, 0, 1], "strides": [2, 1], "dilations": [1, 2]},
    {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"auto_pad": "SAME_LOWER", "strides": [1, 3]},
    {"auto_pad": "VALID", "kernel_shape": [3, 2]},
]


@pytest.mark.parametrize("attributes", CONVOLUTIONS)
def test_conv(tmp_path: Path, attributes: dict[str, Any]):
    inputs, weights = {"x": floats(2, 4, 8, 9)}, {"w": floats(6, 4, 3, 2)}
    check(tmp_path, [node("Conv", "x w", **attributes)], inputs, weights)


def test_conv_with_groups_and_bias(tmp_path: Path):
    inputs = {"x": floats(2, 4, 8, 9)}
    weights = {"w": floats(6, 2, 3, 3), "b": floats(6)}
    check(tmp_path, [node("Conv", "x w b", group=2)], inputs, weights)


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"pads": [1, 0, 1, 1], "strides": [2, 2]},
        {"strides": [2, 3], "ceil_mode": 1},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 1]},
        {"auto_pad": "VALID", "strides": [2, 1]},
    ],
)
def test_pools(tmp_path: Path, kind: str, attributes: dict[str, Any]):
    pool = node(kind, "x", kernel_shape=[3, 2], **attributes)
    check(tmp_path, [pool], {"x": floats(1, 2, 8, 9)})


def test_more_of_pools(tmp_path: Path):
    inputs = {"x": floats(2, 2, 6, 6)}
    pool = node("MaxPool", "x", "y i", kernel_shape=[2, 2], strides=[2, 2])
    check(tmp_path, [pool], inputs, outputs=["y", "i"])
    pool = node("MaxPool", "x", kernel_shape=[2, 2], dilations=[2, 2])
    check(tmp_path, [pool], inputs)
    options: dict[str, Any] = {
        "kernel_shape": [3, 3],
        "pads": [1, 1, 1, 1],
        "count_include_pad": 1,
    }
    check(tmp_path, [node("AveragePool", "x", **options)], inputs)
    for kind in ("GlobalAveragePool", "GlobalMaxPool"):
        check(tmp_path, [node(kind, "x")], inputs)


def test_batch_norm(tmp_path: Path):
    weights = {"s": floats(3), "b": floats(3), "m": floats(3), "v": np.abs(floats(3))}
    norm = node("BatchNormalization", "x s b m v", epsilon=0.1, momentum=0.5)
    for opset in (7, 9, 15):
        check(tmp_path, [norm], X, weights, opset=opset)


@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax"])
def test_softmax(tmp_path: Path, kind: str):
    for opset, axis in ((12, 1), (12, 2), (12, 0), (12, 3), (13, 1), (13, -2)):
        check(tmp_path, [node(kind, "x", axis=axis)], X, opset=opset)
    for opset in (12, 13):
        check(tmp_path, [node(kind, "x")], X, opset=opset)
    for axis in (0, 1):
        shapes = {"x": ["N", 3, 5, 7]}
        check(tmp_path, [node(kind, "x", axis=axis)], X, opset=11, shapes=shapes)


@pytest.mark.parametrize(
    ("attributes", "a", "b"),
    [
        ({}, (4, 6), (6, 5)),
        ({"transA": 1}, (6, 4), (6, 5)),
        ({"transB": 1, "alpha": 0.5, "beta": 2.0}, (4, 6), (5, 6)),
    ],
)
def test_gemm(
    tmp_path: Path, attributes: dict[str, Any], a: tuple[int, int], b: tuple[int, int]
):
    for c in ((5,), (4, 5), (4, 1), ()):
        weights = {"b": floats(*b), "c": np.asarray(floats(*c))}
        gemm = node("Gemm", "a b c", **attributes)
        check(tmp_path, [gemm], {"a": floats(*a)}, weights)
    gemm = node("Gemm", "a b", **attributes)
    check(tmp_path, [gemm], {"a": floats(*a)}, {"b": floats(*b)})


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((4, 6), (6, 5)),
        ((2, 1, 4, 6), (3, 6, 5)),
        ((6,), (6, 5)),
        ((4, 6), (6,)),
        ((6,), (6,)),
        ((2, 4, 6), (6,)),
        ((6,), (3, 6, 5)),
    ],
)
def test_matmul(tmp_path: Path, a: tuple[int, ...], b: tuple[int, ...]):
    check(tmp_path, [node("MatMul", "a b")], {"a": floats(*a)}, {"b": floats(*b)})


@pytest.mark.parametrize(
    ("kind", "since"),
    [
        ("ReduceSum", 13),
        ("ReduceMean", 18),
        ("ReduceMax", 18),
        ("ReduceMin", 18),
        ("ReduceProd", 18),
    ],
)
def test_reductions(tmp_path: Path, kind: str, since: int):
    for keepdims in (0, 1):
        before = node(kind, "x", axes=[1, -1], keepdims=keepdims)
        check(tmp_path, [before], X, opset=since - 1)
        after = node(kind, "x a", keepdims=keepdims)
        check(tmp_path, [after], X, {"a": ints(1, -1)}, opset=since)
        for opset in (since - 1, since):
            check(tmp_path, [node(kind, "x", keepdims=keepdims)], X, opset=opset)
    for axes, is_empty in (("x", 1), ("x a", 0), ("x a", 1)):
        reduction = node(kind, axes, noop_with_empty_axes=is_empty)
        check(tmp_path, [reduction], X, {"a": ints(2)}, opset=since)


def test_along_an_axis(tmp_path: Path):
    for kind in ("ArgMax", "ArgMin"):
        check(tmp_path, [node(kind, "x", axis=-1, keepdims=0)], X)
        check(tmp_path, [node(kind, "x", axis=1, select_last_index=0)], X)
    for exclusive, reverse in ((0, 0), (1, 0), (0, 1), (1, 1)):
        cumsum = node("CumSum", "x a", exclusive=exclusive, reverse=reverse)
        check(tmp_path, [cumsum], X, {"a": ints(-1)[0]})


MOVEMENTS: dict[str, Case] = {
    "reshape": (node("Reshape", "x s"), X, {"s": ints(0, -1, 7)}),
    "flatten": (node("Flatten", "x"), X, {}),
    "flatten 0": (node("Flatten", "x", axis=0), X, {}),
    "flatten -1": (node("Flatten", "x", axis=-1), X, {}),
    "flatten 4": (node("Flatten", "x", axis=4), X, {}),
    "transpose": (node("Transpose", "x", perm=[0, 2, 3, 1]), X, {}),
    "reverse": (node("Transpose", "x"), X, {}),
    "concat": (node("Concat", "x a", axis=-3), X, {"a": floats(2, 4, 5, 7)}),
    "expand": (node("Expand", "x s"), {"x": floats(3, 1)}, {"s": ints(2, 1, 4)}),
    "gather": (node("Gather", "x i", axis=1), X, {"i": ints(2, -1, 0)}),
    "gather one": (node("Gather", "x i"), X, {"i": ints(1)[0]}),
    "pad": (node("Pad", "x p v"), M, {"p": ints(1, 0, 0, 2), "v": np.float32(1)}),
    "pad zero": (node("Pad", "x p"), M, {"p": ints(1, 0, 0, 2)}),
    "scatter": (
        node("ScatterElements", "x i u", axis=1),
        M,
        {"i": ints(5, 0, 1, -2).reshape(2, 2), "u": floats(2, 2)},
    ),
    "scatter add": (
        node("ScatterElements", "x i u", reduction="add"),
        M,
        {"i": ints(1, 1, 0, 2).reshape(2, 2), "u": floats(2, 2)},
    ),
    "slice": (
        node("Slice", "x b e a s"),
        X,
        {"b": ints(-1, 1), "e": ints(-9, 99), "a": ints(-1, 1), "s": ints(-2, 1)},
    ),
    "slice to the first": (
        node("Slice", "x b e a s"),
        X,
        {"b": ints(-1), "e": ints(-(2**63)), "a": ints(3), "s": ints(-1)},
    ),
    "slice of nothing": (
        node("Slice", "x b e a"),
        X,
        {"b": ints(4), "e": ints(2), "a": ints(2)},
    ),
    "slice of leading": (node("Slice", "x b e"), X, {"b": ints(1), "e": ints(2)}),
    "split": (node("Split", "x p", "y z", axis=3), X, {"p": ints(3, 4)}),
    "split equally": (node("Split", "x", "y z", axis=1), M, {}),
    "constant of shape": (
        node("ConstantOfShape", "s", value=onnx.helper.make_tensor("v", 7, [1], [3])),
        {},
        {"s": ints(2, 3)},
    ),
    "large constant": (node("ConstantOfShape", "s"), {}, {"s": ints(40, 40)}),
}


@pytest.mark.parametrize("case", MOVEMENTS.values(), ids=MOVEMENTS)
def test_movement(tmp_path: Path, case: Case):
    one, inputs, weights = case
    check(tmp_path, [one], inputs, weights, outputs=list(one.output))


def test_movement_before_inputs(tmp_path: Path):
    """What are inputs now were attributes once."""
    inputs = {"x": floats(1, 3, 1, 4)}
    for old, new, weights in (
        (node("Squeeze", "x", axes=[0, -2]), "Squeeze", {"a": ints(0, -2)}),
        (node("Unsqueeze", "x", axes=[0, 3]), "Unsqueeze", {"a": ints(0, 3)}),
    ):
        check(tmp_path, [old], inputs, opset=12)
        check(tmp_path, [node(new, "x a")], inputs, weights, opset=13)
    for opset in (12, 13):
        check(tmp_path, [node("Squeeze", "x")], inputs, opset=opset)
    cut = node("Slice", "x", starts=[1, 0], ends=[3, -1], axes=[1, 3])
    check(tmp_path, [cut], inputs, opset=9)
    padded = node("Pad", "x", pads=[0, 1, 0, 0, 0, 0, 2, 0], value=2.0)
    check(tmp_path, [padded], inputs, opset=10)
    parts = node("Split", "x", "y z", axis=3, split=[1, 3])
    check(tmp_path, [parts], inputs, outputs=["y", "z"], opset=11)
    parts = node("Split", "x", "a b c", axis=3, num_outputs=3)
    check(tmp_path, [parts], inputs, outputs=["a", "b", "c"], opset=18)
    axes = {"p": ints(1, 2), "a": ints(-1)}
    check(tmp_path, [node("Pad", "x p _ a")], inputs, axes, opset=18)


def test_constants(tmp_path: Path):
    tensor = onnx.numpy_helper.from_array(floats(2, 3), "t")
    check(tmp_path, [node("Constant", "", value=tensor)], {})
    check(tmp_path, [node("Constant", "", value_floats=[1.0, 2.0])], {})
    check(tmp_path, [node("Constant", "", value_ints=[3, 4])], {})
    check(tmp_path, [node("Constant", "", value_float=1.5)], {})
    check(tmp_path, [node("Constant", "", value_int=7)], {})
